export type ImageMode = 'reference' | 'first_last_frame';
export type VideoSize = '480P' | '720P' | '1080P';

/** How a duration that is not in the model's list is taken. */
export type DurationRule = 'refused' | 'fiveOrTen' | 'nearest';

/** One video model: what it honours of a creation request (spec 2.11). */
export interface VideoModel {
	readonly code: string;
	readonly ratios: readonly string[];
	/** Seconds. */
	readonly durations: readonly number[];
	readonly defaultDuration: number;
	readonly durationRule: DurationRule;
	/** The model's own spelling; empty when it has no size parameter. */
	readonly sizes: readonly string[];
	/** What is delivered when neither size nor mode says otherwise. */
	readonly defaultSize: string;
	/** Whether `mode` (`std`, `pro`) is honoured. */
	readonly hasMode: boolean;
	/** Most images per image mode; the first mode is the default. Modes not listed are refused. */
	readonly images: readonly (readonly [mode: ImageMode, most: number])[];
	readonly mostVideos: number;
	readonly mostAudios: number;
	/** Whether `generate_audio` has an effect. */
	readonly hasAudio: boolean;
	/** With `videos` the model edits: no duration, and the original sound stays (spec 2.8). */
	readonly editsVideos: boolean;
	readonly thumbnail: boolean;
	readonly enhancedPrompt: boolean;
	/** Starts generating at once instead of queueing. */
	readonly startsAtOnce: boolean;
}

const COMMON_RATIOS = ['16:9', '1:1', '9:16'];

const TEXT_ONLY = {
	ratios: COMMON_RATIOS,
	durationRule: 'refused',
	sizes: [],
	defaultSize: '720P',
	hasMode: false,
	mostVideos: 0,
	mostAudios: 0,
	hasAudio: false,
	editsVideos: false,
	thumbnail: false,
	enhancedPrompt: false,
	startsAtOnce: false,
} as const satisfies Partial<VideoModel>;

const MULTIMODAL = {
	...TEXT_ONLY,
	durations: [4, 5, 8, 10, 15],
	defaultDuration: 5,
	images: [
		['reference', 9],
		['first_last_frame', 2],
	],
	mostVideos: 3,
	mostAudios: 3,
	hasAudio: true,
	thumbnail: true,
	enhancedPrompt: true,
} as const satisfies Partial<VideoModel>;

/** Every video model (spec 2.11). Which ones send thumbnails and enhanced prompts is our choice. */
export const VIDEO_MODELS: readonly VideoModel[] = [
	{ ...MULTIMODAL, code: 'video-m1', sizes: ['480P', '720P', '1080P'] },
	{ ...MULTIMODAL, code: 'video-m2', sizes: ['480P', '720P'], startsAtOnce: true },
	{
		...TEXT_ONLY,
		code: 'video-m3',
		durations: [5, 10],
		defaultDuration: 5,
		durationRule: 'fiveOrTen',
		sizes: ['720P', '1080P'],
		images: [['first_last_frame', 2]],
		thumbnail: true,
	},
	{
		...TEXT_ONLY,
		code: 'video-m4',
		durations: [5, 10],
		defaultDuration: 5,
		durationRule: 'fiveOrTen',
		images: [['first_last_frame', 1]],
	},
	{
		...TEXT_ONLY,
		code: 'video-m5',
		ratios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
		durations: [3, 5, 8, 10, 15],
		defaultDuration: 5,
		hasMode: true,
		images: [
			['reference', 7],
			['first_last_frame', 2],
		],
		mostVideos: 1,
		hasAudio: true,
		editsVideos: true,
		thumbnail: true,
	},
	{
		...TEXT_ONLY,
		code: 'video-m6',
		durations: [5, 10],
		defaultDuration: 5,
		sizes: ['720p', '1080p'],
		defaultSize: '720p',
		hasMode: true,
		images: [['first_last_frame', 2]],
	},
	{
		...TEXT_ONLY,
		code: 'video-m7',
		durations: [4, 8, 12],
		defaultDuration: 8,
		durationRule: 'nearest',
		images: [['reference', 5]],
		thumbnail: true,
	},
	{
		...TEXT_ONLY,
		code: 'video-m8',
		durations: [8],
		defaultDuration: 8,
		images: [['reference', 3]],
		enhancedPrompt: true,
	},
];
