import { InputError } from '../errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';

/** A function that the model may ask for (spec 2.3). */
export interface ToolDeclaration {
	readonly type: 'function';
	readonly function: {
		readonly name: string;
		readonly description?: string;
		/** A JSON schema with `type: object`. */
		readonly parameters?: JsonObject;
	};
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A list of tool declarations, checked (spec 2.3).
 *
 * @param label Name of the field that it was entered in.
 * @throws InputError that names the entry and what is wrong with it.
 */
export function checkTools(value: JsonValue, label: string): ToolDeclaration[] {
	if (!Array.isArray(value)) {
		throw new InputError(
			label,
			'is not a list',
			'Enter a JSON list: [{ "type": "function", "function": { "name": … } }]',
		);
	}
	const names = new Set<string>();
	for (const [index, tool] of value.entries()) {
		const entry = `${label}: entry ${index + 1}`;
		const declared = isJsonObject(tool) ? tool['function'] : undefined;
		if (!isJsonObject(tool) || tool['type'] !== 'function' || !isJsonObject(declared)) {
			throw new InputError(
				entry,
				'is no tool declaration',
				'Write it as { "type": "function", "function": { "name": … } }',
			);
		}
		const { name, parameters } = declared;
		if (typeof name !== 'string' || !NAME.test(name)) {
			throw new InputError(
				entry,
				'has no usable name',
				'Use letters, digits, _ and -, at most 64 characters',
			);
		}
		if (names.has(name)) {
			throw new InputError(
				entry,
				`repeats the name ${name}`,
				'Give each tool a name of its own',
			);
		}
		if (
			parameters !== undefined &&
			(!isJsonObject(parameters) || parameters['type'] !== 'object')
		) {
			throw new InputError(
				entry,
				'has parameters that are no object schema',
				'Start them with { "type": "object", "properties": … }',
			);
		}
		names.add(name);
	}
	return value as unknown as ToolDeclaration[];
}
