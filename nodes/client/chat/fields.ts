import { asJson, type JsonValue } from '../json';
import { checkTools } from './tools';

interface FieldBase {
	/** Name of the node parameter. */
	readonly key: string;
	/** Name of the request field (spec 2.1). */
	readonly apiName: string;
	readonly label: string;
	readonly help: string;
}

export interface NumberField extends FieldBase {
	readonly type: 'number';
	/** Initial value when the option is added; an option that is not added is not sent. */
	readonly default: number;
	readonly min?: number;
	readonly max?: number;
	/** Whether only whole numbers are valid. */
	readonly integer?: boolean;
}

export interface ChoiceField extends FieldBase {
	readonly type: 'choice';
	readonly default: string;
	/** `apiValue` is the value in the request; a choice without it omits the field. */
	readonly choices: readonly {
		readonly value: string;
		readonly label: string;
		readonly help: string;
		readonly apiValue?: JsonValue;
	}[];
}

export interface SuggestedField extends FieldBase {
	readonly type: 'suggested';
	readonly default: string;
	readonly placeholder: string;
	/** Known values; others can be typed. */
	readonly suggestions: readonly { readonly value: string; readonly label: string }[];
}

export interface TextsField extends FieldBase {
	readonly type: 'texts';
	/** Maximum number of texts. */
	readonly max: number;
	readonly placeholder: string;
	readonly addLabel: string;
}

export interface JsonField extends FieldBase {
	readonly type: 'json';
	readonly default: string;
	/** Validates the parsed value; throws InputError. */
	readonly read: (value: JsonValue, label: string) => JsonValue;
}

export type ChatField = NumberField | ChoiceField | SuggestedField | TextsField | JsonField;

/** Optional fields of a chat request (spec 2.1, 8). The form, the validation and the request are derived from the rows. */
export const CHAT_FIELDS: readonly ChatField[] = [
	{
		key: 'frequencyPenalty',
		apiName: 'frequency_penalty',
		label: 'Frequency Penalty',
		help: 'Penalizes tokens by how often they already occur. Higher values reduce repetition.',
		type: 'number',
		default: 0,
		min: -2,
		max: 2,
	},
	{
		key: 'presencePenalty',
		apiName: 'presence_penalty',
		label: 'Presence Penalty',
		help: 'Penalizes tokens that already occur. Higher values encourage new topics.',
		type: 'number',
		default: 0,
		min: -2,
		max: 2,
	},
	{
		key: 'reasoningEffort',
		apiName: 'reasoning_effort',
		label: 'Reasoning Effort',
		help: 'How much the model reasons before it answers. Each model supports only some of the values.',
		type: 'suggested',
		default: 'medium',
		placeholder: 'e.g. max',
		suggestions: [
			{ value: 'none', label: 'None' },
			{ value: 'minimal', label: 'Minimal' },
			{ value: 'low', label: 'Low' },
			{ value: 'medium', label: 'Medium' },
			{ value: 'high', label: 'High' },
			{ value: 'xhigh', label: 'Extra High' },
		],
	},
	{
		key: 'responseFormat',
		apiName: 'response_format',
		label: 'Response Format',
		help: 'Format of the reply',
		type: 'choice',
		default: 'json_object',
		choices: [
			{
				value: 'json_object',
				label: 'JSON',
				help: 'The reply is JSON; the nodes parse it into the field json. Also ask for JSON in the prompt.',
				apiValue: { type: 'json_object' },
			},
			{ value: 'text', label: 'Text', help: 'The reply is plain text' },
		],
	},
	{
		key: 'stop',
		apiName: 'stop',
		label: 'Stop Words',
		help: 'Generation stops when one of these words appears. At most 4.',
		type: 'texts',
		max: 4,
		placeholder: 'e.g. END',
		addLabel: 'Add Stop Word',
	},
	{
		key: 'temperature',
		apiName: 'temperature',
		label: 'Temperature',
		help: 'Higher values are more creative, lower values more rigorous. Overrides the temperature of the application.',
		type: 'number',
		default: 0.7,
		min: 0,
		max: 1,
	},
	{
		key: 'thinking',
		apiName: 'thinking',
		label: 'Thinking',
		help: 'Whether the model thinks before it answers',
		type: 'choice',
		default: 'disabled',
		choices: [
			{
				value: 'default',
				label: 'Default',
				help: 'The setting of the application or the model applies',
			},
			{
				value: 'enabled',
				label: 'On',
				help: 'The model thinks before it answers',
				apiValue: { type: 'enabled' },
			},
			{
				value: 'disabled',
				label: 'Off',
				help: 'The model answers without thinking first',
				apiValue: { type: 'disabled' },
			},
		],
	},
	{
		key: 'toolChoice',
		apiName: 'tool_choice',
		label: 'Tool Choice',
		help: 'Whether the model may call tools',
		type: 'choice',
		default: 'auto',
		choices: [
			{ value: 'auto', label: 'Auto', help: 'The model decides', apiValue: 'auto' },
			{
				value: 'none',
				label: 'None',
				help: 'The model must not call a tool',
				apiValue: 'none',
			},
			{
				value: 'required',
				label: 'Required',
				help: 'The model must call at least one tool',
				apiValue: 'required',
			},
		],
	},
	{
		key: 'tools',
		apiName: 'tools',
		label: 'Tools',
		help: 'Functions that the model may call, as a JSON list of tool declarations. The calls are output as tool_calls; the Agent with Tools node also runs them.',
		type: 'json',
		default: '[]',
		read: (value, label) => checkTools(value, label).map(asJson),
	},
	{
		key: 'topP',
		apiName: 'top_p',
		label: 'Top P',
		help: 'Nucleus sampling: only the most likely tokens up to this cumulative probability are considered',
		type: 'number',
		default: 1,
		min: 0,
	},
];
