import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { assetPath } from '../assets';
import type { CdnVideo } from '../video/cdnVideo';
import { EMULATED_MODELS } from '../video/models';
import { pick } from '../random';
import { drawVideo, SOUNDS, type Drawing } from './drawVideo';

/** Number of drawn files to keep in memory: some megabytes. */
const MAX_KEPT_FILES = 100;

/** Drawn files are kept for later runs, each in one of these slots: at most some ten megabytes. */
const SLOTS = 512;
const FOLDER = join(
	process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'),
	'agent-video-emulator',
);
/** What draws: the files of this folder, or the bundle. Other code may draw other pictures. */
let code: string | undefined;
const drawingCode = () =>
	(code ??= hash(
		...readdirSync(__dirname)
			.filter((name) => /\.(?:[jt]s|json)$/.test(name))
			.map((name) => readFileSync(join(__dirname, name))),
	).toString('hex'));

const RATIOS: ReadonlySet<string> = new Set(EMULATED_MODELS.flatMap(({ ratios }) => ratios));

/** Drawn files by their properties, oldest first. */
const kept = new Map<string, Promise<Buffer>>();

/** Width and height in pixels: the size is that of the shorter side; video codecs need even numbers. */
function pixelsOf(size: string, aspectRatio: string): { width: number; height: number } {
	const [across, down] = aspectRatio.split(':').map(Number) as [number, number];
	const unit = Number.parseInt(size) / Math.min(across, down);
	const [width, height] = [across, down].map((side) => 2 * Math.ceil((side * unit) / 2));
	return { width: width!, height: height! };
}

const hash = (...parts: readonly (string | Buffer)[]): Buffer =>
	parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest();

/** Draws a video, unless its slot on the disk has it: the file, and behind it a hash of it and of what was to be drawn. */
async function drawOnce(key: string, drawing: Drawing): Promise<Buffer> {
	const slot = join(FOLDER, String(hash(key).readUInt32BE(0) % SLOTS));
	const stored = await readFile(slot).catch(() => Buffer.alloc(0));
	const end = Math.max(stored.length - hash().length, 0);
	const found = stored.subarray(0, end);
	if (hash(key, found).equals(stored.subarray(end))) return found;

	const file = await drawVideo(drawing);
	const whole = `${slot}.${randomUUID()}`;
	await mkdir(FOLDER, { recursive: true, mode: 0o700 })
		.then(() => writeFile(whole, Buffer.concat([file, hash(key, file)])))
		.then(() => rename(whole, slot))
		// Where nothing can be stored, each run draws its own files.
		.catch(() => undefined);
	return file;
}

/**
 * Playable MP4 file that moves and shows its words, drawn at the first request; undefined for an aspect ratio that no model
 * has.
 */
export async function videoFile(video: Omit<CdnVideo, 'taskId'>): Promise<Buffer | undefined> {
	const { size, aspectRatio, seconds, words, sound, watermark, frames, references } = video;
	if (!RATIOS.has(aspectRatio)) return undefined;
	const drawing: Drawing = {
		...{ ...pixelsOf(size, aspectRatio), seconds, words },
		...{ watermark: watermark ?? false, frames: frames ?? [], references: references ?? [] },
		...(sound && { sound: pick(SOUNDS, words) }),
	};
	const key = JSON.stringify([drawingCode(), drawing]);
	const file = kept.get(key) ?? drawOnce(key, drawing);
	kept.set(key, file);
	const [oldest] = kept.keys();
	if (kept.size > MAX_KEPT_FILES) kept.delete(oldest!);
	return await file;
}

/** Small JPEG image. */
export function imageFile(): Buffer {
	return readFileSync(assetPath('media', 'thumbnail.jpg'));
}
