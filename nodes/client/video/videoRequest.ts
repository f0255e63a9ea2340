import { InputError } from '../errors';
import { withoutUndefined } from '../json';
import { type Adjustment, normalize, type UnsupportedValues, validate } from './normalize';
import type { VideoRequest } from './createVideo';
import { VIDEO_FIELDS, type VideoField, type VideoValue } from './fields';
import { findModel } from './models';
import { referenceFields, type Reference } from './references';
import { readNumber } from '../values';

/** The input for one video. */
export interface EnteredVideo {
	readonly model: string;
	/** Code of the row that the model behaves like; its own without one. */
	readonly like?: string;
	readonly prompt: string;
	/** Texts by the keys of VIDEO_FIELDS; an empty text stands for the model's default. */
	readonly fields: Readonly<Record<string, string>>;
	readonly references: readonly Reference[];
}

/** A request that is ready to be sent. */
export interface VideoPlan {
	readonly request: VideoRequest;
	/** Values that are not sent as they were entered. */
	readonly adjustments: readonly Adjustment[];
	/** Length of the video; undefined for one to edit, which keeps its length, and where nothing says it. */
	readonly seconds: number | undefined;
}

/** Parsers of the entered texts, by the type of the field. */
const PARSERS: Readonly<
	Record<VideoField['type'], (text: string, label: string) => VideoValue | undefined>
> = {
	text: (text) => text,
	// 0 stands for the model's default.
	seconds: (text, label) => readNumber(text, label, { min: 0, integer: true }, 5) || undefined,
	flag(text, label) {
		if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
		throw new InputError(label, `is ${text}`, 'Enter true or false');
	},
};

/**
 * Builds the creation request (spec 2.8), validated and normalized for the model (spec 2.11). An empty field is not
 * sent: the model's default applies.
 *
 * @throws InputError when the input is invalid, or when a value is unsupported and `unsupported` is `reject`.
 */
export function videoRequest(entered: EnteredVideo, unsupported: UnsupportedValues): VideoPlan {
	const { model: code, like = code } = entered;
	const model = findModel({ code, like });
	const all = enteredRequest(entered);
	validate(all, model);
	const { request, adjustments } = normalize(all, model, unsupported);
	const isEdited = model?.editsVideos === true && request.videos !== undefined;
	const seconds = isEdited ? undefined : (request.duration ?? model?.defaultDuration);
	return { request, adjustments, seconds };
}

function enteredRequest({ model, prompt, fields, references }: EnteredVideo): VideoRequest {
	const files = referenceFields(references);
	const values = VIDEO_FIELDS.filter(
		// Without images the image mode has no meaning.
		({ apiName }) => apiName !== 'image_mode' || files.images !== undefined,
	).map((field) => [field.apiName, valueOf(field, fields[field.key] ?? '')]);
	return withoutUndefined({
		model,
		prompt,
		...files,
		...Object.fromEntries(values),
	}) as VideoRequest;
}

function valueOf({ label, type }: VideoField, entered: string): VideoValue | undefined {
	const text = entered.trim();
	return text === '' ? undefined : PARSERS[type](text, label);
}
