import type { INodeProperties } from 'n8n-workflow';

import { outputProperty } from '../shared/chat/finishReply';
import { memoryProperties } from '../shared/chat/memory';
import {
	bindingProperties,
	inputProperties,
	promptImagesProperty,
	streamingProperty,
} from '../shared/chat/properties';
import { responseFormatProperties } from '../shared/chat/responseFormat';
import { schemaProperties } from '../shared/chat/schemaForm';
import { entriesField, jsonField, listField, textField } from '../shared/form/fields';
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

/** The fields of a tool, in the order of use as well. */
const TOOL_FIELDS: INodeProperties[] = [
	textField('Name', 'name', {
		placeholder: 'e.g. get_weather',
		description: 'Letters, digits, _ and -',
	}),
	textField('Description', 'description', {
		typeOptions: { rows: 2 },
		placeholder: 'e.g. Tells the weather in a city',
		description: 'What the tool does. The model decides by this text when to call it.',
	}),
	...schemaProperties({
		define: ['Define Parameters', 'define'],
		fields: ['Parameters', 'parameters'],
		entry: ['Parameter', 'parameter'],
		schema: ['schema', EXAMPLE_SCHEMA],
		example: [
			'example',
			'{\n  "city": "Rome"\n}',
			'Example arguments. Their types become the schema.',
		],
		required: 'Whether the model must pass this argument',
		placeholders: ['city', 'Name of the city'],
	}),
];

/** The tools that the model may call, declared in the form or as JSON. */
const toolProperties: INodeProperties[] = [
	listField('Define Tools', 'toolSource', {
		noDataExpression: true,
		choices: [
			['In the Form', 'form', 'Add the tools one by one; each gets an output'],
			['As JSON', 'json', 'A list of tool declarations in the format of the API'],
		],
		default: 'form',
	}),
	entriesField('Tools', 'tools', {
		typeOptions: { fixedCollection: { itemTitle: TOOL_TITLE } },
		description:
			'Functions that the model can call. Connections belong to the position of an output: add new tools at the end, and check the connections after you remove one.',
		displayOptions: { show: { toolSource: ['form'] } },
		entry: ['Tool', 'tool', TOOL_FIELDS],
	}),
	jsonField('Tool Declarations', 'toolsJson', {
		typeOptions: { rows: 6 },
		default: '[]',
		description:
			'A list of tool declarations, each with type "function" and a function with name, description and parameters',
		displayOptions: { show: { toolSource: ['json'] } },
	}),
	listField('Outputs for Tool Calls', 'outputMode', {
		noDataExpression: true,
		choices: [
			['One for Each Tool', 'perTool', 'Each tool has its own output'],
			['One for All', 'single', 'All calls leave through the output Tool Calls'],
		],
		default: 'perTool',
		displayOptions: { show: { toolSource: ['form'] } },
	}),
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
	...memoryProperties,
	...responseFormatProperties,
	promptImagesProperty,
	listField('Run Tool Calls', 'runCalls', {
		choices: [
			['One at a Time', 'oneAtATime', 'Also where a node of the branch loses item linking'],
			['All of a Round at Once', 'allAtOnce', 'Faster; each node must keep item linking'],
		],
		default: 'oneAtATime',
	}),
	{
		...streamingProperty,
		// The choice Collect is left out: a reply with tool calls is never shown in one piece.
		options: streamingProperty.options!.filter(({ name }) => name !== 'Collect'),
	},
	outputProperty,
	agentOptions,
];
