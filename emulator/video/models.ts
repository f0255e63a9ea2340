export type EmulatedImageMode = 'reference' | 'first_last_frame';
export type VideoSize = '480P' | '720P' | '1080P';

/** Handling of a duration that is not in the model's list. */
export type DurationPolicy = 'reject' | 'fiveOrTen' | 'nearest';

/**
 * Capabilities of a video model (spec 2.11). Written from the specification independently of
 * `nodes/client`, so that a misreading on one side fails the tests.
 */
export interface EmulatedModel {
	readonly code: string;
	readonly ratios: readonly string[];
	/** Seconds. */
	readonly durations: readonly number[];
	readonly defaultDuration: number;
	readonly durationPolicy: DurationPolicy;
	/** In the model's spelling; empty if it has no size parameter. */
	readonly sizes: readonly string[];
	/** Size of the video without `size` and `mode`. */
	readonly defaultSize: string;
	/** Whether the model supports `mode` (`std`, `pro`). */
	readonly hasMode: boolean;
	/** Maximum number of images per image mode; the first mode is the default, others are rejected. */
	readonly images: readonly (readonly [mode: EmulatedImageMode, max: number])[];
	readonly maxVideos: number;
	readonly maxAudios: number;
	/** Whether `generate_audio` has an effect. */
	readonly hasAudio: boolean;
	/** Whether `videos` are edited: `duration` is ignored and the original audio is kept (spec 2.8). */
	readonly editsVideos: boolean;
	/** Whether completed tasks have `thumbnail_url`. */
	readonly thumbnail: boolean;
	/** Whether completed tasks have `enhanced_prompt`. */
	readonly enhancedPrompt: boolean;
	/** Whether tasks start in `processing` instead of `queued`. */
	readonly skipsQueue: boolean;
}

const COMMON_RATIOS = ['16:9', '1:1', '9:16'];

const TEXT_ONLY = {
	ratios: COMMON_RATIOS,
	durationPolicy: 'reject',
	sizes: [],
	defaultSize: '720P',
	hasMode: false,
	maxVideos: 0,
	maxAudios: 0,
	hasAudio: false,
	editsVideos: false,
	thumbnail: false,
	enhancedPrompt: false,
	skipsQueue: false,
} as const satisfies Partial<EmulatedModel>;

const MULTIMODAL = {
	...TEXT_ONLY,
	durations: [4, 5, 8, 10, 15],
	defaultDuration: 5,
	images: [
		['reference', 9],
		['first_last_frame', 2],
	],
	maxVideos: 3,
	maxAudios: 3,
	hasAudio: true,
	thumbnail: true,
	enhancedPrompt: true,
} as const satisfies Partial<EmulatedModel>;

/**
 * All video models (spec 2.11), one row each. Which ones return thumbnails and enhanced prompts is our
 * choice. A new size also needs an entry in `VideoSize` and in the CDN path (`cdnVideo.ts`).
 */
export const EMULATED_MODELS: readonly EmulatedModel[] = [
	{ ...MULTIMODAL, code: 'video-m1', sizes: ['480P', '720P', '1080P'] },
	{ ...MULTIMODAL, code: 'video-m2', sizes: ['480P', '720P'], skipsQueue: true },
	{
		...TEXT_ONLY,
		code: 'video-m3',
		durations: [5, 10],
		defaultDuration: 5,
		durationPolicy: 'fiveOrTen',
		sizes: ['720P', '1080P'],
		images: [['first_last_frame', 2]],
		thumbnail: true,
	},
	{
		...TEXT_ONLY,
		code: 'video-m4',
		durations: [5, 10],
		defaultDuration: 5,
		durationPolicy: 'fiveOrTen',
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
		maxVideos: 1,
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
		durationPolicy: 'nearest',
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
