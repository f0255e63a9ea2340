import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { promisify } from 'node:util';

import { path as ffprobe } from '@ffprobe-installer/ffprobe';

/** Properties of a video file, read from the file itself. */
export interface VideoFacts {
	readonly codec: string;
	/** Pixels. */
	readonly width: number;
	readonly height: number;
	/** Duration, rounded to milliseconds. */
	readonly seconds: number;
}

/**
 * Reads a video file with ffprobe.
 *
 * @throws Error if it is not a valid video.
 */
export async function probeVideo(file: string): Promise<VideoFacts> {
	// The package sets this in its install script, but this project runs no install scripts.
	await chmod(ffprobe, 0o755);
	const args = ['-v', 'error', '-select_streams', 'v:0', '-of', 'json'];
	const entries = ['-show_entries', 'stream=codec_name,width,height:format=duration'];
	const { stdout, stderr } = await promisify(execFile)(ffprobe, [...args, ...entries, file]);
	const { streams, format } = JSON.parse(stdout) as {
		streams: { codec_name: string; width: number; height: number }[];
		format: { duration: string };
	};
	const stream = streams[0];
	if (stream === undefined || stderr !== '')
		throw new Error(`${file} is not a valid video: ${stderr}`);
	const { codec_name: codec, width, height } = stream;
	return { codec, width, height, seconds: Number(Number(format.duration).toFixed(3)) };
}
