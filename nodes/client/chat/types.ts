import type { JsonObject, JsonValue } from '../json';

/** A part of a multimodal message (spec 2.2). */
export type ContentPart =
	| { readonly type: 'text'; readonly text: string }
	| { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A tool call requested by the model; `arguments` is a JSON string (spec 2.3). */
export interface ToolCall {
	id: string;
	readonly type: 'function';
	readonly function: { name: string; arguments: string };
}

/** Declaration of a function that the model may call (spec 2.3). */
export interface ToolDeclaration {
	readonly type: 'function';
	readonly function: {
		readonly name: string;
		readonly description?: string;
		/** JSON schema of the arguments, with `type: object`. */
		readonly parameters?: JsonObject;
	};
}

/** A message of a conversation (spec 2.2). */
export interface ChatMessage {
	readonly role: 'system' | 'user' | 'assistant' | 'tool';
	readonly content: string | readonly ContentPart[] | null;
	readonly reasoning_content?: string;
	readonly tool_calls?: readonly ToolCall[];
	readonly tool_call_id?: string;
}

/**
 * Body of a chat request (spec 2.1), without `stream`, which `completeChat` sets. `stream_options` asks for the usage by default;
 * null leaves it out.
 */
export interface ChatRequest {
	readonly messages: readonly ChatMessage[];
	readonly app_code?: string;
	readonly model?: string;
	/** Optional fields, and any other that the service accepts. */
	readonly [field: string]: unknown;
}

/** Token counts of one request, as reported by the service (spec 2.4). */
export interface Usage {
	readonly prompt_tokens: number;
	readonly completion_tokens: number;
	readonly total_tokens: number;
}

/** The assistant message of a non-streamed body or of an accumulated stream (spec 2.4). */
export interface ReplyMessage {
	role?: string;
	content: string | null;
	/** Parts of the content that are not text, see `readMessage`. */
	parts?: JsonValue[];
	reasoning_content?: string;
	tool_calls?: ToolCall[];
	[other: string]: unknown;
}

export interface Choice {
	index: number;
	message: ReplyMessage;
	finish_reason: string | null;
	usage?: unknown;
}

/** Who takes a reply. An assistant has run all tool calls of its reply itself (spec 2.7). */
export type Taker = 'reply' | 'assistant' | 'agent' | 'model';

/** How a reply ended: as a whole, at a maximum length, at a filter, by a failure, or for a reason that nobody lists. */
export type End = 'whole' | 'length' | 'filter' | 'failure' | 'unknown';

/** Finish reasons that announce tool calls. */
export const CALLS = /^(tool|function)[-_](call|use)s?$/;
/** What a finish reason says (spec 3.2), also those of other servers. Some end a reply with `stop` or nothing whatever is in it. */
const REASONS: Readonly<Record<Exclude<End, 'unknown'>, RegExp>> = {
	whole: /^(null)?$|(^|[^a-z])(stop|end|eos|complete|done)/,
	length: /^(length|max_(output_)?tokens|model_length|model_context_window_exceeded)$/,
	filter: /^(content_filter|sensitive|safety)$/,
	failure: /^(error|network_error|insufficient_system_resource)$/,
};

/** How a reply with this finish reason ended. Only one that ended as a whole is whole for certain. */
export function endOf(finishReason: unknown): End {
	const reason = String(finishReason ?? '').toLowerCase();
	const ends = Object.keys(REASONS) as (keyof typeof REASONS)[];
	if (CALLS.test(reason)) return 'whole';
	return ends.find((end) => REASONS[end].test(reason)) ?? 'unknown';
}

/** A non-streamed chat body, or a stream accumulated into the same form (spec 2.4 to 2.6). */
export interface ChatCompletion {
	choices: Choice[];
	usage?: Usage;
	model?: string;
	session_id?: string | null;
	[other: string]: unknown;
}

/** A tool progress event in the stream of a super assistant (spec 2.7). */
export interface ToolProgressEvent {
	/** `extension.type`: `tool_start`, `tool_calls`, or one that the specification does not list. */
	readonly type: string;
	readonly tool?: string;
	/** Parsed; the original text if it is not a JSON object. */
	readonly arguments?: JsonValue;
	readonly result?: string;
	readonly status?: string;
	/** Duration of the tool call as text, as sent by the service: `1.2s`. */
	readonly elapsed?: string;
	/** `extension.data` of a type that the specification does not list. */
	readonly data?: JsonValue;
	/** Milliseconds since the start of the call, see `askAssistant`. */
	readonly offset_ms?: number;
}

/** What one chunk of a stream adds: text to the first choice (spec 2.5), and tool progress (spec 2.7). */
export interface ChatDelta {
	readonly content: string;
	readonly reasoning: string;
	readonly progress: readonly ToolProgressEvent[];
}
