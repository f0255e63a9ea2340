import { closestDuration, closestRatio, closestSize, sameWord } from './closest';
import type { VideoModel } from './models';

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
	/** An example, for a model that is not one of ours. */
	readonly placeholder: string;
	/** What the model takes; empty where it does not take the field. */
	readonly values: (model: VideoModel) => readonly VideoValue[];
	readonly defaultValue: (model: VideoModel) => VideoValue | undefined;
	/** How a value reads in the list. */
	readonly show: (value: VideoValue) => string;
	/**
	 * What stands in for a value that the model does not take. Without it there is nothing that means nearly the same,
	 * and the value is refused.
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

/** Every field whose values depend on the model (spec 2.8, 2.11): the form, the request, the checks and the docs follow. */
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
		values: (model) => model.sizes,
		defaultValue: (model) => model.defaultSize,
		show: String,
		closest: (size, model) => closestSize(String(size), model.sizes) ?? model.defaultSize,
	},
	{
		// Not "mode": n8n offers the values of a field of that name as actions of their own.
		key: 'qualityMode',
		apiName: 'mode',
		label: 'Quality Mode',
		help: 'Standard (std) is faster and cheaper, Pro (pro) is sharper',
		type: 'text',
		placeholder: 'e.g. std',
		values: (model) => model.modes,
		defaultValue: (model) => model.modes[0],
		show: named,
		closest: (mode, model) => sameWord(String(mode), model.modes) ?? model.modes[0],
	},
	{
		key: 'imageMode',
		apiName: 'image_mode',
		label: 'Image Mode',
		help: 'What images are for: what the video shows (reference), or its first and last frame in this order (first_last_frame)',
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
