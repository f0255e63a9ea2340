import { InputError } from '../errors';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../json';

/** Request fields that no caller may add: the client, or another field of the form, sets them. */
const RESERVED = ['messages', 'app_code', 'stream', 'stream_options'];

/**
 * Reads additional request fields, entered as JSON: for fields that the form does not have.
 *
 * @param reservedHint What to do about a field that something else sets.
 * @throws InputError if the value is not a JSON object, or contains such a field.
 */
export function extraFields(value: unknown, reservedHint = 'Remove it'): JsonObject {
	const label = 'Extra Body Fields';
	const fields = readJson(value, label);
	const hint = 'Enter fields and values, e.g. { "seed": 1 }';
	if (!isJsonObject(fields)) throw new InputError(label, 'is not a JSON object', hint);
	const reserved = RESERVED.find((name) => Object.hasOwn(fields, name));
	if (reserved === undefined) return fields;
	throw new InputError(label, `contains "${reserved}"`, reservedHint);
}

/**
 * Reads a JSON field of the editor: a string is parsed, any other value of an expression is returned unchanged.
 *
 * @throws InputError if the text is not valid JSON.
 */
export function readJson(value: unknown, label: string): JsonValue {
	if (typeof value !== 'string') return value as JsonValue;

	const parsed = parseJson(value);
	if (parsed !== undefined) return parsed;
	throw new InputError(label, 'is not valid JSON', 'Check quotes, commas and brackets');
}

/** Whether the fields of a request ask for a JSON reply (`response_format`, spec 2.1). */
export function isJsonMode({ response_format: format }: JsonObject): boolean {
	return isJsonObject(format) && format['type'] === 'json_object';
}
