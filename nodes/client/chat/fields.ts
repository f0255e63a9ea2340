import type { JsonValue } from '../json';
import { checkTools } from './tools';

interface FieldBase {
	/** Parameter name in the editor. */
	readonly key: string;
	/** Field name in the request (spec 2.1). */
	readonly apiName: string;
	readonly label: string;
	readonly help: string;
}

export interface NumberField extends FieldBase {
	readonly type: 'number';
	/** What the field shows when it is added; a field that is not added is not sent. */
	readonly default: number;
	readonly min?: number;
	readonly max?: number;
}

export interface ChoiceField extends FieldBase {
	readonly type: 'choice';
	readonly default: string;
	/** `apiValue` is sent for the choice; a choice without it sends nothing. */
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
	/** Values that are known to occur; any other may be typed. */
	readonly suggestions: readonly { readonly value: string; readonly label: string }[];
}

export interface TextsField extends FieldBase {
	readonly type: 'texts';
	readonly max: number;
	readonly placeholder: string;
	readonly addLabel: string;
}

export interface JsonField extends FieldBase {
	readonly type: 'json';
	readonly default: string;
	readonly read: (value: JsonValue, label: string) => JsonValue;
}

export type ChatField = NumberField | ChoiceField | SuggestedField | TextsField | JsonField;

/** Every optional field of a chat request (spec 2.1, 8): the form, its limits and the request follow the rows. */
export const CHAT_FIELDS: readonly ChatField[] = [
	{
		key: 'frequencyPenalty',
		apiName: 'frequency_penalty',
		label: 'Frequency Penalty',
		help: 'Larger values make the model repeat itself less',
		type: 'number',
		default: 0,
		min: -2,
		max: 2,
	},
	{
		key: 'presencePenalty',
		apiName: 'presence_penalty',
		label: 'Presence Penalty',
		help: 'Larger values make the model turn to new subjects',
		type: 'number',
		default: 0,
		min: -2,
		max: 2,
	},
	{
		key: 'reasoningEffort',
		apiName: 'reasoning_effort',
		label: 'Reasoning Effort',
		help: 'How hard the model thinks. Each model knows only some of the values.',
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
		help: 'What the reply is written in',
		type: 'choice',
		default: 'json_object',
		choices: [
			{
				value: 'json_object',
				label: 'JSON',
				help: 'The reply is JSON, and is parsed into the field json. Ask for JSON in the prompt, too.',
				apiValue: { type: 'json_object' },
			},
			{ value: 'text', label: 'Text', help: 'The reply is plain text' },
		],
	},
	{
		key: 'stop',
		apiName: 'stop',
		label: 'Stop Words',
		help: 'The reply ends where one of them would appear. At most 4.',
		type: 'texts',
		max: 4,
		placeholder: 'e.g. END',
		addLabel: 'Add Stop Word',
	},
	{
		key: 'temperature',
		apiName: 'temperature',
		label: 'Temperature',
		help: 'Higher is more creative, lower is more rigorous. An application has its own.',
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
				label: 'As the Model Does',
				help: 'The setting of the application or of the model holds',
			},
			{
				value: 'enabled',
				label: 'On',
				help: 'The model thinks first',
				apiValue: { type: 'enabled' },
			},
			{
				value: 'disabled',
				label: 'Off',
				help: 'The model answers straight away',
				apiValue: { type: 'disabled' },
			},
		],
	},
	{
		key: 'toolChoice',
		apiName: 'tool_choice',
		label: 'Tool Choice',
		help: 'Whether the model may ask for the tools',
		type: 'choice',
		default: 'auto',
		choices: [
			{ value: 'auto', label: 'Auto', help: 'The model decides', apiValue: 'auto' },
			{
				value: 'none',
				label: 'None',
				help: 'The model must not ask for a tool',
				apiValue: 'none',
			},
			{
				value: 'required',
				label: 'Required',
				help: 'The model must ask for at least one tool',
				apiValue: 'required',
			},
		],
	},
	{
		key: 'tools',
		apiName: 'tools',
		label: 'Tools',
		help: 'Functions that the model may ask for, as a JSON list of declarations. What it asks for comes out as tool_calls; Agent with Tools also runs them.',
		type: 'json',
		default: '[]',
		read: (value, label) => checkTools(value, label) as unknown as JsonValue,
	},
	{
		key: 'topP',
		apiName: 'top_p',
		label: 'Top P',
		help: 'Share of the likeliest words that the model chooses from',
		type: 'number',
		default: 1,
		min: 0,
	},
];
