/** How an image is used (spec 2.8). */
export type ImageMode = 'reference' | 'first_last_frame';

/** How a model maps an unsupported duration to one of its own; of two at the same distance, to the shorter. */
export type DurationRule = 'nearest' | 'fiveUpToFiveElseTen';

/** How a model takes the resolution of the video: by `size`, by `mode`, by both in pairs, or not at all. */
export type Resolution =
	| { readonly by: 'none' }
	| { readonly by: 'size'; readonly sizes: readonly string[]; readonly defaultSize: string }
	/** The first mode is the default. */
	| { readonly by: 'mode'; readonly modes: readonly string[] }
	/** The size that goes with each mode; the first pair is the default. */
	| { readonly by: 'sizeAndMode'; readonly sizeByMode: Readonly<Record<string, string>> };

/** One row of the table of models (spec 2.11). */
export interface VideoModel {
	/** Code in requests. */
	readonly code: string;
	/** What the model generates a video from. */
	readonly input: string;
	/** The first is the default. */
	readonly aspectRatios: readonly string[];
	/** Seconds. */
	readonly durations: readonly number[];
	readonly defaultDuration: number;
	readonly durationRule: DurationRule;
	readonly resolution: Resolution;
	/** Maximum number of images for each `image_mode`; the first mode is the default. */
	readonly imageModes: Readonly<Partial<Record<ImageMode, number>>>;
	readonly maxVideos: number;
	/** A model that accepts audio accepts images, videos and audio together; no other model does. */
	readonly maxAudios: number;
	/** Whether `generate_audio` has an effect; true is the default. */
	readonly generatesAudio: boolean;
	/** Whether the model edits the reference video, which keeps its length and its sound. */
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
		resolution: { by: 'size', sizes: ['480P', '720P', '1080P'], defaultSize: '720P' },
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
		resolution: { by: 'size', sizes: ['480P', '720P'], defaultSize: '720P' },
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
		resolution: { by: 'size', sizes: ['720P', '1080P'], defaultSize: '720P' },
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
		resolution: { by: 'none' },
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
		resolution: { by: 'mode', modes: ['std', 'pro'] },
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
		// This model spells its sizes with a lowercase letter.
		resolution: { by: 'sizeAndMode', sizeByMode: { std: '720p', pro: '1080p' } },
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
		resolution: { by: 'none' },
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
		resolution: { by: 'none' },
		imageModes: { reference: 3 },
		...NO_MEDIA,
	},
] as const satisfies readonly VideoModel[];

/** The row of a model; undefined for a code that is not in the table. */
export function findModel(code: string): VideoModel | undefined {
	return VIDEO_MODELS.find((model) => model.code === code);
}

/** The sizes of a model; empty where it takes no `size`. */
export function sizesOf({ resolution }: VideoModel): readonly string[] {
	if (resolution.by === 'sizeAndMode') return Object.values(resolution.sizeByMode);
	return resolution.by === 'size' ? resolution.sizes : [];
}

/** The size that holds where none is sent; undefined where the model takes no `size`. */
export function defaultSizeOf(model: VideoModel): string | undefined {
	const { resolution } = model;
	return resolution.by === 'size' ? resolution.defaultSize : sizesOf(model)[0];
}

/** The modes of a model, the default first; empty where it takes no `mode`. */
export function modesOf({ resolution }: VideoModel): readonly string[] {
	if (resolution.by === 'sizeAndMode') return Object.keys(resolution.sizeByMode);
	return resolution.by === 'mode' ? resolution.modes : [];
}
