import { path as ffprobe } from '@ffprobe-installer/ffprobe';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Properties of a video file. */
export interface Probed {
	readonly codec: string;
	readonly width: number;
	readonly height: number;
	readonly seconds: number;
	/** End of the last frame. */
	readonly shownSeconds: number;
}

/** Output of ffprobe. */
interface ProbeOutput {
	readonly streams: readonly [{ codec_name: string; width: number; height: number }];
	readonly format: { readonly duration: string };
	readonly packets: readonly { readonly pts_time: string; readonly duration_time: string }[];
}

const run = promisify(execFile);

/** Reads the properties of a video file with ffprobe; fails for other files. */
export async function probe(file: Buffer): Promise<Probed> {
	const folder = await mkdtemp(join(tmpdir(), 'probe-'));
	try {
		// The package sets the execute bit in an install script, which does not run here.
		await chmod(ffprobe, 0o755);
		await writeFile(join(folder, 'file'), file);
		const { stdout } = await run(ffprobe, [
			...['-v', 'error', '-of', 'json', '-show_streams', '-show_format', '-show_packets'],
			join(folder, 'file'),
		]);
		const { streams, format, packets } = JSON.parse(stdout) as ProbeOutput;
		const [{ codec_name: codec, width, height }] = streams;
		const last = packets.at(-1)!;
		const shownSeconds = Number(last.pts_time) + Number(last.duration_time);
		return { codec, width, height, seconds: Number(format.duration), shownSeconds };
	} finally {
		await rm(folder, { recursive: true });
	}
}
