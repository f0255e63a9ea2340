import type { OpenAiOptions } from '../openai/chatRequest';
import type { Message } from './messages';
import SCHEMA from './requestSchema.json';

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

/**
 * JSON schema of {@link ChatBody}; unknown fields are ignored. Clients of the third-party schema send fractions in `top_p`, which
 * the specification calls "int", and the response format `text`.
 */
export const CHAT_SCHEMA = SCHEMA;
