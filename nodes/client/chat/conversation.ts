import { parseJsonObject, type JsonObject, type JsonValue } from '../json';
import { readToolCall } from './toolArguments';
import { isComplete, readToolCalls, toReplay, type RepliedCall } from './toolCalls';
import { usageOf } from './result';
import type { ToolDeclaration } from './tools';
import type { ChatCompletion, ChatMessage, Usage } from './types';

/** The limit that stopped a conversation before its final answer. */
export type StopReason = 'max_rounds' | 'max_tool_calls' | 'repeated_tool_call';

export interface ConversationLimits {
	/** Maximum replies of the model. */
	readonly maxRounds: number;
	/** Maximum tool calls in total. */
	readonly maxCalls: number;
	/** Maximum calls of the same tool with the same arguments. */
	readonly maxRepeats: number;
}

/** A tool call and its result. */
export interface CallRecord {
	/** Unique in its round. */
	readonly id: string;
	readonly name: string;
	/** Parsed; the original text if the call is invalid. */
	readonly arguments: JsonObject | string;
	/** Number of the reply that requested the call, from 1. */
	readonly round: number;
	/** Start of the execution, in milliseconds since the epoch. */
	readonly startedAtMs?: number;
	readonly durationMs?: number;
	/** Result sent to the model; missing while the call is pending. */
	readonly result?: string;
	readonly failed?: boolean;
	/** Whether the call itself is wrong: an unknown tool, or arguments that do not match its schema. */
	readonly invalid?: boolean;
}

/** Current step of a conversation. */
export type Phase =
	/** The next step is to send the messages to the model. */
	| { readonly kind: 'asking' }
	/** Tool calls of the last reply are pending. */
	| { readonly kind: 'calling' }
	| { readonly kind: 'answered'; readonly completion: ChatCompletion }
	| { readonly kind: 'stopped'; readonly reason: StopReason };

/**
 * State of a conversation with tools. Immutable and JSON-serializable, so that it can be saved between runs;
 * the `apply*` functions are its reducers.
 */
export interface Conversation {
	readonly messages: readonly ChatMessage[];
	readonly rounds: number;
	readonly calls: readonly CallRecord[];
	readonly usage?: Usage;
	readonly phase: Phase;
}

/** Initial state: the messages are to be sent to the model. */
export function startConversation(messages: readonly ChatMessage[]): Conversation {
	return { messages, rounds: 0, calls: [], phase: { kind: 'asking' } };
}

/**
 * Reducer: adds a reply of the model (spec 2.3, 4). Its calls are pending, except those that the service has executed
 * (spec 2.4): their results are kept. The reply is the answer when it has no other calls, or is incomplete. The
 * assistant message is kept in the form in which it is sent back, see `readToolCalls`.
 *
 * Invalid calls (unknown tool, arguments that are not JSON or do not match the schema) get an error as their result at
 * once. When a limit stops the conversation, `closeOpenCalls` closes its pending calls.
 */
export function applyReply(
	conversation: Conversation,
	completion: ChatCompletion,
	tools: readonly ToolDeclaration[],
	limits: ConversationLimits,
): Conversation {
	const { message, finish_reason: finishReason } = completion.choices[0]!;
	const rounds = conversation.rounds + 1;
	const isExecuted = ({ result }: RepliedCall) => result !== undefined;
	const replied = readToolCalls(message, `call_${rounds}`);
	const kept = isComplete(finishReason) ? replied : replied.filter(isExecuted);
	const isAnswer = kept.length === 0 || (finishReason !== 'tool_calls' && kept.every(isExecuted));
	const usage = addUsage(conversation.usage, usageOf(completion));
	const next: Conversation = {
		messages: conversation.messages,
		rounds,
		calls: [...conversation.calls, ...kept.map((each) => toRecord(each, tools, rounds))],
		...(usage === undefined ? {} : { usage }),
		phase: { kind: 'calling' },
	};
	const calls = kept.map(({ call }) => call);
	if (isAnswer) {
		const executed = toReplay({ content: null }, calls);
		const before = calls.length === 0 ? next : completeRound(withMessages(next, [executed]));
		return {
			...withMessages(before, [toReplay(message, [])]),
			phase: { kind: 'answered', completion },
		};
	}
	const calling = withMessages(next, [toReplay(message, calls)]);
	const reason = exceededLimit(next, limits);
	if (reason === undefined) return completeRound(calling);
	return {
		...closeOpenCalls(calling, `the conversation was stopped (${reason})`),
		phase: { kind: 'stopped', reason },
	};
}

/** Pending tool calls, in the order of the reply. */
export function openCalls({ calls, phase }: Conversation): CallRecord[] {
	return phase.kind === 'calling' ? calls.filter(({ result }) => result === undefined) : [];
}

/** Reducer: records the start of a tool call. */
export function applyStarted(
	conversation: Conversation,
	callId: string,
	nowMs: number,
): Conversation {
	return updateCall(conversation, callId, () => ({ startedAtMs: nowMs }));
}

/**
 * Reducer: adds the result of a tool call. The last result of a round appends one `tool` message per call, in the order of
 * the calls, and the model is next. Results of unknown or completed calls are ignored.
 */
export function applyResult(
	conversation: Conversation,
	callId: string,
	outcome: { readonly result: string; readonly failed: boolean },
	nowMs: number,
): Conversation {
	if (!openCalls(conversation).some(({ id }) => id === callId)) return conversation;

	return completeRound(
		updateCall(conversation, callId, ({ startedAtMs = nowMs }) => ({
			...outcome,
			durationMs: nowMs - startedAtMs,
		})),
	);
}

/**
 * Closes the pending calls with an error as their result, so that `messages` can be sent again. Without pending calls it
 * changes nothing.
 *
 * @param reason Why there is no result, for the model: "the conversation was stopped (max_rounds)".
 */
export function closeOpenCalls(conversation: Conversation, reason: string): Conversation {
	if (conversation.phase.kind !== 'calling') return conversation;
	return completeRound({
		...conversation,
		calls: conversation.calls.map((call) => {
			if (call.result !== undefined) return call;
			const what = call.startedAtMs === undefined ? 'Not executed' : 'No result';
			return { ...call, result: errorResult(`${what}: ${reason}`), failed: true };
		}),
	});
}

function toRecord(
	{ call, result }: RepliedCall,
	tools: readonly ToolDeclaration[],
	round: number,
): CallRecord {
	const { id } = call;
	const { name, arguments: text } = call.function;
	const record = { id, name, round };
	if (result !== undefined) {
		const args = parseJsonObject(text) ?? text;
		return { ...record, arguments: args, result, failed: false, durationMs: 0 };
	}
	const read = readToolCall(call, tools);
	if ('arguments' in read) return { ...record, arguments: read.arguments };
	const failure = { result: errorResult(read.problem), failed: true, invalid: true };
	return { ...record, arguments: text, ...failure, durationMs: 0 };
}

function errorResult(error: string): string {
	return JSON.stringify({ error });
}

function withMessages(conversation: Conversation, added: readonly ChatMessage[]): Conversation {
	return { ...conversation, messages: [...conversation.messages, ...added] };
}

/** Appends the `tool` messages of the round once no call is pending. */
function completeRound(conversation: Conversation): Conversation {
	if (openCalls(conversation).length > 0) return conversation;

	const results = conversation.calls
		.filter(({ round }) => round === conversation.rounds)
		.map(({ id, result: content = '' }): ChatMessage => ({
			role: 'tool',
			tool_call_id: id,
			content,
		}));
	return { ...withMessages(conversation, results), phase: { kind: 'asking' } };
}

function exceededLimit(
	{ rounds, calls }: Conversation,
	{ maxRounds, maxCalls, maxRepeats }: ConversationLimits,
): StopReason | undefined {
	if (rounds >= maxRounds) return 'max_rounds';
	if (calls.length > maxCalls) return 'max_tool_calls';
	const counts = new Map<string, number>();
	const isRepeated = calls.some(({ name, arguments: args }) => {
		const key = `${name} ${typeof args === 'string' ? args : canonicalJson(args)}`;
		const count = (counts.get(key) ?? 0) + 1;
		counts.set(key, count);
		return count > maxRepeats;
	});
	return isRepeated ? 'repeated_tool_call' : undefined;
}

/** Serializes JSON with sorted keys, so that equal values give equal text. */
export function canonicalJson(value: JsonValue | undefined): string {
	return JSON.stringify(value, (_key, part: unknown) =>
		typeof part === 'object' && part !== null && !Array.isArray(part)
			? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
			: part,
	);
}

function updateCall(
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

/** The sum of the tokens of two calls; those of one if the other has none. */
export function addUsage(a: Usage | undefined, b: Usage | undefined): Usage | undefined {
	if (a === undefined || b === undefined) return a ?? b;
	return {
		prompt_tokens: a.prompt_tokens + b.prompt_tokens,
		completion_tokens: a.completion_tokens + b.completion_tokens,
		total_tokens: a.total_tokens + b.total_tokens,
	};
}
