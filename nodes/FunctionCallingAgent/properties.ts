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

/**
 * The heading of a tool in the list, e.g. `get_weather(city, unit)`. Without a name n8n shows `Tool 1`. A schema that is
 * an expression or incomplete has no names to show.
 */
const TOOL_TITLE = `={{ ((tool) => {
	const namesOf = {
		fields: () => (tool.parameters?.parameter ?? []).map(({ name }) => name),
		schema: () => Object.keys(JSON.parse(tool.schema).properties),
		example: () => Object.keys(JSON.parse(tool.example)),
	};
	const list = () => {
		try {
			return namesOf[tool.define ?? 'fields']().join(', ');
		} catch {
			return '…';
		}
	};
	return tool.name && tool.name + '(' + list() + ')';
})($collection.item.value) }}`;

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
		description: 'Whether the model must pass this argument',
	},
	{
		displayName: 'Allowed Values',
		name: 'values',
		type: 'string',
		default: '',
		placeholder: 'e.g. celsius, fahrenheit',
		description:
			'Separated by commas, in the type of the parameter: 5, 10. Leave empty to allow any value.',
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
		description: 'What the tool does. The model decides by this text when to call it.',
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
		typeOptions: {
			multipleValues: true,
			fixedCollection: { itemTitle: '={{ $collection.item.value.name }}' },
		},
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
		description: 'Example arguments. Their types become the schema.',
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
				description: 'Add the tools one by one; each gets an output',
			},
			{
				name: 'As JSON',
				value: 'json',
				description: 'A list of tool declarations in the format of the API',
			},
		],
		default: 'form',
	},
	{
		displayName: 'Tools',
		name: 'tools',
		type: 'fixedCollection',
		typeOptions: { multipleValues: true, fixedCollection: { itemTitle: TOOL_TITLE } },
		placeholder: 'Add Tool',
		default: {},
		description:
			'Functions that the model can call. Connections belong to the position of an output: add new tools at the end, and check the connections after you remove one.',
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
		displayName: 'Tool Declarations',
		name: 'toolsJson',
		type: 'json',
		typeOptions: { rows: 6 },
		default: '[]',
		description:
			'A list of tool declarations, each with type "function" and a function with name, description and parameters',
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
				description: 'Each tool has its own output',
			},
			{
				name: 'One for All',
				value: 'single',
				description: 'All calls leave through the output Tool Calls',
			},
		],
		default: 'perTool',
		displayOptions: { show: { toolSource: ['form'] } },
	},
	{
		displayName:
			'Connect each tool output to the nodes that run the tool, and the last of them back to the input of this node. A call without a result is an error: if a branch may return no item, switch on Always Output Data on its last node.',
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
				description: 'Also works where a node of the branch loses item linking',
			},
			{
				name: 'All of a Round at Once',
				value: 'allAtOnce',
				description: 'Faster, but every node of the branch must keep item linking',
			},
		],
		default: 'oneAtATime',
	},
	{
		...streamingProperty,
		// The choice Collect is left out: a reply with tool calls is never shown in one piece.
		options: streamingProperty.options!.filter(({ name }) => name !== 'Collect'),
	},
	simplifyProperty,
	agentOptions,
];
