import type { VideoModel } from './models';

/** A choice that each model offers its own values for. */
export interface VideoField {
	/** Parameter name in the editor. */
	readonly key: string;
	/** Field name in the request (spec 2.8). */
	readonly wire: 'aspect_ratio' | 'duration' | 'size' | 'mode';
	readonly label: string;
	readonly help: string;
	/** How the field reads where the model is not one of ours. */
	readonly free: { readonly type: 'string' | 'number'; readonly placeholder: string };
	/** What the model takes; empty where it does not take the field. */
	readonly values: (model: VideoModel) => readonly (string | number)[];
	readonly defaultValue: (model: VideoModel) => string | number | undefined;
	/** How a value reads in the list. */
	readonly show: (value: string | number) => string;
}

const MODES: Readonly<Record<string, string>> = { std: 'Standard (720P)', pro: 'Pro (1080P)' };

/** Every field whose values depend on the model (spec 2.8, 2.11): the form, the request and the docs follow. */
export const VIDEO_FIELDS = [
	{
		key: 'aspectRatio',
		wire: 'aspect_ratio',
		label: 'Aspect Ratio',
		help: 'Width to height of the picture',
		free: { type: 'string', placeholder: 'e.g. 16:9' },
		values: (model) => model.aspectRatios,
		defaultValue: (model) => model.aspectRatios[0],
		show: String,
	},
	{
		key: 'duration',
		wire: 'duration',
		label: 'Duration',
		help: 'Length of the video in seconds',
		free: { type: 'number', placeholder: 'e.g. 5' },
		values: (model) => model.durations,
		defaultValue: (model) => model.defaultDuration,
		show: (seconds) => `${seconds} Seconds`,
	},
	{
		key: 'size',
		wire: 'size',
		label: 'Size',
		help: 'Resolution of the video',
		free: { type: 'string', placeholder: 'e.g. 720P' },
		values: (model) => model.sizes,
		defaultValue: (model) => model.defaultSize,
		show: String,
	},
	{
		key: 'mode',
		wire: 'mode',
		label: 'Quality Mode',
		help: 'Standard is faster and cheaper, Pro is sharper',
		free: { type: 'string', placeholder: 'e.g. std' },
		values: (model) => model.modes,
		defaultValue: (model) => model.modes[0],
		show: (mode) => MODES[mode] ?? String(mode),
	},
] as const satisfies readonly VideoField[];
