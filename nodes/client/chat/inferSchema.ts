import { isJsonObject, type JsonObject, type JsonValue } from '../json';

/** The JSON schema that an example value fits: types by what stands there, every key of an object required. */
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
