import type { INodeProperties } from 'n8n-workflow';

import {
	bindingProperties,
	inputProperties,
	simplifyProperty,
	streamingProperty,
} from '../shared/chat/properties';
import { agentOptions } from './options';

const EXAMPLE_SCHEMA =
	'{\n  "type": "object",\n  "properties": {\n    "city": { "type": "string" }\n  },\n  "required": ["city"]\n}';

/** The fields of a parameter. Not sorted by name: users fill them from top to bottom. */
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

/** The fields of a tool, in the order of use as well. */
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

/** The tools that the model may call, declared in the form or as JSON. */
const toolProperties: INodeProperties[] = [
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

/** The form of Agent with Tools. */
export const agentProperties: INodeProperties[] = [
	...bindingProperties,
	...inputProperties,
	...toolProperties,
	{
		displayName: 'Run Tool Calls',
		name: 'runCalls',
		type: 'options',
		options: [
			{
				name: 'One at a Time',
				value: 'oneAtATime',
				description: 'Right through every kind of branch',
			},
			{
				name: 'All of a Round at Once',
				value: 'allAtOnce',
				description: 'Faster, where every node of the branch keeps item linking',
			},
		],
		default: 'oneAtATime',
	},
	{
		...streamingProperty,
		// A reply with tool calls is never shown in one piece, so that there is nothing to collect.
		options: streamingProperty.options!.filter(({ name }) => name !== 'Collect'),
	} as INodeProperties,
	simplifyProperty,
	agentOptions,
];
