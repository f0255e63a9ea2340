/** One row of the specification's tables of video models (2.8, 2.11), written from it and not from our code. */
export interface SpecVideoModel {
	readonly code: string;
	/** The first is the default. */
	readonly ratios: readonly string[];
	/** Seconds. */
	readonly durations: readonly number[];
	readonly defaultDuration: number;
	/** What the service does with another duration: maps 1 to 5 to 5 and 6 or more to 10, takes the nearest one, or rejects it. */
	readonly otherDurations: 'fiveOrTen' | 'nearest' | 'rejected';
	/** Values of `size`; empty where there is no such parameter. */
	readonly sizes: readonly string[];
	readonly defaultSize?: string;
	/** Values of `mode` with the size that each stands for; the first is the default. */
	readonly modes: Readonly<Record<string, string>>;
	/** Maximum number of images by `image_mode`; the first is the default, one without a maximum is rejected. */
	readonly images: Readonly<Partial<Record<'reference' | 'first_last_frame', number>>>;
	readonly videos: number;
	readonly audios: number;
	/** Whether `generate_audio` has an effect. */
	readonly generatesAudio: boolean;
	/** Whether a reference video is edited: `duration` is ignored, and the original sound is kept. */
	readonly editsVideos: boolean;
}

const COMMON = {
	ratios: ['16:9', '1:1', '9:16'],
	otherDurations: 'rejected',
	sizes: [],
	modes: {},
	videos: 0,
	audios: 0,
	generatesAudio: false,
	editsVideos: false,
} as const;
const MULTIMODAL = {
	...COMMON,
	durations: [4, 5, 8, 10, 15],
	defaultDuration: 5,
	defaultSize: '720P',
	images: { reference: 9, first_last_frame: 2 },
	videos: 3,
	audios: 3,
	generatesAudio: true,
} as const;

const FIVE_OR_TEN = { ...COMMON, durations: [5, 10], defaultDuration: 5 } as const;

/** Every video model of the specification, in its order. */
export const SPEC_VIDEO_MODELS: readonly SpecVideoModel[] = [
	{ ...MULTIMODAL, code: 'video-m1', sizes: ['480P', '720P', '1080P'] },
	{ ...MULTIMODAL, code: 'video-m2', sizes: ['480P', '720P'] },
	{
		...FIVE_OR_TEN,
		code: 'video-m3',
		otherDurations: 'fiveOrTen',
		sizes: ['720P', '1080P'],
		defaultSize: '720P',
		images: { first_last_frame: 2 },
	},
	{
		...FIVE_OR_TEN,
		code: 'video-m4',
		otherDurations: 'fiveOrTen',
		images: { first_last_frame: 1 },
	},
	{
		...COMMON,
		code: 'video-m5',
		ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
		durations: [3, 5, 8, 10, 15],
		defaultDuration: 5,
		modes: { std: '720P', pro: '1080P' },
		images: { reference: 7, first_last_frame: 2 },
		videos: 1,
		generatesAudio: true,
		editsVideos: true,
	},
	{
		...FIVE_OR_TEN,
		code: 'video-m6',
		sizes: ['720p', '1080p'],
		defaultSize: '720p',
		modes: { std: '720p', pro: '1080p' },
		images: { first_last_frame: 2 },
	},
	{
		...COMMON,
		code: 'video-m7',
		durations: [4, 8, 12],
		defaultDuration: 8,
		otherDurations: 'nearest',
		images: { reference: 5 },
	},
	{
		...COMMON,
		code: 'video-m8',
		durations: [8],
		defaultDuration: 8,
		images: { reference: 3 },
	},
];

/** The rows by code, for `test.each` and `describe.each`. */
export const SPEC_ROWS = SPEC_VIDEO_MODELS.map((row): [string, SpecVideoModel] => [row.code, row]);

/** Maximum number of images in any image mode. */
export const maxImages = ({ images }: SpecVideoModel) => Math.max(0, ...Object.values(images));

/** The duration of the video for a requested one, of two as near the shorter; undefined if the service rejects it. */
export function generatedDuration(
	{ durations, otherDurations }: SpecVideoModel,
	requested: number,
): number | undefined {
	if (durations.includes(requested)) return requested;
	if (otherDurations === 'rejected') return undefined;
	if (otherDurations === 'fiveOrTen') return requested <= 5 ? 5 : 10;
	const distance = (seconds: number) => Math.abs(seconds - requested);
	return [...durations].sort((a, b) => distance(a) - distance(b) || a - b)[0];
}
