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
	/** Empty where the model takes no `size`. */
	readonly sizes: readonly string[];
	readonly defaultSize?: string;
	/** Empty where the model takes no `mode`; the first is the default. */
	readonly modes: readonly string[];
	/** How many images each `image_mode` takes at most. */
	readonly imageModes: { readonly reference?: number; readonly first_last_frame?: number };
	readonly maxVideos: number;
	readonly maxAudios: number;
	/** Whether `generate_audio` has an effect. */
	readonly generatesAudio: boolean;
}

const WIDE_SQUARE_TALL = ['16:9', '1:1', '9:16'] as const;
const NO_MEDIA = { maxVideos: 0, maxAudios: 0, generatesAudio: false } as const;

/** Every video model (spec 2.11). A new model is one row here and nothing else. */
export const VIDEO_MODELS = [
	{
		code: 'video-m1',
		input: 'Text, images, videos and audio together',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [4, 5, 8, 10, 15],
		defaultDuration: 5,
		sizes: ['480P', '720P', '1080P'],
		defaultSize: '720P',
		modes: [],
		imageModes: { reference: 9, first_last_frame: 2 },
		maxVideos: 3,
		maxAudios: 3,
		generatesAudio: true,
	},
	{
		code: 'video-m2',
		input: 'Text, images, videos and audio together; faster than video-m1',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [4, 5, 8, 10, 15],
		defaultDuration: 5,
		sizes: ['480P', '720P'],
		defaultSize: '720P',
		modes: [],
		imageModes: { reference: 9, first_last_frame: 2 },
		maxVideos: 3,
		maxAudios: 3,
		generatesAudio: true,
	},
	{
		code: 'video-m3',
		input: 'Text, or first and last frame',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [5, 10],
		defaultDuration: 5,
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
		sizes: [],
		modes: ['std', 'pro'],
		imageModes: { reference: 7, first_last_frame: 2 },
		maxVideos: 1,
		maxAudios: 0,
		generatesAudio: true,
	},
	{
		code: 'video-m6',
		input: 'Text, or first and last frame',
		aspectRatios: WIDE_SQUARE_TALL,
		durations: [5, 10],
		defaultDuration: 5,
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
		sizes: [],
		modes: [],
		imageModes: { reference: 3 },
		...NO_MEDIA,
	},
] as const satisfies readonly VideoModel[];
