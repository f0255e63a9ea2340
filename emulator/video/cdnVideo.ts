import type { VideoSize } from './models';

/** Properties of a video encoded in its CDN path, so that the file can be generated from the path alone. */
export interface CdnVideo {
	readonly taskId: string;
	readonly size: VideoSize;
	readonly aspectRatio: string;
	readonly seconds: number;
	/** Text that the video shows: the beginning of its prompt. */
	readonly words: string;
	/** Whether it has a sound track. */
	readonly sound?: boolean;
	readonly watermark?: boolean;
	/** Names of the pictures that it begins and ends with, or shows as references. */
	readonly frames?: readonly string[];
	readonly references?: readonly string[];
}

/** Maximum length of the words in a path, and of the name of a picture. */
const MAX_WORDS_LENGTH = 60;
const MAX_NAME_LENGTH = 20;

const CDN_PATH =
	/^\/cdn\/videos\/([\w-]+)_(480P|720P|1080P)_(\d+)x(\d+)((?:_(?:sound|watermark|(?:frames|references)(?:~[A-Za-z0-9-]+){1,9}))*)_([1-9]\d?)s(?:_([A-Za-z0-9-]+))?\.mp4$/;

/**
 * The beginning of a text as part of a path: Latin letters without accents, and digits. Empty for a text in another script.
 */
export function slug(text: string, maxLength: number): string {
	const words = text
		.normalize('NFKD')
		.replaceAll(/\p{M}/gu, '')
		.split(/[^A-Za-z0-9]+/);
	let start = '';
	for (const word of words.filter(Boolean)) {
		const longer = start === '' ? word : `${start}-${word}`;
		if (longer.length > maxLength) return start || word.slice(0, maxLength);
		start = longer;
	}
	return start;
}

/** Part of a path that lists pictures by their names; one whose name is in another script is a number. */
const listed = (part: string, names: readonly string[] = []): string =>
	[part, ...names.map((name, index) => slug(name, MAX_NAME_LENGTH) || String(index + 1))].join(
		'~',
	);

/**
 * CDN path of a completed video. Long-lived (spec 2.10): still valid after a restart.
 *
 * @param video.words The prompt; the path gets its first words.
 */
export function cdnVideoPath(video: CdnVideo): string {
	const { taskId, size, aspectRatio, seconds, words, sound, watermark } = video;
	const parts = [
		...[taskId, size, aspectRatio.replace(':', 'x')],
		sound && 'sound',
		watermark && 'watermark',
		video.frames?.length && listed('frames', video.frames),
		video.references?.length && listed('references', video.references),
		...[`${seconds}s`, slug(words, MAX_WORDS_LENGTH)],
	];
	return `/cdn/videos/${parts.filter(Boolean).join('_')}.mp4`;
}

/** Parses the CDN path of a video; undefined for any other path. */
export function parseCdnVideo(path: string): CdnVideo | undefined {
	const match = CDN_PATH.exec(path);
	if (!match) return undefined;
	const [, taskId, size, width, height, more, seconds, words = ''] = match;
	const parts = more!.split('_').map((part) => part.split('~'));
	const namesOf = (wanted: string) =>
		parts
			.find(([part]) => part === wanted)
			?.slice(1)
			.map((name) => name.replaceAll('-', ' '));
	const [sound, watermark] = ['sound', 'watermark'].map((part) => namesOf(part) !== undefined);
	return {
		taskId: taskId!,
		size: size as VideoSize,
		aspectRatio: `${width}:${height}`,
		seconds: Number(seconds),
		words: words.replaceAll('-', ' '),
		sound: sound!,
		watermark: watermark!,
		frames: namesOf('frames') ?? [],
		references: namesOf('references') ?? [],
	};
}
