import type { ImageMode, VideoModel } from './models';

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
