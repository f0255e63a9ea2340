import { InputError } from '../errors';
import { fromJson, isJsonObject, type JsonObject, type JsonValue } from '../json';

/** Declaration of a function that the model may call (spec 2.3). */
export interface ToolDeclaration {
	readonly type: 'function';
	readonly function: {
		readonly name: string;
		readonly description?: string;
		/** JSON schema of the arguments, with `type: object`. */
		readonly parameters?: JsonObject;
	};
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Validates a list of tool declarations (spec 2.3).
 *
 * @param label Label of the field that contains the list.
 * @param findProblem Why a schema cannot be used. Needed where the arguments are validated against it: the validator is
 *   large, and only that node bundles it.
 * @throws InputError with the number of the invalid entry and the reason.
 */
export function checkTools(
	value: JsonValue,
	label: string,
	findProblem: (schema: JsonObject) => string | undefined = () => undefined,
): ToolDeclaration[] {
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
				'is not a tool declaration',
				'Write it as { "type": "function", "function": { "name": … } }',
			);
		}
		const { name, parameters } = declared;
		if (typeof name !== 'string' || !NAME.test(name)) {
			throw new InputError(entry, 'has no valid name', nameHint(name));
		}
		if (names.has(name)) {
			throw new InputError(entry, `repeats the name ${name}`, 'Give each tool a unique name');
		}
		const named = `${entry} (${name})`;
		if (
			parameters !== undefined &&
			(!isJsonObject(parameters) || parameters['type'] !== 'object')
		) {
			throw new InputError(
				named,
				'has parameters that are not an object schema',
				'Start them with { "type": "object", "properties": … }',
			);
		}
		const problem = parameters === undefined ? undefined : findProblem(parameters);
		if (problem !== undefined) {
			throw new InputError(
				named,
				`has a schema that cannot be used: ${problem}`,
				'Correct the JSON schema of the parameters',
			);
		}
		names.add(name);
	}
	return fromJson<ToolDeclaration[]>(value);
}

function nameHint(name: JsonValue | undefined): string {
	const valid = (typeof name === 'string' ? name : '')
		.replaceAll(/[^A-Za-z0-9_-]+/g, '_')
		.slice(0, 64)
		.replaceAll(/^_+|_+$/g, '');
	return valid === '' ? 'Use letters, digits, _ and -, at most 64 characters' : `Use ${valid}`;
}
