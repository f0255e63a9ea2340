/** How an image is used (spec 2.8). */
type ImageMode = 'reference' | 'first_last_frame';

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
	/**
	 * How the service maps another duration to one of the model's: to the nearest, of two as near to the shorter, or to the next
	 * longer. Without a rule it rejects it.
	 */
	readonly durationRule?: 'nearest' | 'longer';
	/** The first is the default; empty where it takes no `size`. */
	readonly sizes: readonly string[];
	/** The first is the default; empty where it takes no `mode`, or a `size` that says the same. */
	readonly modes: readonly string[];
	/** Modes that it takes in place of a `size`, as each says the same as one. None is the default, and the form lists none. */
	readonly modesInPlaceOfSize?: readonly string[];
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
/** What most models have in common. */
const COMMON = {
	aspectRatios: WIDE_SQUARE_TALL,
	durations: [5, 10],
	defaultDuration: 5,
	sizes: [],
	modes: [],
	maxVideos: 0,
	maxAudios: 0,
	generatesAudio: false,
	editsVideos: false,
} as const;

/** What the models with every kind of reference file have in common. */
const ALL_KINDS = {
	...COMMON,
	durations: [4, 5, 8, 10, 15],
	imageModes: { reference: 9, first_last_frame: 2 },
	maxVideos: 3,
	maxAudios: 3,
	generatesAudio: true,
} as const;

/**
 * Every video model (spec 2.11). Form, request, checks and docs follow a row. A new one also needs a row in the emulator
 * (`emulator/video/modelRows.json`) and in the tests (`test/support/specVideoModels.ts`), which share no code with this table.
 */
export const VIDEO_MODELS = [
	{
		...ALL_KINDS,
		code: 'video-m1',
		input: 'Text, images, videos and audio together',
		sizes: ['720P', '480P', '1080P'],
	},
	{
		...ALL_KINDS,
		code: 'video-m2',
		input: 'Text, images, videos and audio together; faster than video-m1',
		sizes: ['720P', '480P'],
	},
	{
		...COMMON,
		code: 'video-m3',
		input: 'Text, or first and last frame',
		durationRule: 'longer',
		sizes: ['720P', '1080P'],
		imageModes: { first_last_frame: 2 },
	},
	{
		...COMMON,
		code: 'video-m4',
		input: 'Text, or a single frame',
		durationRule: 'longer',
		imageModes: { first_last_frame: 1 },
	},
	{
		...COMMON,
		code: 'video-m5',
		input: 'Text, images, or a video to edit; with sound',
		aspectRatios: ['16:9', '9:16', '1:1', '4:3', '3:4'],
		durations: [3, 5, 8, 10, 15],
		modes: ['std', 'pro'],
		imageModes: { reference: 7, first_last_frame: 2 },
		maxVideos: 1,
		generatesAudio: true,
		editsVideos: true,
	},
	{
		...COMMON,
		code: 'video-m6',
		input: 'Text, or first and last frame',
		// This model spells its sizes with a lowercase letter.
		sizes: ['720p', '1080p'],
		modesInPlaceOfSize: ['std', 'pro'],
		imageModes: { first_last_frame: 2 },
	},
	{
		...COMMON,
		code: 'video-m7',
		input: 'Text, or reference images',
		durations: [4, 8, 12],
		defaultDuration: 8,
		durationRule: 'nearest',
		imageModes: { reference: 5 },
	},
	{
		...COMMON,
		code: 'video-m8',
		input: 'Text, or reference images',
		durations: [8],
		defaultDuration: 8,
		imageModes: { reference: 3 },
	},
] as const satisfies readonly VideoModel[];

/** A code of the account, and the row of the table that it behaves like. */
export type OwnModel = Readonly<Record<'code' | 'like', string>>;

/** The row that a code behaves like, with this code; undefined for a code that is in no table. */
export function findModel({ code, like }: OwnModel): VideoModel | undefined {
	const row = VIDEO_MODELS.find((model) => model.code === like);
	return row && { ...row, code };
}

/**
 * Reads the value of the model field: `row=code`, or a code.
 *
 * @param own The codes of the account; a code that is neither there nor in the table behaves like none.
 */
export function readPair(entered: string, own: readonly OwnModel[]): OwnModel {
	const row = VIDEO_MODELS.find(({ code }) => entered.startsWith(`${code}=`));
	if (row) return { code: entered.slice(row.code.length + 1).trim(), like: row.code };
	return own.find(({ code }) => code === entered) ?? { code: entered, like: entered };
}

/** Body of a creation request (spec 2.8). */
export interface VideoRequest {
	readonly prompt: string;
	readonly model: string;
	/** Public URLs; in `first_last_frame` mode first the first frame, then the last. */
	readonly images?: readonly string[];
	readonly videos?: readonly string[];
	readonly audios?: readonly string[];
	readonly size?: string;
	readonly aspect_ratio?: string;
	/** Seconds. */
	readonly duration?: number;
	readonly mode?: string;
	readonly image_mode?: string;
	readonly generate_audio?: boolean;
	readonly watermark?: boolean;
}

export type VideoValue = string | number | boolean;

/** A field of the request (spec 2.8) whose values depend on the model. */
export interface VideoField {
	/** Parameter name in the editor. */
	readonly key: string;
	/** Field name in the request. */
	readonly apiName: Exclude<keyof VideoRequest, 'prompt' | 'model' | ReferenceRow['apiName']>;
	readonly label: string;
	readonly help: string;
	readonly type: 'text' | 'seconds' | 'flag';
	/** Whether it is about reference files, and means nothing without any. */
	readonly needsFiles?: boolean;
	/** The values that the model supports; empty where it does not support the field. */
	readonly values: (model: VideoModel) => readonly VideoValue[];
	/** Others that it supports, which the form does not list. */
	readonly unlisted?: (model: VideoModel) => readonly VideoValue[] | undefined;
}

/** Every field whose values depend on the model (spec 2.8, 2.11). The form, the request, the validation and the docs are derived from it. */
export const VIDEO_FIELDS: readonly VideoField[] = [
	{
		key: 'aspectRatio',
		apiName: 'aspect_ratio',
		label: 'Aspect Ratio',
		help: 'Width to height of the picture, e.g. 16:9 for wide or 9:16 for upright',
		type: 'text',
		values: (model) => model.aspectRatios,
	},
	{
		key: 'duration',
		apiName: 'duration',
		label: 'Duration',
		help: 'Length of the video in seconds',
		type: 'seconds',
		values: (model) => model.durations,
	},
	{
		key: 'size',
		apiName: 'size',
		label: 'Size',
		help: 'Resolution of the video, e.g. 720P',
		type: 'text',
		values: (model) => model.sizes,
	},
	{
		// Not "mode": the host lists each value of a field of that name as a separate action.
		key: 'qualityMode',
		apiName: 'mode',
		label: 'Quality Mode',
		help: 'Standard (std) is faster and cheaper, Pro (pro) is sharper',
		type: 'text',
		values: (model) => model.modes,
		unlisted: (model) => model.modesInPlaceOfSize,
	},
	{
		key: 'imageMode',
		apiName: 'image_mode',
		label: 'Image Mode',
		help: 'How images are used: as a reference for the content (reference), or as the first and the last frame, in this order (first_last_frame)',
		type: 'text',
		needsFiles: true,
		values: (model) => Object.keys(model.imageModes),
	},
	{
		key: 'generateAudio',
		apiName: 'generate_audio',
		label: 'Generate Audio',
		help: 'Whether the video gets a voice-over or sound effects',
		type: 'flag',
		values: (model) => (model.generatesAudio ? [true, false] : []),
	},
	{
		key: 'watermark',
		apiName: 'watermark',
		label: 'Watermark',
		help: 'Whether the video gets a watermark',
		type: 'flag',
		values: () => [false, true],
	},
];

/** What the service takes where the field is empty; undefined where the model does not support the field. */
export function defaultOf({ apiName, values }: VideoField, model: VideoModel) {
	return apiName === 'duration' ? model.defaultDuration : values(model)[0];
}

/** Every kind of reference file (spec 2.8). `max`: maximum number of files of this kind for any model (spec 8). */
export const REFERENCES = [
	{ kind: 'image', apiName: 'images', noun: 'image', max: 9 },
	{ kind: 'video', apiName: 'videos', noun: 'video', max: 3 },
	{ kind: 'audio', apiName: 'audios', noun: 'audio file', max: 3 },
] as const;

export type ReferenceRow = (typeof REFERENCES)[number];
export type ReferenceKind = ReferenceRow['kind'];

/** The fields of a request that the form has, so that none of them is one of the extra fields. */
export const REQUEST_NAMES: readonly string[] = [
	...['prompt', 'model'],
	...[...REFERENCES, ...VIDEO_FIELDS].map(({ apiName }) => apiName),
];

/** A reference file. */
export interface Reference {
	readonly kind: ReferenceKind;
	/** Public URL of the file. */
	readonly url: string;
}

/** Maximum number of files of a kind: the model's (spec 2.11), or the service's for a model that is not in the table. */
export function maxReferences(
	{ kind, max }: ReferenceRow,
	model: VideoModel | undefined,
	imageMode?: string,
): number {
	if (model === undefined) return max;
	const { imageModes, maxVideos, maxAudios } = model;
	const ofModes = Math.max(0, ...Object.values(imageModes));
	const maxImages = imageModes[imageMode as ImageMode] ?? ofModes;
	return { image: maxImages, video: maxVideos, audio: maxAudios }[kind];
}
