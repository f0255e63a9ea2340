import { InputError } from '../errors';
import { withoutUndefined } from '../json';
import { adjust, type Adjustment, type UnsupportedValues } from './normalize';
import type { VideoRequest } from './createVideo';
import { VIDEO_FIELDS, type VideoField, type VideoValue } from './fields';
import { findModel } from './models';
import { referenceFields, type Reference } from './references';
import { refuse } from './validate';

/** What was entered for one video. */
export interface EnteredVideo {
	readonly model: string;
	readonly prompt: string;
	/** Texts by the fields' keys in VIDEO_FIELDS; an empty one leaves it to the model. */
	readonly fields: Readonly<Record<string, string>>;
	readonly references: readonly Reference[];
}

/** A request that is ready to be sent. */
export interface VideoPlan {
	readonly request: VideoRequest;
	/** What is not sent as it was entered. */
	readonly adjustments: readonly Adjustment[];
}

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false };

/** How the text of a field becomes the value that is sent. */
const READERS: Readonly<
	Record<VideoField['type'], (text: string, label: string) => VideoValue | undefined>
> = {
	text: (text) => text,
	seconds(text, label) {
		if (/^\d+$/.test(text)) return Number(text) === 0 ? undefined : Number(text);
		throw new InputError(label, `is ${text}`, 'Enter a whole number of seconds, e.g. 5');
	},
	flag(text, label) {
		const flag = FLAGS[text.toLowerCase()];
		if (flag !== undefined) return flag;
		throw new InputError(label, `is ${text}`, 'Enter true or false');
	},
};

/**
 * The creation request for what was entered (spec 2.8), as the model takes it (spec 2.11). Fields left empty are not sent:
 * the model's default holds.
 *
 * @throws InputError when the service would refuse the request or could make no sense of it, or when a value would have
 *   to be changed and that is not wanted.
 */
export function videoRequest(entered: EnteredVideo, unsupported: UnsupportedValues): VideoPlan {
	const request = enteredRequest(entered);
	const model = findModel(request.model);
	refuse(request, model);
	return adjust(request, model, unsupported);
}

function enteredRequest({ model, prompt, fields, references }: EnteredVideo): VideoRequest {
	const files = referenceFields(references);
	const values = VIDEO_FIELDS.filter(
		// Without an image there is nothing that it could be about.
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
	return text === '' ? undefined : READERS[type](text, label);
}
