import { schemaProblem } from '../client/chat/jsonSchema';
import { checkTools, readJson } from '../client/chat/requestFields';
import type { ToolDeclaration } from '../client/chat/types';
import { rejectMistakes } from '../client/errors';
import { isJsonObject } from '../client/json';
import {
	bindingFields,
	inputFields,
	memoryFields,
	memoryMessagesField,
	outputField,
	promptImagesField,
	replyFields,
	replyOptions,
} from '../shared/chat/properties';
import { agentRequestFields, callFields } from '../shared/chat/requestOptions';
import { chatRetryFields, concurrencyField } from '../shared/form/callOptions';
import {
	formatFields,
	readSchema,
	schemaFields,
	textOf,
	type SchemaEntry,
} from '../shared/chat/schemaForm';
import { NODES_LABEL, type ToolNodes } from '../shared/chat/toolNodes';
import { choice, count, entries, form, json, notice, options, text } from '../shared/form/form';

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

const PARAMETERS = schemaFields({
	define: ['Define Parameters', 'define'],
	entry: ['Parameter', 'parameter'],
});

/** The fields of a tool, in the order of use as well. */
const TOOL_FIELDS = {
	name: text('Name', {
		placeholder: 'e.g. get_weather',
		help: 'Letters, digits, _ and -',
	}),
	description: text('Description', {
		typeOptions: { rows: 2 },
		placeholder: 'e.g. Tells the weather in a city',
		help: 'What the tool does. The model decides by this text when to call it.',
	}),
	define: PARAMETERS.define,
	parameters: PARAMETERS.fields,
	schema: PARAMETERS.schema,
	example: PARAMETERS.example,
};

/** A tool as entered in the form. */
export interface ToolEntry extends Pick<SchemaEntry, 'define' | 'schema' | 'example'> {
	readonly name?: unknown;
	readonly description?: unknown;
	readonly parameters?: { readonly parameter?: SchemaEntry['fields'] };
}

const IN_FORM = { displayOptions: { show: { toolSource: ['form'] } } };

/** The tools that the model may call, declared in the form or as JSON. */
const toolFields = {
	toolSource: choice('Define Tools', {
		noDataExpression: true,
		choices: [
			['In the Form', 'form', 'Add the tools one by one; each gets an output'],
			['As JSON', 'json', 'A list of tool declarations in the format of the API'],
		],
		default: 'form',
	}),
	tools: entries<ToolEntry>('Tools', {
		typeOptions: { fixedCollection: { itemTitle: TOOL_TITLE } },
		help: 'Functions that the model can call. Connections belong to the position of an output: add new tools at the end, connect an error output again after that, and check the connections after you remove one.',
		...IN_FORM,
		entry: ['Tool', 'tool', TOOL_FIELDS],
	}),
	toolsJson: json('Tool Declarations', {
		typeOptions: { rows: 6 },
		default: '[]',
		help: 'A list of tool declarations, each with type "function" and a function with name, description and parameters',
		displayOptions: { show: { toolSource: ['json'] } },
	}),
	outputMode: choice('Outputs for Tool Calls', {
		noDataExpression: true,
		choices: [
			['One for Each Tool', 'perTool', 'Each tool has its own output'],
			['One for All', 'single', 'All calls leave through the output Tool Calls'],
		],
		default: 'perTool',
		...IN_FORM,
	}),
	loopNotice: notice(
		'Connect each tool output to the nodes that run the tool, and the last of them back to the input of this node. A call without a result is an error: if a branch may return no item, switch on Always Output Data on its last node.',
	),
};

/** The form of Agent with Tools. */
export const agentForm = form({
	...bindingFields,
	...inputFields,
	...toolFields,
	...memoryFields,
	...formatFields,
	images: promptImagesField,
	...replyFields,
	output: outputField('the messages, '),
	options: options({
		...replyOptions,
		maxRounds: count('Maximum Rounds', {
			help: 'Number of replies of the model after which the conversation leaves through Stopped',
			default: 10,
		}),
		maxCalls: count('Maximum Tool Calls', {
			help: 'Total number of tool calls in a conversation',
			default: 50,
		}),
		maxCallsPerRound: count('Maximum Tool Calls per Round', {
			help: 'Number of tool calls of one reply that run. The model is told that the others did not.',
			default: 8,
		}),
		runCalls: choice('Run Tool Calls', {
			choices: [
				[
					'One at a Time',
					'oneAtATime',
					'Also where a node of the branch loses item linking',
				],
				['All of a Round at Once', 'allAtOnce', 'Faster; each node must keep item linking'],
			],
			default: 'oneAtATime',
		}),
		...agentRequestFields,
		memoryMessages: memoryMessagesField,
		concurrency: concurrencyField,
		...chatRetryFields,
		...callFields,
	}),
});

/** Key in the JSON of a tool call item: which call it is. */
export const ENVELOPE = 'tool_call';

/**
 * The tool declarations of an item, from the form or as JSON.
 *
 * @param toolNodes The connected tool nodes, whose tools must have other names.
 * @throws InputError that names the tool and the problem.
 */
export function readTools(
	{ toolSource, toolsJson, tools: entries }: ReturnType<typeof agentForm.read>,
	{ nodes }: ToolNodes,
): ToolDeclaration[] {
	const isJson = toolSource === 'json';
	const label = isJson ? 'Tool Declarations' : 'Tools';
	const value = isJson
		? readJson(toolsJson, label)
		: entries.map((entry, index) => readEntry(entry, `${label}: entry ${index + 1}`));
	const tools = checkTools(value, label, schemaProblem);
	for (const { name, parameters } of tools.map((tool) => tool.function)) {
		const isTaken = Object.hasOwn(Object(parameters?.['properties']) as object, ENVELOPE);
		const problem = `has a parameter ${ENVELOPE}, which the node adds to each call itself`;
		rejectMistakes(`${label}: ${name}`, [[isTaken, problem, 'Rename the parameter']]);
		const repeat = `repeat the name ${name} of a tool of this node`;
		rejectMistakes(NODES_LABEL, [
			[Object.hasOwn(nodes, name), repeat, 'Rename one of the two'],
		]);
	}
	return tools;
}

function readEntry(entry: ToolEntry, label: string) {
	const name = textOf(entry.name);
	const fields = { ...entry, fields: entry.parameters?.parameter };
	const schema = readSchema(fields, name === '' ? label : `${label} (${name})`, 'parameter');
	const closed = entry.define === 'example' ? { additionalProperties: false } : {};
	const parameters = { ...(isJsonObject(schema) ? schema : {}), ...closed };
	return {
		type: 'function',
		function: { name, description: textOf(entry.description), parameters },
	};
}
