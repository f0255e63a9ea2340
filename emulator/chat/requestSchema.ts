import type { OpenAiOptions } from '../openai/chatRequest';
import type { Message } from './messages';

/** Tool declaration (spec 2.3). */
export interface Tool {
	readonly type: 'function';
	readonly function: {
		readonly name: string;
		readonly description?: string;
		readonly parameters?: Readonly<Record<string, unknown>>;
	};
}

/** Body of a chat request (spec 2.1). */
export interface ChatBody {
	readonly messages: readonly Message[];
	readonly app_code?: string;
	readonly model?: string;
	readonly session_id?: string;
	readonly temperature?: number;
	readonly top_p?: number;
	readonly frequency_penalty?: number;
	readonly presence_penalty?: number;
	readonly stream?: boolean;
	readonly stream_options?: { readonly include_usage?: boolean };
	readonly stop?: readonly string[];
	readonly tool_choice?: 'auto' | 'none' | 'required';
	readonly tools?: readonly Tool[];
	readonly response_format?: { readonly type: 'json_object' | 'text' };
	readonly thinking?: { readonly type: 'enabled' | 'disabled' };
	readonly reasoning_effort?: string;
	/** What a request of the third-party schema asks for, with the option that accepts such requests. */
	readonly openai?: OpenAiOptions;
}

const TEXT = { type: 'string' };
const NOT_EMPTY = { type: 'string', pattern: '\\S' };
const PENALTY = { type: 'number', minimum: -2, maximum: 2 };
const typeIn = (...values: string[]) => ({
	type: 'object',
	required: ['type'],
	properties: { type: { enum: values } },
});

const PART = {
	type: 'object',
	required: ['type'],
	discriminator: { propertyName: 'type' },
	oneOf: [
		{ properties: { type: { const: 'text' }, text: TEXT }, required: ['text'] },
		{
			properties: {
				type: { const: 'image_url' },
				image_url: { type: 'object', required: ['url'], properties: { url: TEXT } },
			},
			required: ['image_url'],
		},
	],
};

const TOOL_CALL = {
	type: 'object',
	required: ['id', 'type', 'function'],
	properties: {
		id: NOT_EMPTY,
		type: { const: 'function' },
		function: {
			type: 'object',
			required: ['name', 'arguments'],
			properties: { name: NOT_EMPTY, arguments: TEXT },
		},
	},
};

const MESSAGE = {
	type: 'object',
	required: ['role'],
	properties: {
		role: { enum: ['system', 'user', 'assistant', 'tool'] },
		content: { type: ['string', 'array', 'null'], items: PART },
		tool_calls: { type: ['array', 'null'], items: TOOL_CALL },
		tool_call_id: { type: ['string', 'null'] },
	},
};

const TOOL = {
	type: 'object',
	required: ['type', 'function'],
	properties: {
		type: { const: 'function' },
		function: {
			type: 'object',
			required: ['name'],
			properties: {
				name: NOT_EMPTY,
				description: TEXT,
				parameters: {
					type: 'object',
					properties: { type: { const: 'object' } },
					allOf: [{ $ref: 'http://json-schema.org/draft-07/schema#' }],
				},
			},
		},
	},
};

/** JSON schema of {@link ChatBody}; unknown fields are ignored. */
export const CHAT_SCHEMA = {
	type: 'object',
	required: ['messages'],
	properties: {
		messages: { type: 'array', minItems: 1, items: MESSAGE },
		app_code: TEXT,
		model: TEXT,
		session_id: TEXT,
		temperature: { type: 'number', minimum: 0, maximum: 1 },
		// The specification says "int" and no range; clients of the third-party schema send fractions of 1.
		top_p: { type: 'number', minimum: 0, maximum: 1 },
		frequency_penalty: PENALTY,
		presence_penalty: PENALTY,
		stream: { type: 'boolean' },
		stream_options: { type: 'object', properties: { include_usage: { type: 'boolean' } } },
		stop: { type: 'array', maxItems: 4, items: TEXT },
		tool_choice: { type: 'string', enum: ['auto', 'none', 'required'] },
		tools: { type: 'array', items: TOOL },
		// Clients of the third-party schema send `text` for the default.
		response_format: typeIn('json_object', 'text'),
		thinking: typeIn('enabled', 'disabled'),
		reasoning_effort: TEXT,
	},
};
