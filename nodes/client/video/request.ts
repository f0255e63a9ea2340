import { InputError } from '../errors';
import { withoutUndefined } from '../json';
import type { VideoRequest } from './create';
import { VIDEO_FIELDS, type VideoField } from './fields';

/**
 * The creation request for what was entered (spec 2.8). Fields left empty are not sent: the model's default holds.
 *
 * @param entered Texts by the fields' keys in VIDEO_FIELDS.
 * @throws InputError when the model or the prompt is empty, or a duration is not a whole number of seconds.
 */
export function videoRequest(
	model: string,
	prompt: string,
	entered: Readonly<Record<string, string>>,
): VideoRequest {
	if (model === '') {
		throw new InputError('Model', 'is empty', 'Choose a model, or type its code');
	}
	if (prompt.trim() === '') {
		throw new InputError(
			'Prompt',
			'is empty',
			'Enter a text, or an expression that gives one for every item',
		);
	}
	const fields = VIDEO_FIELDS.map((field) => [
		field.wire,
		wireValue(field, entered[field.key] ?? ''),
	]);
	return withoutUndefined({ model, prompt, ...Object.fromEntries(fields) }) as VideoRequest;
}

function wireValue({ label, free }: VideoField, text: string): string | number | undefined {
	const value = text.trim();
	if (value === '') return undefined;
	if (free.type === 'string') return value;
	if (!/^\d+$/.test(value)) {
		throw new InputError(label, `is ${value}`, 'Enter a whole number of seconds, e.g. 5');
	}
	return Number(value) === 0 ? undefined : Number(value);
}
