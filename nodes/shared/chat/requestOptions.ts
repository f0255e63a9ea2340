import { readJson, checkTools } from '../../client/chat/requestFields';
import type { ChatRequest } from '../../client/chat/types';
import { rejectMistakes } from '../../client/errors';
import { asJson, type JsonObject, withoutUndefined } from '../../client/json';
import { shown } from '../../client/values';
import { property } from '../form/fields';
import { extraBodyField, timeoutField } from '../form/callOptions';
import { choice, field, json, number, optional, type ValuesOf } from '../form/form';
import type { Service } from '../run/host';
import { type bindingFields, reasoningEffortField } from './properties';

const MAX_STOP_WORDS = 4;
const PENALTY = { default: 0, min: -2, max: 2 };

/** The optional request fields (spec 2.1, 8), by their names in camel case. One that is not added, or is blank, is not sent. */
const { toolChoice, responseFormat, ...common } = optional({
	temperature: number('Temperature', {
		help: 'Higher values are more creative, lower values more rigorous. Overrides the temperature of the application.',
		default: 0.7,
		max: 1,
	}),
	reasoningEffort: reasoningEffortField,
	thinking: choice('Thinking', {
		help: 'Whether the model thinks before it answers',
		default: 'disabled',
		choices: [
			['Default', 'default', 'The setting of the application or the model applies'],
			['On', 'enabled', 'The model thinks before it answers'],
			['Off', 'disabled', 'The model answers without thinking first'],
		],
	}),
	stop: field(
		property('string', 'Stop Words', {
			default: [],
			placeholder: 'e.g. END',
			help: `Generation stops when one of these words appears. At most ${MAX_STOP_WORDS}.`,
			typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Stop Word' },
		}),
		(entered) => {
			const all = [entered].flat().map((word) => shown(word ?? ''));
			const words = all.filter((word) => word !== '');
			const hint = `Enter at most ${MAX_STOP_WORDS}`;
			const mistake = [words.length > MAX_STOP_WORDS, `has ${words.length} entries`] as const;
			rejectMistakes('Stop Words', [mistake], hint);
			return words.length === 0 ? undefined : words;
		},
	),
	topP: number('Top P', {
		help: 'Nucleus sampling: only the most likely tokens up to this cumulative probability, from 0 to 1, are considered',
		default: 1,
		max: 1,
	}),
	frequencyPenalty: number('Frequency Penalty', {
		...PENALTY,
		help: 'Penalizes tokens by how often they already occur. Higher values reduce repetition.',
	}),
	presencePenalty: number('Presence Penalty', {
		...PENALTY,
		help: 'Penalizes tokens that already occur. Higher values encourage new topics.',
	}),
	toolChoice: choice('Tool Choice', {
		help: 'Whether the model may call tools',
		default: 'auto',
		choices: [
			['Auto', 'auto', 'The model decides'],
			['None', 'none', 'The model must not call a tool'],
			['Required', 'required', 'The model must call at least one tool'],
		],
	}),
	responseFormat: choice('Response Format', {
		help: 'Format of the reply',
		default: 'json_object',
		choices: [
			['JSON', 'json_object', 'The reply is JSON. Also ask for JSON in the prompt.'],
			['Text', 'text', 'The reply is text'],
		],
	}),
});

/** Super Assistant has its own tools. */
export const assistantRequestFields = common;
/** The tools of the chat model are those of its agent, which also reads the reply. */
export const modelRequestFields = { ...common, responseFormat };
/** Agent with Tools declares its tools in fields of its own. */
export const agentRequestFields = { ...common, toolChoice };

/** The optional request fields of Chat Completion. */
export const requestFields = {
	...agentRequestFields,
	tools: json(
		'Tools',
		{
			default: '[]',
			help: 'Functions that the model may call, as a JSON list of tool declarations. The calls are output as tool_calls; the Agent with Tools node also runs them.',
		},
		(entered) => {
			const tools = checkTools(readJson(entered, 'Tools'), 'Tools');
			return tools.length === 0 ? undefined : tools.map(asJson);
		},
	),
};

/** How a chat call is made, apart from the fields of the request. */
export const callFields = {
	// Longer than the longest call that the service allows (600 s, spec 8).
	timeout: timeoutField(620),
	extraBody: extraBodyField(),
};

type RequestValues = Partial<ValuesOf<typeof requestFields & typeof modelRequestFields>> & {
	readonly extraBody: JsonObject;
};

/** The request fields that options give (spec 2.1), with the extra body fields. */
export function optionalFields(values: RequestValues): JsonObject {
	const { extraBody, thinking, responseFormat, ...options } = values;
	const named = Object.keys(requestFields).map((name) => [
		name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
		(options as JsonObject)[name],
	]);
	const typed = (type: string | undefined, none: string) =>
		type === undefined || type === none ? undefined : { type };
	return {
		...withoutUndefined({
			...(Object.fromEntries(named) as JsonObject),
			thinking: typed(thinking, 'default'),
			response_format: typed(responseFormat, 'text'),
		}),
		...extraBody,
	};
}

type Binding = ValuesOf<typeof bindingFields>;

/**
 * The fields of a chat request that a form gives, without its messages: application, model and options.
 *
 * @throws InputError as `appField`.
 */
export function boundFields(
	values: Binding & { readonly options: RequestValues },
	service: Service,
): Omit<ChatRequest, 'messages'> {
	const { answeredBy, appCode, model, options } = values;
	return {
		...(answeredBy === 'app' ? appField(appCode, service) : {}),
		...(model === '' ? {} : { model }),
		...optionalFields(options),
	};
}

const NO_APP_CODE = 'Enter it, or switch on API Key Ends With an App Code in the credential';
const TWO_APP_CODES = 'is entered, but the API Key of the credential ends with an app code as well';

/**
 * The app code as a field of the request; none where the key ends with one. The specification does not say which of two
 * app codes the service takes, so one beside that of the key is an error.
 *
 * @throws InputError when there is none, or both.
 */
export function appField(
	entered: string,
	{ hasApp }: Service,
	label = 'App Code',
): Pick<ChatRequest, 'app_code'> {
	const appCode = entered.trim();
	rejectMistakes(label, [
		[appCode === '' && !hasApp, 'is empty', NO_APP_CODE],
		[
			appCode !== '' && hasApp,
			TWO_APP_CODES,
			`Leave ${label} empty, or use a credential whose key has none`,
		],
	]);
	return appCode === '' ? {} : { app_code: appCode };
}
