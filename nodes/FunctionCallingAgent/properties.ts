import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { outputProperty } from '../shared/chat/finishReply';
import { memoryLimitsProperty, memoryProperties } from '../shared/chat/memory';
import {
	appModelProperty,
	bindingProperties,
	inputProperties,
	promptImagesProperty,
	streamingProperty,
} from '../shared/chat/properties';
import { repairAttemptsProperty, responseFormatProperties } from '../shared/chat/responseFormat';
import { schemaProperties } from '../shared/chat/schemaForm';
import { entriesField, jsonField, listField, textField } from '../shared/form/fields';
import { callProperties, readCallLimits, showOptions } from '../shared/chat/callOptions';
import { mediaProperties, readMediaDownload } from '../shared/chat/replyMedia';
import { requestProperties } from '../shared/chat/requestOptions';
import { chatRetryGroup, itemConcurrency, readRetry } from '../shared/form/callOptions';
import {
	choiceOption,
	countOption,
	optionGroup,
	optionsProperty,
	optionTable,
	readOptions,
} from '../shared/form/options';

const { maxRounds, concurrency } = optionTable({
	maxRounds: countOption('Maximum Rounds', {
		help: 'Number of replies of the model after which the conversation leaves through Stopped',
		default: 10,
	}),
	concurrency: itemConcurrency,
});

const callGroup = optionGroup('Tool Calls', 'toolCalls', {
	maxCalls: countOption('Maximum Tool Calls', {
		help: 'Total number of tool calls in a conversation',
		default: 50,
	}),
	maxRepeats: countOption('Maximum Repeated Calls', {
		help: 'How often the model may call the same tool with the same arguments',
		default: 3,
	}),
	invalidCalls: choiceOption<'tell' | 'fail'>('Invalid Tool Calls', {
		help: 'What happens when the model calls an unknown tool or passes arguments that do not match the schema',
		default: 'tell',
		choices: [
			['Return Error to Model', 'tell', 'So that it can correct the call'],
			['Fail the Node', 'fail', 'The node fails'],
		],
	}),
});

/** The options of Agent with Tools. The tools themselves are a field of their own. */
export const agentOptions: INodeProperties = optionsProperty([
	appModelProperty,
	repairAttemptsProperty,
	maxRounds.property,
	...requestProperties.filter(({ name }) => name !== 'tools'),
	callGroup.property,
	showOptions.showInChat.property,
	...mediaProperties,
	memoryLimitsProperty,
	concurrency.property,
	chatRetryGroup.property,
	...callProperties,
]);

/** The settings of a batch of conversations, read once when it begins: in later runs of the node the input items differ. */
export type AgentSettings = ReturnType<typeof readSettings>;

/**
 * The settings of a batch of conversations.
 *
 * @param item Index of its first item: n8n evaluates them for this one, and they apply to all.
 */
export function readSettings(context: IExecuteFunctions, item: number) {
	const calls = readOptions(callGroup.options, context, item);
	return {
		limits: {
			maxRounds: maxRounds.read(context, item),
			maxCalls: calls.maxCalls,
			maxRepeats: calls.maxRepeats,
		},
		/** Whether all tool calls of a round leave the node together; otherwise one at a time. */
		allAtOnce: context.getNodeParameter('runCalls', item) === 'allAtOnce',
		failOnInvalidCall: calls.invalidCalls === 'fail',
		singleOutput: isSingleOutput(context),
		stream: context.getNodeParameter('streaming', item) !== 'off',
		showReasoning: showOptions.streamReasoning.read(context, item),
		/** Whether a streaming chat shows the tool calls. */
		showTools: showOptions.showInChat.read(context, item) === 'tools',
		concurrency: concurrency.read(context, 0),
		media: readMediaDownload(context, item),
		retry: readRetry(context, item),
		...readCallLimits(context, item),
	};
}

/** Whether the calls of all tools leave through one output. */
export function isSingleOutput(context: IExecuteFunctions): boolean {
	return (
		context.getNodeParameter('toolSource', 0) === 'json' ||
		context.getNodeParameter('outputMode', 0, 'perTool') === 'single'
	);
}

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
