import type { ToolCall } from './messages';

/** Tokens by text length (spec 2.4). */
export interface Usage {
	readonly prompt_tokens: number;
	readonly completion_tokens: number;
	readonly total_tokens: number;
}

/** What an application adds to an answer (spec 2.6). */
export interface Extras {
	readonly knowledge_base?: { readonly search_hit: boolean; readonly first_similarity: number };
	readonly suggested_questions?: readonly string[];
	readonly agent?: {
		readonly status: string;
		readonly chain: readonly {
			readonly plugin_name: string;
			readonly thought: string;
			readonly plugin_input: Readonly<Record<string, unknown>>;
		}[];
		readonly need_show_plugin: boolean;
	};
}

/** A tool that a super assistant has run (spec 2.7). */
export interface Step {
	readonly id: string;
	readonly tool: string;
	readonly arguments: Readonly<Record<string, unknown>>;
	readonly result: string;
	readonly tookMs: number;
	/** Whether the call's time was over before the tool was done. */
	readonly cut: boolean;
}

/** An answer, before it is written as one body or as a stream. */
export interface Reply {
	readonly id: string;
	readonly traceId: string;
	/** Seconds since 1970. */
	readonly created: number;
	readonly model: string;
	readonly reasoning?: string;
	/** Null when the model asks for tools. */
	readonly content: string | null;
	readonly toolCalls: readonly ToolCall[];
	readonly usage: Usage;
	readonly extras: Extras;
	/** Super assistants only. */
	readonly session?: { readonly id: string; readonly steps: readonly Step[] };
}

/** Why the model stopped (spec 3.2). */
export function finishReason({ toolCalls }: Reply): 'stop' | 'tool_calls' {
	return toolCalls.length > 0 ? 'tool_calls' : 'stop';
}
