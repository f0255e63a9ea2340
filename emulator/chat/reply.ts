import type { ScriptedAnswer } from '../script/script';
import type { MessageToolCall } from './messages';

/** Token counts (spec 2.4). */
export type TokenUsage = Readonly<
	Record<'prompt_tokens' | 'completion_tokens' | 'total_tokens', number>
>;

/** Extra response fields of an application: `knowledge_base`, `suggested_questions`, `agent` (spec 2.6). */
export type Extras = Readonly<Record<string, unknown>>;

/** Tool run by a super assistant (spec 2.7). */
export interface ToolStep {
	readonly id: string;
	readonly tool: string;
	readonly arguments: Readonly<Record<string, unknown>>;
	readonly result: string;
	readonly durationMs: number;
	/** Whether the call reached its maximum duration before the tool finished. */
	readonly timedOut: boolean;
}

/** Chat reply, before it is serialized as one body or as a stream. */
export interface Reply {
	readonly id: string;
	readonly traceId: string;
	/** Seconds since 1970. */
	readonly created: number;
	readonly model: string;
	readonly reasoning?: string;
	/** Null if there are tool calls. */
	readonly content: string | null;
	readonly toolCalls: readonly MessageToolCall[];
	readonly usage: TokenUsage;
	/** Scripted reason; by default `stop` or `tool_calls`. */
	readonly finishReason?: string;
	/** Scripted pieces of the content in a stream; by default its words. */
	readonly chunks?: ScriptedAnswer['chunks'];
	readonly extras: Extras;
	/** For super assistants only. */
	readonly session?: { readonly id: string; readonly steps: readonly ToolStep[] };
}

/** `finish_reason` of a reply (spec 3.2). */
export function finishReason({ toolCalls, finishReason: scripted }: Reply): string {
	return scripted ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
}
