import { parseJsonObject, type JsonObject } from '../json';
import { isBlank, shown } from '../values';
import { NO_TEXT } from './messages';
import {
	errorResult,
	readToolCall,
	readToolCalls,
	toolMessage,
	toReplay,
	type RepliedCall,
} from './toolCalls';
import { withoutThought } from './replyMessage';
import { usageOf } from './result';
import type { ChatCompletion, ChatMessage, ToolDeclaration, Usage } from './types';

/** The limit that stopped a conversation before its final answer. */
export type StopReason = 'max_rounds' | 'max_tool_calls' | 'repeated_tool_call';

export interface ConversationLimits {
	/** Maximum replies of the model. */
	readonly maxRounds: number;
	/** Maximum tool calls in total. */
	readonly maxCalls: number;
	/** Maximum calls of one reply that are executed; the model is told that the others were not. Default: all. */
	readonly maxCallsPerRound?: number;
}

/** Maximum replies that call the same tool with the same arguments and get the same result. */
const MAX_REPEATS = 3;

/** A tool call as a conversation keeps it: what the model has asked for, where that is, and its result. */
export interface CallRecord {
	/** Unique in its round. */
	readonly id: string;
	readonly name: string;
	/** Parsed; the original text if the call is invalid. */
	readonly arguments: JsonObject | string;
	/** Number of the reply that requested the call, from 1. */
	readonly round: number;
	/** Start of the execution, in milliseconds since the epoch; missing while nobody executes the call. */
	readonly startedAtMs?: number;
	/** Where the host executes it, in the host's own words. */
	readonly place?: string;
	readonly durationMs?: number;
	/** Result sent to the model; missing while the call is pending. */
	readonly result?: string;
	readonly failed?: boolean;
}

/**
 * Current step of a conversation: the messages are to be sent to the model; tool calls of the last reply are pending; or it
 * has ended.
 */
export type Phase =
	| { readonly kind: 'asking' | 'calling' | 'answered' }
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

/** A URL, or several, none of them a file itself. */
const LINKS = /^https?:(?!.*,data:)/i;

/** Initial state: the messages are to be sent to the model. */
export function startConversation(messages: readonly ChatMessage[]): Conversation {
	return { messages, rounds: 0, calls: [], phase: { kind: 'asking' } };
}

/**
 * Reducer: adds a reply of the model (spec 2.3, 4). Its calls are pending, except those that the service has executed
 * (spec 2.4): their results are kept. The reply is the answer when it has no other calls. The assistant message is kept
 * in the form in which it is sent back, see `readToolCalls`.
 *
 * Invalid calls (unknown tool, arguments that are not JSON or do not match the schema) get an error as their result at
 * once. When a limit stops the conversation, `closeOpenCalls` closes its pending calls. A single exchange has no limits.
 */
export function applyReply(
	conversation: Conversation,
	completion: ChatCompletion,
	tools: readonly ToolDeclaration[],
	limits?: ConversationLimits,
): Conversation {
	const { message, finish_reason: finishReason } = completion.choices[0]!;
	const rounds = conversation.rounds + 1;
	const isExecuted = ({ result }: RepliedCall) => result !== undefined;
	const kept = readToolCalls(message, `call_${rounds}`);
	const isAnswer = finishReason === 'tool_calls' ? kept.length === 0 : kept.every(isExecuted);
	const calls = kept.map(({ call }) => call);
	const asked = toReplay(isAnswer ? { content: null } : message, calls);
	const usage = addUsage(conversation.usage, usageOf(completion));
	const next = completeRound({
		messages: [...conversation.messages, ...(calls.length === 0 ? [] : [asked])],
		rounds,
		calls: [
			...conversation.calls,
			...limitRound(
				kept.map((each) => toRecord(each, tools, rounds)),
				limits?.maxCallsPerRound,
			),
		],
		...(usage === undefined ? {} : { usage }),
		phase: { kind: 'calling' },
	});
	if (isAnswer) {
		// Not every server takes its thoughts and other fields, or a file itself.
		const { content, images } = message;
		const said = withoutThought(content ?? '');
		const files = LINKS.test(String(images)) && { images };
		const answer: ChatMessage = {
			role: 'assistant',
			content: isBlank(said) ? NO_TEXT : said,
			...files,
		};
		const messages = [...next.messages, answer];
		return { ...next, messages, phase: { kind: 'answered' } };
	}
	const reason = limits && exceededLimit(next, limits);
	if (reason === undefined) return next;
	const closed = closeOpenCalls(next, `the conversation was stopped (${reason})`);
	return { ...closed, phase: { kind: 'stopped', reason } };
}

/** Pending tool calls, in the order of the reply. */
export function openCalls({ calls, phase }: Conversation): CallRecord[] {
	return phase.kind === 'calling' ? calls.filter(({ result }) => result === undefined) : [];
}

/** The tool calls of the last reply that have been executed. */
export function endedCalls({ calls, rounds }: Conversation): CallRecord[] {
	const isEnded = ({ round, startedAtMs, result }: CallRecord) =>
		round === rounds && startedAtMs !== undefined && result !== undefined;
	return calls.filter(isEnded);
}

/**
 * Reducer: records the start of a tool call.
 *
 * @param place Where it is executed, for a host that has to know it.
 */
export function applyStarted(
	conversation: Conversation,
	callId: string,
	nowMs: number,
	place?: string,
): Conversation {
	const started = { startedAtMs: nowMs, ...(place === undefined ? {} : { place }) };
	return updateOpen(conversation, () => started, callId);
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
	// Times of the wall clock, as a branch may suspend the execution: the clock may have been set back.
	const ended = ({ startedAtMs = nowMs }) => ({
		...outcome,
		durationMs: Math.max(0, nowMs - startedAtMs),
	});
	return updateOpen(conversation, ended, callId);
}

/**
 * Closes the pending calls with an error as their result, so that `messages` can be sent again. Without pending calls it
 * changes nothing.
 *
 * @param reason Why there is no result, for the model: "the conversation was stopped (max_rounds)".
 */
export function closeOpenCalls(conversation: Conversation, reason: string): Conversation {
	return updateOpen(conversation, ({ startedAtMs }) => {
		const what = startedAtMs === undefined ? 'Not executed' : 'No result';
		return { result: errorResult(`${what}: ${reason}`), failed: true };
	});
}

/** Changes all pending calls, or the one with this id, and ends the round if that was the last one. */
function updateOpen(
	conversation: Conversation,
	change: (call: CallRecord) => Partial<CallRecord>,
	callId?: string,
): Conversation {
	const { calls, phase } = conversation;
	const isMeant = ({ id, result }: CallRecord) =>
		result === undefined && (callId ?? id) === id && phase.kind === 'calling';
	if (!calls.some(isMeant)) return conversation;
	return completeRound({
		...conversation,
		calls: calls.map((call) => (isMeant(call) ? { ...call, ...change(call) } : call)),
	});
}

function toRecord(
	{ call, result }: RepliedCall,
	tools: readonly ToolDeclaration[],
	round: number,
): CallRecord {
	const { name, arguments: text } = call.function;
	const record = { id: call.id, name, arguments: text, round };
	const done = { ...record, durationMs: 0 };
	if (result !== undefined)
		return { ...done, arguments: parseJsonObject(text) ?? text, result, failed: false };
	const read = readToolCall(call, tools);
	return 'arguments' in read
		? { ...record, ...read }
		: { ...done, result: errorResult(read.problem), failed: true };
}

/** Gives the calls of a reply that are too many an error as their result. */
function limitRound(calls: readonly CallRecord[], max = Infinity): CallRecord[] {
	let pending = 0;
	const result = errorResult(
		`Not executed: at most ${max} tool calls of a reply are. Call again what is still needed`,
	);
	return calls.map((call) => {
		pending += call.result === undefined ? 1 : 0;
		const isRun = call.result !== undefined || pending <= max;
		return isRun ? call : { ...call, durationMs: 0, result, failed: true };
	});
}

/** Appends the `tool` messages of the round once no call is pending. */
function completeRound(conversation: Conversation): Conversation {
	if (openCalls(conversation).length > 0) return conversation;
	const results = conversation.calls
		.filter(({ round }) => round === conversation.rounds)
		.map(({ id, result = '' }) => toolMessage(id, result));
	const messages = [...conversation.messages, ...results];
	return { ...conversation, messages, phase: { kind: 'asking' } };
}

function exceededLimit({ rounds, calls }: Conversation, limits: ConversationLimits) {
	if (rounds >= limits.maxRounds) return 'max_rounds';
	if (calls.length > limits.maxCalls) return 'max_tool_calls';
	// A tool that is polled answers in another way some day. A call without a result counts with the most frequent one. Equal calls
	// of one reply count once: none of them was made in view of a result.
	const counts = new Map<string, number>();
	const seen = new Set<string>();
	for (const { name, arguments: args, result, round } of calls) {
		const call = `${name} ${shown(args)}`;
		const same = result === undefined ? call : `${call} ${result}`;
		if (seen.has(`${round} ${same}`)) continue;
		seen.add(`${round} ${same}`);
		const count = (counts.get(same) ?? 0) + 1;
		counts.set(same, count).set(call, Math.max(count, counts.get(call) ?? 0));
	}
	const isRepeated = [...counts.values()].some((count) => count > MAX_REPEATS);
	return isRepeated ? 'repeated_tool_call' : undefined;
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
