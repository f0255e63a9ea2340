import { readFileSync } from 'node:fs';

import { assetPath } from '../assets';
import type { CdnVideo } from '../video/cdnVideo';
import { EMULATED_MODELS } from '../video/models';
import { drawVideo } from './drawVideo';

/** Number of drawn files to keep: some megabytes. */
const MAX_KEPT_FILES = 100;

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

/**
 * Playable MP4 file that moves and shows its words, drawn at the first request; undefined for an aspect ratio that no model
 * has.
 */
export async function videoFile(video: Omit<CdnVideo, 'taskId'>): Promise<Buffer | undefined> {
	const { size, aspectRatio, seconds, words } = video;
	if (!RATIOS.has(aspectRatio)) return undefined;
	const key = [size, aspectRatio, seconds, words].join(' ');
	const file = kept.get(key) ?? drawVideo({ ...pixelsOf(size, aspectRatio), seconds, words });
	kept.set(key, file);
	const [oldest] = kept.keys();
	if (kept.size > MAX_KEPT_FILES) kept.delete(oldest!);
	return await file;
}

/** Small JPEG image. */
export function imageFile(): Buffer {
	return readFileSync(assetPath('media', 'thumbnail.jpg'));
}
