import { InputError, rejectMistakes } from '../errors';
import {
	fromJson,
	isJsonObject,
	objectOf,
	parseJson,
	type JsonObject,
	type JsonValue,
} from '../json';
import { oneLine, shown } from '../values';
import { stringOf } from './replyMessage';
import type { ChatRequest, ToolDeclaration } from './types';

/** Fields of a chat request that no caller may add: the client, or another field of the form, sets them. */
const RESERVED = ['messages', 'app_code', 'stream'];
const EXAMPLE = '{ "type": "function", "function": { "name": … } }';
const TOOL_HINT = `Write it as ${EXAMPLE}`;
const SCHEMA_HINT =
	'Write the parameters as { "type": "object", "properties": { "city": … }, "required": ["city"] }';
/** Keywords under which a schema may declare more properties. */
const COMBINING = ['allOf', 'anyOf', 'oneOf', 'if', '$ref', 'patternProperties'];
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const NAME_HINT = 'Use letters, digits, _ and -, at most 64 characters';

/**
 * Reads additional request fields, entered as JSON: for fields that the form does not have.
 *
 * @param names Fields that something else sets.
 * @throws InputError if the value is not a JSON object, or contains such a field.
 */
export function extraFields(value: unknown, names: readonly string[] = RESERVED): JsonObject {
	const label = 'Extra Body Fields';
	const fields = readJson(value, label);
	const hint = 'Enter fields and values, e.g. { "seed": 1 }';
	if (!isJsonObject(fields)) throw new InputError(label, 'is not a JSON object', hint);
	const reserved = names.find((name) => Object.hasOwn(fields, name));
	if (reserved === undefined) return fields;
	const remedy = `Remove it: the form sets ${names.join(', ')}`;
	throw new InputError(label, `contains "${reserved}"`, remedy);
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
export function isJsonMode({
	response_format: format,
}: {
	readonly response_format?: unknown;
}): boolean {
	return objectOf(format)['type'] === 'json_object';
}

/**
 * Validates a list of tool declarations (spec 2.3).
 *
 * @param label Label of the field that contains the list.
 * @param findProblem Why a schema cannot be used. Needed where the arguments are validated against it.
 * @throws InputError with the number of the invalid entry and the reason.
 */
export function checkTools(
	value: JsonValue,
	label: string,
	findProblem: (schema: JsonObject) => string | undefined = () => undefined,
): ToolDeclaration[] {
	if (!Array.isArray(value))
		throw new InputError(label, 'is not a list', `Enter a JSON list: [${EXAMPLE}]`);
	const names = new Set<string>();
	for (const [index, tool] of value.entries()) {
		const { type, function: declared } = objectOf(tool);
		const { name = '', description = '', parameters = { type: 'object' } } = objectOf(declared);
		const called = stringOf(name);
		const schema = isJsonObject(parameters) && parameters.type === 'object' && parameters;
		const problem = schema ? (findProblem(schema) ?? shapeProblem(schema)) : undefined;
		const unusable = `(${called}) has a schema that cannot be used: ${shown(problem)}`;
		const isTool = type === 'function' && isJsonObject(declared);
		rejectMistakes(`${label}: entry ${index + 1}`, [
			[!isTool, 'is not a tool declaration', TOOL_HINT],
			[!NAME.test(called), 'has no valid name', NAME_HINT],
			[names.has(called), `repeats the name ${called}`, 'Give each tool a unique name'],
			[typeof description !== 'string', 'has a description that is not a text', TOOL_HINT],
			[!schema, `(${called}) has parameters that are not an object schema`, SCHEMA_HINT],
			[problem !== undefined, unusable, SCHEMA_HINT],
		]);
		names.add(called);
	}
	return fromJson<ToolDeclaration[]>(value);
}

/** What the service rejects in the parameters of a tool (spec 2.3), apart from the schemas inside. */
function shapeProblem(schema: JsonObject): string | undefined {
	const { properties = {}, required = [] } = schema;
	if (!isJsonObject(properties)) return 'properties is not an object';
	if (!Array.isArray(required)) return 'required is not a list';
	if (COMBINING.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
	const unknown = required.map(shown).find((name) => !Object.hasOwn(properties, name));
	return unknown === undefined ? unknown : `required: ${oneLine(unknown)} is not in properties`;
}

/**
 * Validates that a request that forces a tool call has tools (spec 2.1).
 *
 * @throws InputError if it has none.
 */
export function checkToolChoice({ tool_choice: choice, tools = [] }: ChatRequest): void {
	if (choice !== 'required' || (Array.isArray(tools) && tools.length > 0)) return;
	throw new InputError('Tool Choice', 'is required, but there are no tools', 'Add tools');
}

/** The choice after the first round: one that requires a tool holds for that round only, or the loop would never end. */
export function laterToolChoice({ tool_choice: choice }: Partial<ChatRequest>) {
	return choice === undefined || choice === 'none' ? {} : { tool_choice: 'auto' };
}
