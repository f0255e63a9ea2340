/** How an image is used (spec 2.8). */
export type ImageMode = 'reference' | 'first_last_frame';

/** What a model makes of a duration that is not one of its own; of two that are as near, the shorter. */
export type DurationRule = 'nearest' | 'fiveUpToFiveElseTen';

/** One row of the table of models (spec 2.11). */
export interface VideoModel {
	/** Code in requests. */
	readonly code: string;
	/** What it makes a video from. */
	readonly input: string;
	/** The first is the default. */
	readonly aspectRatios: readonly string[];
	/** Seconds. */
	readonly durations: readonly number[];
	readonly defaultDuration: number;
	readonly durationRule: DurationRule;
	/** Empty where the model takes no `size`. */
	readonly sizes: readonly string[];
	readonly defaultSize?: string;
	/** Empty where the model takes no `mode`; the first is the default. A model with sizes too pairs them in order. */
	readonly modes: readonly string[];
	/** How many images each `image_mode` takes at most; the first is the default. */
	readonly imageModes: Readonly<Partial<Record<ImageMode, number>>>;
	readonly maxVideos: number;
	/** A model that takes audio takes images, videos and audio together, and no other does. */
	readonly maxAudios: number;
	/** Whether `generate_audio` has an effect; true is the default. */
	readonly generatesAudio: boolean;
	/** Whether a video is edited: it keeps its length and its sound. */
	readonly editsVideos: boolean;
}

const WIDE_SQUARE_TALL = ['16:9', '1:1', '9:16'] as const;
const NO_MEDIA = {
	maxVideos: 0,
	maxAudios: 0,
	generatesAudio: false,
	editsVideos: false,
} as const;

/** Every video model (spec 2.11). A new model is one row here and nothing else. */
export const VIDEO_MODELS = [
	{
		code: 'video-m1',
		input: 'Text, images, videos and audio together',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [4, 5, 8, 10, 15],
		defaultDuration: 5,
		durationRule: 'nearest',
		sizes: ['480P', '720P', '1080P'],
		defaultSize: '720P',
		modes: [],
		imageModes: { reference: 9, first_last_frame: 2 },
		maxVideos: 3,
		maxAudios: 3,
		generatesAudio: true,
		editsVideos: false,
	},
	{
		code: 'video-m2',
		input: 'Text, images, videos and audio together; faster than video-m1',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [4, 5, 8, 10, 15],
		defaultDuration: 5,
		durationRule: 'nearest',
		sizes: ['480P', '720P'],
		defaultSize: '720P',
		modes: [],
		imageModes: { reference: 9, first_last_frame: 2 },
		maxVideos: 3,
		maxAudios: 3,
		generatesAudio: true,
		editsVideos: false,
	},
	{
		code: 'video-m3',
		input: 'Text, or first and last frame',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [5, 10],
		defaultDuration: 5,
		durationRule: 'fiveUpToFiveElseTen',
		sizes: ['720P', '1080P'],
		defaultSize: '720P',
		modes: [],
		imageModes: { first_last_frame: 2 },
		...NO_MEDIA,
	},
	{
		code: 'video-m4',
		input: 'Text, or a single frame',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [5, 10],
		defaultDuration: 5,
		durationRule: 'fiveUpToFiveElseTen',
		sizes: [],
		modes: [],
		imageModes: { first_last_frame: 1 },
		...NO_MEDIA,
	},
	{
		code: 'video-m5',
		input: 'Text, images, or a video to edit; with sound',
		aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
		durations: [3, 5, 8, 10, 15],
		defaultDuration: 5,
		durationRule: 'nearest',
		sizes: [],
		modes: ['std', 'pro'],
		imageModes: { reference: 7, first_last_frame: 2 },
		maxVideos: 1,
		maxAudios: 0,
		generatesAudio: true,
		editsVideos: true,
	},
	{
		code: 'video-m6',
		input: 'Text, or first and last frame',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [5, 10],
		defaultDuration: 5,
		durationRule: 'nearest',
		// This model spells its sizes with a small letter.
		sizes: ['720p', '1080p'],
		defaultSize: '720p',
		modes: ['std', 'pro'],
		imageModes: { first_last_frame: 2 },
		...NO_MEDIA,
	},
	{
		code: 'video-m7',
		input: 'Text, or reference images',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [4, 8, 12],
		defaultDuration: 8,
		durationRule: 'nearest',
		sizes: [],
		modes: [],
		imageModes: { reference: 5 },
		...NO_MEDIA,
	},
	{
		code: 'video-m8',
		input: 'Text, or reference images',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [8],
		defaultDuration: 8,
		durationRule: 'nearest',
		sizes: [],
		modes: [],
		imageModes: { reference: 3 },
		...NO_MEDIA,
	},
] as const satisfies readonly VideoModel[];

/** The row of a model; none for a code that the table does not have. */
export function findModel(code: string): VideoModel | undefined {
	return VIDEO_MODELS.find((model) => model.code === code);
}
