import { InputError } from '../errors';
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../json';
import { checkTools } from './tools';
import type { ChatRequest } from './types';

interface FieldBase {
	/** Parameter name in the editor. */
	readonly key: string;
	/** Field name in the request (spec 2.1). */
	readonly wire: string;
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
	/** `wire` is what the choice sends; a choice without it sends nothing. */
	readonly choices: readonly {
		readonly value: string;
		readonly label: string;
		readonly help: string;
		readonly wire?: JsonValue;
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
		wire: 'frequency_penalty',
		label: 'Frequency Penalty',
		help: 'Larger values make the model repeat itself less',
		type: 'number',
		default: 0,
		min: -2,
		max: 2,
	},
	{
		key: 'presencePenalty',
		wire: 'presence_penalty',
		label: 'Presence Penalty',
		help: 'Larger values make the model turn to new subjects',
		type: 'number',
		default: 0,
		min: -2,
		max: 2,
	},
	{
		key: 'reasoningEffort',
		wire: 'reasoning_effort',
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
		wire: 'response_format',
		label: 'Response Format',
		help: 'What the reply is written in',
		type: 'choice',
		default: 'json_object',
		choices: [
			{
				value: 'json_object',
				label: 'JSON',
				help: 'The reply is JSON, and is parsed into the field json. Ask for JSON in the prompt, too.',
				wire: { type: 'json_object' },
			},
			{ value: 'text', label: 'Text', help: 'The reply is plain text' },
		],
	},
	{
		key: 'stop',
		wire: 'stop',
		label: 'Stop Words',
		help: 'The reply ends where one of them would appear. At most 4.',
		type: 'texts',
		max: 4,
		placeholder: 'e.g. END',
		addLabel: 'Add Stop Word',
	},
	{
		key: 'temperature',
		wire: 'temperature',
		label: 'Temperature',
		help: 'Higher is more creative, lower is more rigorous. An application has its own.',
		type: 'number',
		default: 0.7,
		min: 0,
		max: 1,
	},
	{
		key: 'thinking',
		wire: 'thinking',
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
				wire: { type: 'enabled' },
			},
			{
				value: 'disabled',
				label: 'Off',
				help: 'The model answers straight away',
				wire: { type: 'disabled' },
			},
		],
	},
	{
		key: 'toolChoice',
		wire: 'tool_choice',
		label: 'Tool Choice',
		help: 'Whether the model may ask for the tools',
		type: 'choice',
		default: 'auto',
		choices: [
			{ value: 'auto', label: 'Auto', help: 'The model decides', wire: 'auto' },
			{
				value: 'none',
				label: 'None',
				help: 'The model must not ask for a tool',
				wire: 'none',
			},
			{
				value: 'required',
				label: 'Required',
				help: 'The model must ask for at least one tool',
				wire: 'required',
			},
		],
	},
	{
		key: 'tools',
		wire: 'tools',
		label: 'Tools',
		help: 'Functions that the model may ask for, as a JSON list of declarations. What it asks for comes out as tool_calls; Agent with Tools also runs them.',
		type: 'json',
		default: '[]',
		read: (value, label) => checkTools(value, label) as unknown as JsonValue,
	},
	{
		key: 'topP',
		wire: 'top_p',
		label: 'Top P',
		help: 'Share of the likeliest words that the model chooses from',
		type: 'number',
		default: 1,
		min: 0,
	},
];

/** Fields that the node itself decides on. */
const RESERVED = ['messages', 'stream', 'stream_options'];

/**
 * The request fields for the options that were added in the editor, by the keys of CHAT_FIELDS.
 *
 * @throws InputError that names the field whose value the service would refuse.
 */
export function chatFields(options: Readonly<Record<string, unknown>>): JsonObject {
	const fields: JsonObject = {};
	for (const field of CHAT_FIELDS) {
		const value = options[field.key];
		if (value === undefined || value === null) continue;

		const wire = readField(field, value);
		if (wire !== undefined) fields[field.wire] = wire;
	}
	return fields;
}

/**
 * Further request fields, entered as JSON: what the service takes beyond this table.
 *
 * @throws InputError when it is not a JSON object, or holds a field that the node decides on.
 */
export function extraFields(value: unknown, label = 'Extra Body Fields'): JsonObject {
	const fields = readJson(value, label);
	if (!isJsonObject(fields)) {
		throw new InputError(
			label,
			'is not a JSON object',
			'Enter fields and values, e.g. { "seed": 1 }',
		);
	}
	const reserved = RESERVED.find((name) => Object.hasOwn(fields, name));
	if (reserved !== undefined) {
		throw new InputError(
			label,
			`holds "${reserved}"`,
			'Leave it out: other fields of this node set it',
		);
	}
	return fields;
}

/**
 * The value that a JSON field holds: a text to parse, or what an expression gives.
 *
 * @throws InputError when the text is not JSON.
 */
export function readJson(value: unknown, label: string): JsonValue {
	if (typeof value !== 'string') return value as JsonValue;

	const parsed = parseJson(value);
	if (parsed === undefined) {
		throw new InputError(label, 'is not valid JSON', 'Check quotes, commas and brackets');
	}
	return parsed;
}

/** Whether the reply to this request is to be JSON (spec 2.1). */
export function isJsonMode({ response_format: format }: ChatRequest): boolean {
	return isJsonObject(format) && format['type'] === 'json_object';
}

function readField(field: ChatField, value: unknown): JsonValue | undefined {
	switch (field.type) {
		case 'number':
			return readNumber(field, value);
		case 'choice':
			return readChoice(field, value);
		case 'suggested':
			return readSuggested(value);
		case 'texts':
			return readTexts(field, value);
		case 'json':
			return field.read(readJson(value, field.label), field.label);
	}
}

function readNumber(
	{ label, min = -Infinity, max = Infinity }: NumberField,
	value: unknown,
): number {
	const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
	if (typeof number === 'number' && number >= min && number <= max) return number;

	const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
	throw new InputError(label, `is ${String(value)}`, `Enter a number ${range}`);
}

function readChoice({ label, choices }: ChoiceField, value: unknown): JsonValue | undefined {
	const chosen = choices.find((choice) => choice.value === value);
	if (chosen !== undefined) return chosen.wire;

	const values = choices.map((choice) => choice.value).join(', ');
	throw new InputError(label, `is ${String(value)}`, `Choose one of: ${values}`);
}

/** Such a field comes from a list or is typed; the editor keeps both in one object. */
function readSuggested(value: unknown): string | undefined {
	const text = isJsonObject(value) ? value['value'] : value;
	return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

function readTexts({ label, max }: TextsField, value: unknown): string[] | undefined {
	const texts = [value]
		.flat()
		.filter((text): text is string => typeof text === 'string' && text !== '');
	if (texts.length > max) {
		throw new InputError(label, `has ${texts.length} entries`, `Keep at most ${max}`);
	}
	return texts.length === 0 ? undefined : texts;
}
