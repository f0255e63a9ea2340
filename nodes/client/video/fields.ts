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
	/** The values that the model supports; empty where it does not support the field. */
	readonly values: (model: VideoModel) => readonly VideoValue[];
	/** What the form fills in. Where the model ignores the field, what the form may have kept of another model. */
	readonly defaultValue: (model: VideoModel) => VideoValue | undefined;
	/** Label of a value in the form; the value itself without one. */
	readonly show?: (value: VideoValue, model: VideoModel) => string;
}

const NAMES: Readonly<Record<string, string>> = {
	std: 'Standard (720P)',
	pro: 'Pro (1080P)',
	reference: 'Reference',
	first_last_frame: 'First and Last Frame',
};
const named = (value: VideoValue) => NAMES[String(value)] ?? String(value);

/** The sizes that a model takes, by `size` or by `mode`. */
function sizesOf({ sizes, modes }: VideoModel): readonly string[] {
	return sizes.length > 0 ? sizes : Object.values(modes);
}

const FLAG = [true, false] as const;

/** Every field whose values depend on the model (spec 2.8, 2.11). The form, the request, the validation and the docs are derived from it. */
export const VIDEO_FIELDS: readonly VideoField[] = [
	{
		key: 'aspectRatio',
		apiName: 'aspect_ratio',
		label: 'Aspect Ratio',
		help: 'Width to height of the picture, e.g. 16:9 for wide or 9:16 for upright',
		type: 'text',
		values: (model) => model.aspectRatios,
		defaultValue: (model) => model.aspectRatios[0],
	},
	{
		key: 'duration',
		apiName: 'duration',
		label: 'Duration',
		help: 'Length of the video in seconds',
		type: 'seconds',
		values: (model) => model.durations,
		defaultValue: (model) => model.defaultDuration,
		show: (seconds) => `${seconds} Seconds`,
	},
	{
		key: 'size',
		apiName: 'size',
		label: 'Size',
		help: 'Resolution of the video, e.g. 720P',
		type: 'text',
		values: sizesOf,
		defaultValue: (model) => model.defaultSize ?? '720P',
	},
	{
		// Not "mode": the host lists each value of a field of that name as a separate action.
		key: 'qualityMode',
		apiName: 'mode',
		label: 'Quality Mode',
		help: 'Standard (std) is faster and cheaper, Pro (pro) is sharper',
		type: 'text',
		values: (model) => Object.keys(model.modes),
		defaultValue: (model) => Object.keys(model.modes)[0] ?? 'std',
		show: named,
	},
	{
		key: 'imageMode',
		apiName: 'image_mode',
		label: 'Image Mode',
		help: 'How images are used: as a reference for the content (reference), or as the first and the last frame, in this order (first_last_frame)',
		type: 'text',
		values: (model) => Object.keys(model.imageModes),
		defaultValue: (model) => Object.keys(model.imageModes)[0],
		show: (mode, { imageModes }) =>
			imageModes[mode as ImageMode] === 1 ? 'First Frame' : named(mode),
	},
	{
		key: 'generateAudio',
		apiName: 'generate_audio',
		label: 'Generate Audio',
		help: 'Whether the video gets a voice-over or sound effects',
		type: 'flag',
		values: (model) => (model.generatesAudio ? FLAG : []),
		defaultValue: () => true,
	},
	{
		key: 'watermark',
		apiName: 'watermark',
		label: 'Watermark',
		help: 'Whether the video gets a watermark',
		type: 'flag',
		values: () => FLAG,
		defaultValue: () => false,
	},
];

/** Whether the form has a field for the model: not for size and quality mode both, which could contradict each other. */
export function isInForm({ apiName, values }: VideoField, model: VideoModel): boolean {
	const other = model.sizes.length > 0 ? 'mode' : 'size';
	return values(model).length > 0 && apiName !== other;
}

/** Every kind of reference file (spec 2.8). `max`: maximum number of files of this kind for any model (spec 8). */
export const REFERENCES = [
	{ kind: 'image', apiName: 'images', one: 'an image', noun: 'image', max: 9 },
	{ kind: 'video', apiName: 'videos', one: 'a video', noun: 'video', max: 3 },
	{ kind: 'audio', apiName: 'audios', one: 'audio', noun: 'audio file', max: 3 },
] as const;

export type ReferenceRow = (typeof REFERENCES)[number];
export type ReferenceKind = ReferenceRow['kind'];

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
