import { InputError } from '../errors';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../json';
import {
	CHAT_FIELDS,
	type ChatField,
	type ChoiceField,
	type NumberField,
	type TextsField,
} from './fields';
import type { ChatRequest } from './types';

/** Fields that the node itself decides on. */
const RESERVED = ['messages', 'stream', 'stream_options'];

/**
 * The request fields for the options that were added in the editor, by the keys of CHAT_FIELDS.
 *
 * @throws InputError that names the field whose value the service would refuse.
 */
export function chatFields(options: Readonly<Record<string, unknown>>): JsonObject {
	const fields: JsonObject = {};
	for (const field of CHAT_FIELDS) {
		const value = options[field.key];
		if (value === undefined || value === null) continue;

		const sent = readField(field, value);
		if (sent !== undefined) fields[field.apiName] = sent;
	}
	return fields;
}

/**
 * Further request fields, entered as JSON: what the service takes beyond this table.
 *
 * @throws InputError when it is not a JSON object, or holds a field that the node decides on.
 */
export function extraFields(value: unknown, label = 'Extra Body Fields'): JsonObject {
	const fields = readJson(value, label);
	if (!isJsonObject(fields)) {
		throw new InputError(
			label,
			'is not a JSON object',
			'Enter fields and values, e.g. { "seed": 1 }',
		);
	}
	const reserved = RESERVED.find((name) => Object.hasOwn(fields, name));
	if (reserved !== undefined) {
		throw new InputError(
			label,
			`holds "${reserved}"`,
			'Leave it out: other fields of this node set it',
		);
	}
	return fields;
}

/**
 * The value that a JSON field holds: a text to parse, or what an expression gives.
 *
 * @throws InputError when the text is not JSON.
 */
export function readJson(value: unknown, label: string): JsonValue {
	if (typeof value !== 'string') return value as JsonValue;

	const parsed = parseJson(value);
	if (parsed === undefined) {
		throw new InputError(label, 'is not valid JSON', 'Check quotes, commas and brackets');
	}
	return parsed;
}

/** Whether the reply to this request is to be JSON (spec 2.1). */
export function isJsonMode({ response_format: format }: ChatRequest): boolean {
	return isJsonObject(format) && format['type'] === 'json_object';
}

function readField(field: ChatField, value: unknown): JsonValue | undefined {
	switch (field.type) {
		case 'number':
			return readNumber(field, value);
		case 'choice':
			return readChoice(field, value);
		case 'suggested':
			return readSuggested(value);
		case 'texts':
			return readTexts(field, value);
		case 'json':
			return field.read(readJson(value, field.label), field.label);
	}
}

function readNumber(
	{ label, min = -Infinity, max = Infinity }: NumberField,
	value: unknown,
): number {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	if (typeof number === 'number' && number >= min && number <= max) return number;

	const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
	throw new InputError(label, `is ${String(value)}`, `Enter a number ${range}`);
}

function readChoice({ label, choices }: ChoiceField, value: unknown): JsonValue | undefined {
	const chosen = choices.find((choice) => choice.value === value);
	if (chosen !== undefined) return chosen.apiValue;

	const values = choices.map((choice) => choice.value).join(', ');
	throw new InputError(label, `is ${String(value)}`, `Choose one of: ${values}`);
}

/** Such a field comes from a list or is typed; the editor keeps both in one object. */
function readSuggested(value: unknown): string | undefined {
	const text = isJsonObject(value) ? value['value'] : value;
	return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

function readTexts({ label, max }: TextsField, value: unknown): string[] | undefined {
	const texts = [value]
		.flat()
		.filter((text): text is string => typeof text === 'string' && text !== '');
	if (texts.length > max) {
		throw new InputError(label, `has ${texts.length} entries`, `Keep at most ${max}`);
	}
	return texts.length === 0 ? undefined : texts;
}
