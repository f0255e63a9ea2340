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
	/** Codec of the sound track, if it has one. */
	readonly sound?: string;
}

/** What ffprobe prints of a track, or of a packet of one. */
type Printed = Pick<Probed, 'width' | 'height'> &
	Readonly<Record<'codec_type' | 'codec_name' | 'pts_time' | 'duration_time', string>>;

const run = promisify(execFile);

/** Runs ffprobe on a file and returns its JSON output. */
async function runProbe(
	file: Buffer,
	argsFor: (path: string) => readonly string[],
): Promise<unknown> {
	const folder = await mkdtemp(join(tmpdir(), 'probe-'));
	try {
		// The package sets the execute bit in an install script, which does not run here.
		await chmod(ffprobe, 0o755);
		const path = join(folder, 'file');
		await writeFile(path, file);
		const { stdout } = await run(ffprobe, ['-v', 'error', '-of', 'json', ...argsFor(path)]);
		return JSON.parse(stdout) as unknown;
	} finally {
		await rm(folder, { recursive: true });
	}
}

/** Reads the properties of a video file with ffprobe; fails for other files. */
export async function probe(file: Buffer): Promise<Probed> {
	const sections = ['-show_streams', '-show_format', '-show_packets'];
	const { streams, format, packets } = (await runProbe(file, (path) => [...sections, path])) as {
		readonly streams: readonly Printed[];
		readonly packets: readonly Printed[];
		readonly format: { readonly duration: string };
	};
	const isVideo = ({ codec_type }: Printed) => codec_type === 'video';
	const { codec_name: codec, width, height } = streams.find(isVideo)!;
	const sound = streams.find((each) => each.codec_type === 'audio')?.codec_name;
	const last = packets.findLast(isVideo)!;
	const shownSeconds = Number(last.pts_time) + Number(last.duration_time);
	return {
		...{ codec, width, height, seconds: Number(format.duration), shownSeconds },
		...(sound !== undefined && { sound }),
	};
}

/** Parts of the picture, from the top, as shares of its height. */
const PARTS = {
	references: [0.335, 0.04],
	watermark: [0.95, 0.04],
} as const;

/** The brightness (0 to 255) of the brightest point in a part of the picture. */
export async function brightestOf(part: keyof typeof PARTS, file: Buffer): Promise<number> {
	const [top, height] = PARTS[part];
	const name = 'lavfi.signalstats.YMAX';
	const { frames } = (await runProbe(file, (path) => [
		...['-f', 'lavfi', '-i', `movie=${path},crop=iw:ih*${height}:0:ih*${top},signalstats`],
		...['-show_entries', `frame_tags=${name}`],
	])) as { readonly frames: readonly { readonly tags: Readonly<Record<string, string>> }[] };
	return Math.max(...frames.map(({ tags }) => Number(tags[name])));
}
