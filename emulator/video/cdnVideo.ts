import type { VideoSize } from './models';

/** What an address on the CDN says about its video: the file is made from the address alone. */
export interface CdnVideo {
	readonly taskId: string;
	readonly size: VideoSize;
	readonly aspectRatio: string;
	readonly seconds: number;
}

const FORM = /^\/cdn\/videos\/([\w-]+)_(480P|720P|1080P)_(\d+)x(\d+)_([1-9]\d?)s\.mp4$/;

/** The CDN path of a finished video. Long-lived (spec 2.10): it outlives a restart. */
export function cdnVideoPath({ taskId, size, aspectRatio, seconds }: CdnVideo): string {
	return `/cdn/videos/${taskId}_${size}_${aspectRatio.replace(':', 'x')}_${seconds}s.mp4`;
}

/** Reads a CDN path back; undefined for any other path. */
export function parseCdnVideo(path: string): CdnVideo | undefined {
	const match = FORM.exec(path);
	if (!match) return undefined;
	const [, taskId, size, width, height, seconds] = match;
	return {
		taskId: taskId!,
		size: size as VideoSize,
		aspectRatio: `${width}:${height}`,
		seconds: Number(seconds),
	};
}
