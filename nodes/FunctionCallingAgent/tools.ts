import type { IExecuteFunctions } from 'n8n-workflow';

import { inferSchema } from '../client/chat/inferSchema';
import { readJson } from '../client/chat/readFields';
import { checkTools, type ToolDeclaration } from '../client/chat/tools';
import { schemaProblem } from '../client/chat/toolSchema';
import { InputError } from '../client/errors';
import { ENVELOPE } from './matching';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../client/json';

/** A parameter of a tool, as entered in the form or returned by expressions. */
interface ParameterEntry {
	readonly name?: unknown;
	readonly type?: string;
	readonly description?: unknown;
	readonly required?: boolean;
	/** Allowed values, separated by commas. */
	readonly values?: unknown;
}

/** A tool as entered in the form. */
interface ToolEntry {
	readonly name?: unknown;
	readonly description?: unknown;
	readonly define?: keyof typeof SCHEMAS;
	readonly parameters?: { readonly parameter?: readonly ParameterEntry[] };
	readonly schema?: unknown;
	readonly example?: unknown;
}

/** Makes the JSON schema of a tool's parameters (spec 2.3), one reader for each choice of Define Parameters. */
const SCHEMAS = {
	fields: ({ name, parameters }: ToolEntry, label: string) =>
		fieldsSchema(parameters?.parameter ?? [], `${label} (${textOf(name)})`),
	schema: ({ schema }: ToolEntry, label: string) =>
		readJson(schema ?? '{}', `${label}, its schema`),
	example: ({ example }: ToolEntry, label: string) =>
		inferSchema(readJson(example ?? '{}', `${label}, its example`)),
};

/**
 * The tool declarations of an item, from the form or as JSON.
 *
 * @throws InputError that names the tool and the problem.
 */
export function readTools(context: IExecuteFunctions, itemIndex: number): ToolDeclaration[] {
	const isJson = context.getNodeParameter('toolSource', itemIndex) === 'json';
	const label = isJson ? 'Tool Declarations' : 'Tools';
	const value = isJson
		? readJson(context.getNodeParameter('toolsJson', itemIndex, '[]'), label)
		: (context.getNodeParameter('tools.tool', itemIndex, []) as readonly ToolEntry[]).map(
				(entry, index) => toDeclaration(entry, `${label}: entry ${index + 1}`),
			);
	const tools = checkTools(value, label, schemaProblem);
	const taken = tools.find(({ function: { parameters } }) =>
		Object.hasOwn(Object(parameters?.['properties']) as object, ENVELOPE),
	);
	if (taken !== undefined) {
		throw new InputError(
			`${label}: ${taken.function.name}`,
			`has a parameter ${ENVELOPE}, which the node adds to each call itself`,
			'Rename the parameter',
		);
	}
	return tools;
}

function toDeclaration(entry: ToolEntry, label: string): JsonObject {
	const { name, description, define = 'fields' } = entry;
	const parameters: JsonValue = SCHEMAS[define](entry, label);
	return {
		type: 'function',
		function: {
			name: textOf(name),
			description: textOf(description),
			parameters: isJsonObject(parameters) ? parameters : {},
		},
	};
}

/** Types whose Allowed Values are not texts: what a value is, and whether a JSON value is one. */
const VALUE_TYPES = new Map<string, readonly [kind: string, isValid: (value: unknown) => boolean]>([
	['integer', ['an integer', Number.isInteger]],
	['number', ['a number', Number.isFinite]],
	['boolean', ['true or false', (value) => typeof value === 'boolean']],
	['object', ['an object', () => false]],
]);

function fieldsSchema(entries: readonly ParameterEntry[], tool: string): JsonObject {
	const properties = new Map<string, JsonObject>();
	for (const entry of entries) {
		const name = textOf(entry.name);
		if (name === '') {
			throw new InputError(
				tool,
				'has a parameter without a name',
				'Name the parameter, or remove it',
			);
		}
		if (properties.has(name)) {
			throw new InputError(
				tool,
				`repeats the parameter ${name}`,
				'Give each parameter of a tool a unique name',
			);
		}
		properties.set(name, parameterSchema(entry, `${tool}, parameter ${name}`));
	}
	const required = entries
		.filter((entry) => entry.required !== false)
		.map(({ name }) => textOf(name));
	return { type: 'object', properties: Object.fromEntries(properties), required };
}

function parameterSchema(
	{ type = 'string', description, values }: ParameterEntry,
	label: string,
): JsonObject {
	const allowed = textOf(values)
		.split(',')
		.map((value) => value.trim())
		.filter((value) => value !== '')
		.map((text) => readAllowed(text, type, label));
	const choice = allowed.length === 0 ? {} : { enum: allowed };
	const isList = type === 'array' && allowed.length > 0;
	return {
		type,
		...(textOf(description) === '' ? {} : { description: textOf(description) }),
		...(isList ? { items: { type: 'string', ...choice } } : choice),
	};
}

function readAllowed(text: string, type: string, label: string): JsonValue {
	const [kind, isValid] = VALUE_TYPES.get(type) ?? [];
	if (isValid === undefined) return text;
	const value = parseJson(text.toLowerCase());
	if (value !== undefined && isValid(value)) return value;
	throw new InputError(
		label,
		`allows ${text}, which is not ${kind!}`,
		'Correct Allowed Values, or leave it empty. An object can have no allowed values',
	);
}

/** The text of a field, whatever its expression returns. */
function textOf(value: unknown): string {
	return String(value ?? '').trim();
}
