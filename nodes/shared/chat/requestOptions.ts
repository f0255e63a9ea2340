import type { INodeProperties } from 'n8n-workflow';

import { extraFields, readJson } from '../../client/chat/readFields';
import { checkTools } from '../../client/chat/tools';
import { InputError } from '../../client/errors';
import { asJson, isJsonObject, type JsonObject, type JsonValue } from '../../client/json';
import { isBlank, shown } from '../../client/values';
import { jsonField, textField } from '../form/fields';
import {
	choiceOption,
	numberOption,
	option,
	optionTable,
	propertiesOf,
	type FormOption,
} from '../form/options';
import { resourceLocator } from '../form/resourceLocator';
import type { NodeContext } from '../run/nodeContext';

const MAX_STOP_WORDS = 4;

/** Known values of Reasoning Effort; others can be typed. */
export const REASONING_EFFORTS = [
	{ name: 'None', value: 'none' },
	{ name: 'Minimal', value: 'minimal' },
	{ name: 'Low', value: 'low' },
	{ name: 'Medium', value: 'medium' },
	{ name: 'High', value: 'high' },
	{ name: 'Extra High', value: 'xhigh' },
];

/**
 * The optional request fields (spec 2.1, 8), by their names in camel case. An option that is not added is not sent. In the
 * form in this order; the format of the reply is for a chat model, whose caller reads the reply.
 */
const { responseFormat, ...chatOptions } = optionTable({
	temperature: numberOption('Temperature', {
		help: 'Higher values are more creative, lower values more rigorous. Overrides the temperature of the application.',
		default: 0.7,
		max: 1,
	}),
	reasoningEffort: option(
		resourceLocator(
			{
				displayName: 'Reasoning Effort',
				name: 'reasoningEffort',
				description:
					'How much the model reasons before it answers. Each model supports only some of the values.',
				default: { mode: 'list', value: 'medium' },
			},
			{ searchListMethod: 'searchReasoningEffort', placeholder: 'e.g. max' },
		),
		(entered) => {
			// A plain text comes from an expression.
			const text = isJsonObject(entered) ? entered['value'] : entered;
			return shown(text ?? '').trim() || undefined;
		},
	),
	thinking: choiceOption<'default' | 'enabled' | 'disabled'>('Thinking', {
		help: 'Whether the model thinks before it answers',
		default: 'disabled',
		choices: [
			['Default', 'default', 'The setting of the application or the model applies'],
			['On', 'enabled', 'The model thinks before it answers'],
			['Off', 'disabled', 'The model answers without thinking first'],
		],
	}),
	stop: option(
		textField('Stop Words', 'stop', {
			default: [],
			placeholder: 'e.g. END',
			description: `Generation stops when one of these words appears. At most ${MAX_STOP_WORDS}.`,
			typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Stop Word' },
		}),
		(entered) => {
			const texts = [entered]
				.flat()
				.map((text) => shown(text ?? ''))
				.filter((text) => text !== '');
			const problem = `has ${texts.length} entries`;
			if (texts.length > MAX_STOP_WORDS)
				throw new InputError('Stop Words', problem, `Enter at most ${MAX_STOP_WORDS}`);
			return texts.length === 0 ? undefined : texts;
		},
	),
	topP: numberOption('Top P', {
		help: 'Nucleus sampling: only the most likely tokens up to this cumulative probability, from 0 to 1, are considered',
		default: 1,
		max: 1,
	}),
	frequencyPenalty: numberOption('Frequency Penalty', {
		help: 'Penalizes tokens by how often they already occur. Higher values reduce repetition.',
		default: 0,
		min: -2,
		max: 2,
	}),
	presencePenalty: numberOption('Presence Penalty', {
		help: 'Penalizes tokens that already occur. Higher values encourage new topics.',
		default: 0,
		min: -2,
		max: 2,
	}),
	toolChoice: choiceOption<'auto' | 'none' | 'required'>('Tool Choice', {
		help: 'Whether the model may call tools',
		default: 'auto',
		choices: [
			['Auto', 'auto', 'The model decides'],
			['None', 'none', 'The model must not call a tool'],
			['Required', 'required', 'The model must call at least one tool'],
		],
	}),
	tools: option(
		jsonField('Tools', 'tools', {
			default: '[]',
			description:
				'Functions that the model may call, as a JSON list of tool declarations. The calls are output as tool_calls; the Agent with Tools node also runs them.',
		}),
		(entered) => {
			const tools = checkTools(readJson(entered, 'Tools'), 'Tools');
			return tools.length === 0 ? undefined : tools.map(asJson);
		},
	),
	responseFormat: choiceOption<'json_object' | 'text'>('Response Format', {
		help: 'Format of the reply',
		default: 'json_object',
		choices: [
			['JSON', 'json_object', 'The reply is JSON. Also ask for JSON in the prompt.'],
			['Text', 'text', 'The reply is text'],
		],
	}),
});

/** The optional request fields as entries of the Options collection. */
export const requestProperties: INodeProperties[] = propertiesOf(chatOptions);

const { toolChoice, tools, ...assistantOptions } = chatOptions;

/** Those without tools: a super assistant has tools of its own (spec 2.7), a chat model gets them from its agent. */
export const assistantRequestProperties: INodeProperties[] = propertiesOf(assistantOptions);

/** The format of the reply as an entry of the Options collection. */
export const responseFormatOption: INodeProperties = responseFormat.property;

/** Values that stand for no field, and those that are sent as the type of an object, by option. */
const SENT: Readonly<Record<string, (type: JsonValue) => JsonValue | undefined>> = {
	thinking: (type) => (type === 'default' ? undefined : { type }),
	responseFormat: (type) => (type === 'text' ? undefined : { type }),
};

/**
 * The request fields that the options of an item give (spec 2.1), with the extra body fields. A blank value is not sent.
 *
 * @throws InputError that names the option with a value the service would reject.
 */
export function readChatFields(context: NodeContext, item: number): JsonObject {
	return {
		...toFields(chatOptions, context, item),
		...extraFields(context.getNodeParameter('options.extraBody', item, '{}')),
	};
}

/** The request field of the option Response Format (spec 2.1). */
export function readResponseFormat(context: NodeContext, item: number): JsonObject {
	return toFields({ responseFormat }, context, item);
}

function toFields(
	options: Readonly<Record<string, FormOption<JsonValue | undefined>>>,
	context: NodeContext,
	item: number,
): JsonObject {
	const fields: JsonObject = {};
	const given = context.getNodeParameter('options', item, {}) as JsonObject;
	for (const [name, { read }] of Object.entries(options)) {
		if (isBlank(given[name])) continue;
		const value = read(context, item);
		const sent = value === undefined || !SENT[name] ? value : SENT[name](value);
		const apiName = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
		if (sent !== undefined) fields[apiName] = sent;
	}
	return fields;
}
