import type { VideoSize } from './models';

/** Properties of a video encoded in its CDN path, so that the file can be generated from the path alone. */
export interface CdnVideo {
	readonly taskId: string;
	readonly size: VideoSize;
	readonly aspectRatio: string;
	readonly seconds: number;
	/** Text that the video shows: the beginning of its prompt. */
	readonly words: string;
}

/** Maximum length of the words in a path. */
const MAX_WORDS_LENGTH = 60;

const CDN_PATH =
	/^\/cdn\/videos\/([\w-]+)_(480P|720P|1080P)_(\d+)x(\d+)_([1-9]\d?)s(?:_([A-Za-z0-9-]+))?\.mp4$/;

/**
 * The beginning of a prompt as part of a path: Latin letters without accents, and digits. Empty for a prompt in another
 * script.
 */
function slug(prompt: string): string {
	const words = prompt
		.normalize('NFKD')
		.replaceAll(/\p{M}/gu, '')
		.split(/[^A-Za-z0-9]+/);
	let text = '';
	for (const word of words.filter(Boolean)) {
		const longer = text === '' ? word : `${text}-${word}`;
		if (longer.length > MAX_WORDS_LENGTH) return text || word.slice(0, MAX_WORDS_LENGTH);
		text = longer;
	}
	return text;
}

/**
 * CDN path of a completed video. Long-lived (spec 2.10): still valid after a restart.
 *
 * @param video.words The prompt; the path gets its first words.
 */
export function cdnVideoPath({ taskId, size, aspectRatio, seconds, words }: CdnVideo): string {
	const parts = [taskId, size, aspectRatio.replace(':', 'x'), `${seconds}s`, slug(words)];
	return `/cdn/videos/${parts.filter(Boolean).join('_')}.mp4`;
}

/** Parses the CDN path of a video; undefined for any other path. */
export function parseCdnVideo(path: string): CdnVideo | undefined {
	const match = CDN_PATH.exec(path);
	if (!match) return undefined;
	const [, taskId, size, width, height, seconds, words = ''] = match;
	return {
		taskId: taskId!,
		size: size as VideoSize,
		aspectRatio: `${width}:${height}`,
		seconds: Number(seconds),
		words: words.replaceAll('-', ' '),
	};
}
