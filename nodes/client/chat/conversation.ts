import type { JsonObject, JsonValue } from '../json';
import { readToolCall } from './toolArguments';
import { usageOf } from './result';
import type { ToolDeclaration } from './tools';
import type { ChatCompletion, ChatMessage, ToolCall, Usage } from './types';

/** Why a conversation was stopped before its answer. */
export type StopReason = 'max_rounds' | 'max_tool_calls' | 'repeated_tool_call';

export interface ConversationLimits {
	/** Replies of the model, at most. */
	readonly maxRounds: number;
	/** Tool calls in all, at most. */
	readonly maxCalls: number;
	/** How often the model may ask for the same tool with the same arguments. */
	readonly maxRepeats: number;
}

/** One tool call and what came of it. */
export interface CallRecord {
	readonly id: string;
	readonly name: string;
	/** Parsed; where they could not be, the text. */
	readonly arguments: JsonObject | string;
	/** Which reply of the model asked for it, from 1. */
	readonly round: number;
	/** Milliseconds since the epoch at which it was handed out. */
	readonly startedAtMs?: number;
	readonly durationMs?: number;
	/** What the model is told. */
	readonly result?: string;
	readonly failed?: boolean;
}

/** Where a conversation stands. */
export type Phase =
	/** The model is to be asked. */
	| { readonly kind: 'asking' }
	/** Calls of the latest reply are without a result. */
	| { readonly kind: 'calling' }
	| { readonly kind: 'answered'; readonly completion: ChatCompletion }
	| { readonly kind: 'stopped'; readonly reason: StopReason };

/** A conversation with tools: a plain value that survives being saved, changed only by the functions here. */
export interface Conversation {
	readonly messages: readonly ChatMessage[];
	readonly rounds: number;
	readonly calls: readonly CallRecord[];
	readonly usage?: Usage;
	readonly phase: Phase;
}

/** A conversation whose messages wait for the model. */
export function startConversation(messages: readonly ChatMessage[]): Conversation {
	return { messages, rounds: 0, calls: [], phase: { kind: 'asking' } };
}

/**
 * The conversation after a reply of the model (spec 2.3, 4). Only the finish reason `tool_calls` asks for tools: calls in
 * any other reply have been run already (spec 2.7). The assistant message is kept exactly as it came.
 *
 * A call that cannot be run (unknown tool, arguments that are no JSON or break the schema) is answered to the model at once.
 */
export function applyReply(
	conversation: Conversation,
	completion: ChatCompletion,
	tools: readonly ToolDeclaration[],
	limits: ConversationLimits,
): Conversation {
	const { message, finish_reason: finishReason } = completion.choices[0]!;
	const asked = finishReason === 'tool_calls' ? (message.tool_calls ?? []) : [];
	const rounds = conversation.rounds + 1;
	const calls = [...conversation.calls, ...asked.map((call) => toRecord(call, tools, rounds))];
	const usage = addUsage(conversation.usage, usageOf(completion));
	const next: Conversation = {
		messages: [...conversation.messages, message as unknown as ChatMessage],
		rounds,
		calls,
		...(usage === undefined ? {} : { usage }),
		phase: { kind: 'calling' },
	};
	if (asked.length === 0) return { ...next, phase: { kind: 'answered', completion } };

	const reason = exceeded(next, limits);
	return reason === undefined ? settled(next) : { ...next, phase: { kind: 'stopped', reason } };
}

/** The calls that wait for a result, in the order in which the model asked for them. */
export function openCalls({ calls, phase }: Conversation): CallRecord[] {
	return phase.kind === 'calling' ? calls.filter(({ result }) => result === undefined) : [];
}

/** The conversation after a call was handed out to be run. */
export function applyStarted(
	conversation: Conversation,
	callId: string,
	nowMs: number,
): Conversation {
	return withCall(conversation, callId, () => ({ startedAtMs: nowMs }));
}

/**
 * The conversation after a call was run. With the last result of a round the model is to be asked again: each
 * call then has exactly one `tool` message, in the order of the calls. A second result of a call changes nothing.
 */
export function applyResult(
	conversation: Conversation,
	callId: string,
	outcome: { readonly result: string; readonly failed: boolean },
	nowMs: number,
): Conversation {
	if (!openCalls(conversation).some(({ id }) => id === callId)) return conversation;

	return settled(
		withCall(conversation, callId, ({ startedAtMs = nowMs }) => ({
			...outcome,
			durationMs: nowMs - startedAtMs,
		})),
	);
}

function toRecord(call: ToolCall, tools: readonly ToolDeclaration[], round: number): CallRecord {
	const { name, arguments: text } = call.function;
	const read = readToolCall(call, tools);
	if ('arguments' in read) return { id: call.id, name, arguments: read.arguments, round };
	return {
		id: call.id,
		name,
		arguments: text,
		round,
		result: JSON.stringify({ error: read.problem }),
		failed: true,
		durationMs: 0,
	};
}

function settled(conversation: Conversation): Conversation {
	if (openCalls(conversation).length > 0) return conversation;

	const results = conversation.calls
		.filter(({ round }) => round === conversation.rounds)
		.map(({ id, result = '' }): ChatMessage => ({
			role: 'tool',
			tool_call_id: id,
			content: result,
		}));
	return {
		...conversation,
		messages: [...conversation.messages, ...results],
		phase: { kind: 'asking' },
	};
}

function exceeded(
	{ rounds, calls }: Conversation,
	{ maxRounds, maxCalls, maxRepeats }: ConversationLimits,
): StopReason | undefined {
	if (rounds >= maxRounds) return 'max_rounds';
	if (calls.length > maxCalls) return 'max_tool_calls';
	return maxAlike(calls) > maxRepeats ? 'repeated_tool_call' : undefined;
}

function maxAlike(calls: readonly CallRecord[]): number {
	const counts = new Map<string, number>();
	for (const { name, arguments: args } of calls) {
		const key = `${name} ${typeof args === 'string' ? args : canonical(args)}`;
		counts.set(key, (counts.get(key) ?? 0) + 1);
	}
	return Math.max(0, ...counts.values());
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: JsonValue | undefined): string {
	return JSON.stringify(value, (_key, part: unknown) =>
		typeof part === 'object' && part !== null && !Array.isArray(part)
			? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
			: part,
	);
}

function withCall(
	conversation: Conversation,
	callId: string,
	change: (call: CallRecord) => Partial<CallRecord>,
): Conversation {
	return {
		...conversation,
		calls: conversation.calls.map((call) =>
			call.id === callId && call.result === undefined ? { ...call, ...change(call) } : call,
		),
	};
}

function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
	if (a === undefined || b === undefined) return a ?? b;
	return {
		prompt_tokens: a.prompt_tokens + b.prompt_tokens,
		completion_tokens: a.completion_tokens + b.completion_tokens,
		total_tokens: a.total_tokens + b.total_tokens,
	};
}
