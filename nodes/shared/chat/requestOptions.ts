import type { INodeProperties } from 'n8n-workflow';

import { readJson, checkTools } from '../../client/chat/requestFields';

import { InputError } from '../../client/errors';
import { asJson, isJsonObject, type JsonObject, type JsonValue } from '../../client/json';
import { isBlank, readChoice, shown } from '../../client/values';
import { jsonField, resourceLocator, textField } from '../form/fields';
import {
	choiceOption,
	type FormOption,
	numberOption,
	option,
	optionTable,
	propertiesOf,
} from '../form/options';
import type { NodeContext } from '../run/nodeContext';
import type { Answerer } from '../../client/chat/sendChat';
import type { ChatRequest } from '../../client/chat/types';
import { readExtraBody } from './responseFormat';
import { chatRetryGroup } from '../form/callOptions';
import type { Service } from '../run/host';
import { readModel, readText } from '../run/parameters';

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
		...readExtraBody(context, item),
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

/**
 * The fields of a chat request that the form of an item gives, without its messages: application, model and options.
 *
 * @throws InputError that names the field with a value the service would reject.
 */
export function readRequestFields(
	context: NodeContext,
	itemIndex: number,
	service: Service,
): Omit<ChatRequest, 'messages'> {
	const isApp = isAnsweredByApp(context, itemIndex);
	const model = readModel(context, itemIndex, isApp ? 'options.appModel' : 'model');
	return {
		...(isApp ? appField(readText(context, 'appCode', itemIndex).trim(), service) : {}),
		...(model === '' ? {} : { model }),
		...readChatFields(context, itemIndex),
	};
}

/**
 * What the item is sent to in turn when Model or App Code cannot take it: more codes of the same kind.
 *
 * @throws InputError as `appField`.
 */
export function readFallbacks(
	context: NodeContext,
	itemIndex: number,
	service: Service,
): readonly Answerer[] {
	const isApp = isAnsweredByApp(context, itemIndex);
	return chatRetryGroup.options.fallbacks
		.read(context, itemIndex)
		.map((code) => (isApp ? appField(code, service) : { model: code }));
}

function isAnsweredByApp(context: NodeContext, itemIndex: number): boolean {
	const chosen: unknown = context.getNodeParameter('answeredBy', itemIndex, 'model');
	return readChoice(chosen, 'Answered By', ['model', 'app']) === 'app';
}

/**
 * The app code as a field of the request; none where the key ends with one. The specification does not say which of two
 * app codes the service takes, so one beside that of the key is an error.
 *
 * @throws InputError when there is none, or both.
 */
export function appField(appCode: string, { hasApp }: Service): Pick<ChatRequest, 'app_code'> {
	if (appCode === '' && !hasApp)
		throw new InputError('App Code', 'is empty', 'Enter it, or use a key that ends with it');
	if (appCode !== '' && hasApp) {
		throw new InputError(
			'App Code',
			'is entered, but the API Key of the credential ends with an app code as well',
			'Leave App Code empty, or use a credential whose key has none',
		);
	}
	return appCode === '' ? {} : { app_code: appCode };
}
