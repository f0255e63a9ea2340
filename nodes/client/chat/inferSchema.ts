import { isJsonObject, type JsonObject, type JsonValue } from '../json';

/** Infers a JSON schema from an example value. Every key of an object is required; null allows any type. */
export function inferSchema(example: JsonValue): JsonObject {
	if (Array.isArray(example)) {
		const [first] = example;
		return first === undefined
			? { type: 'array' }
			: { type: 'array', items: inferSchema(first) };
	}
	if (isJsonObject(example)) {
		const entries = Object.entries(example);
		return {
			type: 'object',
			properties: Object.fromEntries(
				entries.map(([key, value]) => [key, inferSchema(value ?? null)]),
			),
			required: entries.map(([key]) => key),
		};
	}
	if (example === null) return {};
	if (typeof example === 'number')
		return { type: Number.isInteger(example) ? 'integer' : 'number' };
	return { type: typeof example };
}
