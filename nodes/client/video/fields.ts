import { closestDuration, closestRatio, closestSize, sameWord } from './closest';
import { defaultSizeOf, modesOf, sizesOf, type VideoModel } from './models';

export type VideoValue = string | number | boolean;

/** A field of the request (spec 2.8) whose values depend on the model. */
export interface VideoField {
	/** Parameter name in the editor. */
	readonly key: string;
	/** Field name in the request. */
	readonly apiName:
		| 'aspect_ratio'
		| 'duration'
		| 'size'
		| 'mode'
		| 'image_mode'
		| 'generate_audio'
		| 'watermark';
	readonly label: string;
	readonly help: string;
	readonly type: 'text' | 'seconds' | 'flag';
	/** An example, shown for a model that is not in the table. */
	readonly placeholder: string;
	/** The values that the model supports; empty where it does not support the field. */
	readonly values: (model: VideoModel) => readonly VideoValue[];
	readonly defaultValue: (model: VideoModel) => VideoValue | undefined;
	/** Label of a value in the form. */
	readonly show: (value: VideoValue) => string;
	/**
	 * The supported value that replaces an unsupported one. Without this function no supported value means nearly the
	 * same, and an unsupported one is rejected.
	 */
	readonly closest?: (value: VideoValue, model: VideoModel) => VideoValue | undefined;
}

const NAMES: Readonly<Record<string, string>> = {
	std: 'Standard (720P)',
	pro: 'Pro (1080P)',
	reference: 'Reference',
	first_last_frame: 'First and Last Frame',
};
const named = (value: VideoValue) => NAMES[String(value)] ?? String(value);

const FLAG = [true, false] as const;

/** Every field whose values depend on the model (spec 2.8, 2.11). The form, the request, the validation and the docs are derived from it. */
export const VIDEO_FIELDS = [
	{
		key: 'aspectRatio',
		apiName: 'aspect_ratio',
		label: 'Aspect Ratio',
		help: 'Width to height of the picture, e.g. 16:9 for wide or 9:16 for upright',
		type: 'text',
		placeholder: 'e.g. 16:9',
		values: (model) => model.aspectRatios,
		defaultValue: (model) => model.aspectRatios[0],
		show: String,
		closest: (ratio, model) => closestRatio(String(ratio), model.aspectRatios),
	},
	{
		key: 'duration',
		apiName: 'duration',
		label: 'Duration',
		help: 'Length of the video in seconds',
		type: 'seconds',
		placeholder: 'e.g. 5',
		values: (model) => model.durations,
		defaultValue: (model) => model.defaultDuration,
		show: (seconds) => `${seconds} Seconds`,
		closest: (seconds, model) => closestDuration(Number(seconds), model),
	},
	{
		key: 'size',
		apiName: 'size',
		label: 'Size',
		help: 'Resolution of the video, e.g. 720P',
		type: 'text',
		placeholder: 'e.g. 720P',
		values: sizesOf,
		defaultValue: defaultSizeOf,
		show: String,
		closest: (size, model) => closestSize(String(size), sizesOf(model)) ?? defaultSizeOf(model),
	},
	{
		// Not "mode": n8n lists each value of a field of that name as a separate action.
		key: 'qualityMode',
		apiName: 'mode',
		label: 'Quality Mode',
		help: 'Standard (std) is faster and cheaper, Pro (pro) is sharper',
		type: 'text',
		placeholder: 'e.g. std',
		values: modesOf,
		defaultValue: (model) => modesOf(model)[0],
		show: named,
		closest: (mode, model) => sameWord(String(mode), modesOf(model)) ?? modesOf(model)[0],
	},
	{
		key: 'imageMode',
		apiName: 'image_mode',
		label: 'Image Mode',
		help: 'How images are used: as a reference for the content (reference), or as the first and the last frame, in this order (first_last_frame)',
		type: 'text',
		placeholder: 'e.g. reference',
		values: (model) => Object.keys(model.imageModes),
		defaultValue: (model) => Object.keys(model.imageModes)[0],
		show: named,
	},
	{
		key: 'generateAudio',
		apiName: 'generate_audio',
		label: 'Generate Audio',
		help: 'Whether the video gets a voice-over or sound effects',
		type: 'flag',
		placeholder: '',
		values: (model) => (model.generatesAudio ? FLAG : []),
		defaultValue: () => true,
		show: String,
	},
	{
		key: 'watermark',
		apiName: 'watermark',
		label: 'Watermark',
		help: 'Whether the video gets a watermark',
		type: 'flag',
		placeholder: '',
		values: () => FLAG,
		defaultValue: () => false,
		show: String,
	},
] as const satisfies readonly VideoField[];
