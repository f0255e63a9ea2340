import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { inferSchema } from '../client/chat/inferSchema';
import { readJson } from '../client/chat/readFields';
import { checkTools, type ToolDeclaration } from '../client/chat/tools';
import { InputError } from '../client/errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../client/json';

interface ParameterEntry {
	readonly name?: string;
	readonly type?: string;
	readonly description?: string;
	readonly required?: boolean;
	/** Allowed values, separated by commas. */
	readonly values?: string;
}

interface ToolEntry {
	readonly name?: string;
	readonly description?: string;
	readonly define?: keyof typeof SCHEMAS;
	readonly parameters?: { readonly parameter?: readonly ParameterEntry[] };
	readonly schema?: unknown;
	readonly example?: unknown;
}

/** How the ways to describe a tool's parameters become a JSON schema (spec 2.3). */
const SCHEMAS = {
	fields: ({ parameters }: ToolEntry) => fieldsSchema(parameters?.parameter ?? []),
	schema: ({ schema }: ToolEntry, label: string) =>
		readJson(schema ?? '{}', `${label}, its schema`),
	example: ({ example }: ToolEntry, label: string) =>
		inferSchema(readJson(example ?? '{}', `${label}, its example`)),
};

/**
 * The tools that the form or the JSON of an item declares.
 *
 * @throws InputError that names the tool and what is wrong with it.
 */
export function readTools(context: IExecuteFunctions, itemIndex: number): ToolDeclaration[] {
	const label = 'Tools';
	if (context.getNodeParameter('toolSource', itemIndex) === 'json') {
		return checkTools(
			readJson(context.getNodeParameter('toolsJson', itemIndex, '[]'), label),
			label,
		);
	}
	const entries = context.getNodeParameter('tools.tool', itemIndex, []) as readonly ToolEntry[];
	return checkTools(
		entries.map((entry, index) => declared(entry, `${label}: entry ${index + 1}`)),
		label,
	);
}

function declared(entry: ToolEntry, label: string): JsonObject {
	const { name = '', description = '', define = 'fields' } = entry;
	const parameters: JsonValue = SCHEMAS[define](entry, label);
	return {
		type: 'function',
		function: {
			name: name.trim(),
			description,
			parameters: isJsonObject(parameters) ? parameters : {},
		},
	};
}

function fieldsSchema(entries: readonly ParameterEntry[]): JsonObject {
	const properties: JsonObject = {};
	for (const { name = '', type = 'string', description = '', values = '' } of entries) {
		if (name.trim() === '') {
			throw new InputError(
				'Tools',
				'has a parameter without a name',
				'Name it, or remove it',
			);
		}
		const allowed = values
			.split(',')
			.map((value) => value.trim())
			.filter((value) => value !== '');
		properties[name.trim()] = {
			type,
			...(description === '' ? {} : { description }),
			...(allowed.length === 0 ? {} : { enum: allowed }),
		};
	}
	const required = entries.flatMap(({ name = '', required: needed }) =>
		needed === false ? [] : [name.trim()],
	);
	return { type: 'object', properties, required };
}

const EXAMPLE_SCHEMA =
	'{\n  "type": "object",\n  "properties": {\n    "city": { "type": "string" }\n  },\n  "required": ["city"]\n}';

/** In the order of use, not of the alphabet: a person fills them from top to bottom. */
const PARAMETER_FIELDS: INodeProperties[] = [
	{
		displayName: 'Name',
		name: 'name',
		type: 'string',
		default: '',
		placeholder: 'e.g. city',
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'options',
		options: [
			{ name: 'Array', value: 'array' },
			{ name: 'Boolean', value: 'boolean' },
			{ name: 'Integer', value: 'integer' },
			{ name: 'Number', value: 'number' },
			{ name: 'Object', value: 'object' },
			{ name: 'String', value: 'string' },
		],
		default: 'string',
	},
	{
		displayName: 'Description',
		name: 'description',
		type: 'string',
		default: '',
		placeholder: 'e.g. Name of the city',
	},
	{
		displayName: 'Required',
		name: 'required',
		type: 'boolean',
		default: true,
		description: 'Whether the model has to give it',
	},
	{
		displayName: 'Allowed Values',
		name: 'values',
		type: 'string',
		default: '',
		placeholder: 'e.g. celsius, fahrenheit',
		description: 'Separated by commas; empty allows every value',
	},
];

/** In the order of use as well. */
const TOOL_FIELDS: INodeProperties[] = [
	{
		displayName: 'Name',
		name: 'name',
		type: 'string',
		default: '',
		placeholder: 'e.g. get_weather',
		description: 'Letters, digits, _ and -',
	},
	{
		displayName: 'Description',
		name: 'description',
		type: 'string',
		typeOptions: { rows: 2 },
		default: '',
		placeholder: 'e.g. Tells the weather in a city',
		description: 'What the tool does: the model decides by this',
	},
	{
		displayName: 'Define Parameters',
		name: 'define',
		type: 'options',
		options: [
			{ name: 'From an Example', value: 'example' },
			{ name: 'Using Fields', value: 'fields' },
			{ name: 'Using JSON Schema', value: 'schema' },
		],
		default: 'fields',
	},
	{
		displayName: 'Parameters',
		name: 'parameters',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Parameter',
		default: {},
		displayOptions: { show: { define: ['fields'] } },
		options: [
			{
				displayName: 'Parameter',
				name: 'parameter',
				values: PARAMETER_FIELDS,
			},
		],
	},
	{
		displayName: 'JSON Schema',
		name: 'schema',
		type: 'json',
		default: EXAMPLE_SCHEMA,
		displayOptions: { show: { define: ['schema'] } },
	},
	{
		displayName: 'Example',
		name: 'example',
		type: 'json',
		default: '{\n  "city": "Rome"\n}',
		description: 'Arguments as the model should give them; the types are taken from here',
		displayOptions: { show: { define: ['example'] } },
	},
];

/** What the model may ask for, declared in the form or as JSON. */
export const toolProperties: INodeProperties[] = [
	{
		displayName: 'Define Tools',
		name: 'toolSource',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'In the Form',
				value: 'form',
				description: 'Tool by tool, with an output for each',
			},
			{
				name: 'As JSON',
				value: 'json',
				description: 'A list of declarations as the service takes them',
			},
		],
		default: 'form',
	},
	{
		displayName: 'Tools',
		name: 'tools',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: 'Add Tool',
		default: {},
		description:
			'Functions that the model may ask for. Add new ones at the end: the wires of the outputs go by position, so removing one from the middle rewires those after it.',
		displayOptions: { show: { toolSource: ['form'] } },
		options: [
			{
				displayName: 'Tool',
				name: 'tool',
				values: TOOL_FIELDS,
			},
		],
	},
	{
		displayName: 'Tools (JSON)',
		name: 'toolsJson',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '[]',
		description:
			'A list of declarations: type function, and function with name, description, parameters',
		displayOptions: { show: { toolSource: ['json'] } },
	},
	{
		displayName: 'Outputs for Tool Calls',
		name: 'outputMode',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'One for Each Tool',
				value: 'perTool',
				description: 'Each tool has its own branch',
			},
			{
				name: 'One for All',
				value: 'single',
				description: 'All calls leave through Tool Calls',
			},
		],
		default: 'perTool',
		displayOptions: { show: { toolSource: ['form'] } },
	},
	{
		displayName:
			'Connect each tool output to the nodes that do the work, and their end back to the input of this node. A branch that ends without any item ends the execution: switch on Always Output Data on its last node.',
		name: 'loopNotice',
		type: 'notice',
		default: '',
	},
];
