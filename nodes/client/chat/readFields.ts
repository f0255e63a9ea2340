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

/** Request fields that the node itself sets. */
const RESERVED = ['messages', 'stream', 'stream_options'];

/**
 * Converts the options added in the editor, by the keys of CHAT_FIELDS, to request fields (spec 2.1).
 *
 * @throws InputError if a value is not valid for its field.
 */
export function chatFields(options: Readonly<Record<string, unknown>>): JsonObject {
	const fields: JsonObject = {};
	for (const field of CHAT_FIELDS) {
		const value = options[field.key];
		if (value === undefined || value === null) continue;

		const apiValue = readField(field, value);
		if (apiValue !== undefined) fields[field.apiName] = apiValue;
	}
	return fields;
}

/**
 * Reads additional request fields, entered as JSON: for fields of the service that CHAT_FIELDS does not have.
 *
 * @throws InputError if the value is not a JSON object, or contains a field that the node itself sets.
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
			`contains "${reserved}"`,
			'Remove it: other fields of this node set it',
		);
	}
	return fields;
}

/**
 * Reads a JSON field of the editor: a string is parsed, any other value of an expression is returned unchanged.
 *
 * @throws InputError if the text is not valid JSON.
 */
export function readJson(value: unknown, label: string): JsonValue {
	if (typeof value !== 'string') return value as JsonValue;

	const parsed = parseJson(value);
	if (parsed === undefined) {
		throw new InputError(label, 'is not valid JSON', 'Check quotes, commas and brackets');
	}
	return parsed;
}

/** Whether the request asks for a JSON reply (`response_format`, spec 2.1). */
export function isJsonMode({ response_format: format }: ChatRequest): boolean {
	return isJsonObject(format) && format['type'] === 'json_object';
}

/** Validates one value and converts it to its request value; `undefined` omits the field. */
export function readField(field: ChatField, value: unknown): JsonValue | undefined {
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
	{ label, min = -Infinity, max = Infinity, integer = false }: NumberField,
	value: unknown,
): number {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	const isInRange = typeof number === 'number' && number >= min && number <= max;
	if (isInRange && (!integer || Number.isInteger(number))) return number;

	const kind = integer ? 'an integer' : 'a number';
	const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
	throw new InputError(label, `is ${String(value)}`, `Enter ${kind} ${range}`);
}

function readChoice({ label, choices }: ChoiceField, value: unknown): JsonValue | undefined {
	const chosen = choices.find((choice) => choice.value === value);
	if (chosen !== undefined) return chosen.apiValue;

	const values = choices.map((choice) => choice.value).join(', ');
	throw new InputError(label, `is ${String(value)}`, `Choose one of: ${values}`);
}

/** A resource locator: an object with mode (from list, by ID) and value; a plain string from an expression. */
function readSuggested(value: unknown): string | undefined {
	const text = isJsonObject(value) ? value['value'] : value;
	return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

function readTexts({ label, max }: TextsField, value: unknown): string[] | undefined {
	const texts = [value]
		.flat()
		.filter((text): text is string => typeof text === 'string' && text !== '');
	if (texts.length > max) {
		throw new InputError(label, `has ${texts.length} entries`, `Enter at most ${max}`);
	}
	return texts.length === 0 ? undefined : texts;
}
