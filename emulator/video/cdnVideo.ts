import type { VideoSize } from './models';

/** Properties of a video encoded in its CDN path, so that the file can be generated from the path alone. */
export interface CdnVideo {
	readonly taskId: string;
	readonly size: VideoSize;
	readonly aspectRatio: string;
	readonly seconds: number;
}

const CDN_PATH = /^\/cdn\/videos\/([\w-]+)_(480P|720P|1080P)_(\d+)x(\d+)_([1-9]\d?)s\.mp4$/;

/** CDN path of a completed video. Long-lived (spec 2.10): still valid after a restart. */
export function cdnVideoPath({ taskId, size, aspectRatio, seconds }: CdnVideo): string {
	return `/cdn/videos/${taskId}_${size}_${aspectRatio.replace(':', 'x')}_${seconds}s.mp4`;
}

/** Parses the CDN path of a video; undefined for any other path. */
export function parseCdnVideo(path: string): CdnVideo | undefined {
	const match = CDN_PATH.exec(path);
	if (!match) return undefined;
	const [, taskId, size, width, height, seconds] = match;
	return {
		taskId: taskId!,
		size: size as VideoSize,
		aspectRatio: `${width}:${height}`,
		seconds: Number(seconds),
	};
}
