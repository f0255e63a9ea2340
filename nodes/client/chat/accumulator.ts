import { tooLarge } from '../http/request';
import { asJson, isJsonObject, MAX_JSON, type JsonObject } from '../json';
import { addFragment, indexOf, mergeField, startCalls, type PartialCalls } from './fragments';
import { readMessage, readReason, stringOf } from './replyMessage';
import { objectsOf } from './toolCalls';
import { executedCalls, toolProgressEvents } from './toolProgress';
import {
	endOf,
	type ChatCompletion,
	type ChatDelta,
	type Choice,
	type ToolProgressEvent,
} from './types';

/** A choice so far. */
interface PartialChoice {
	/** Its message is without tool calls. */
	readonly choice: Choice & Record<string, unknown>;
	readonly calls: PartialCalls;
	/** How many deltas had text or calls. */
	deltas: number;
}

const NO_PROGRESS: readonly ToolProgressEvent[] = [];

/** An empty accumulator of the chunks of a stream, which `applyChunk` changes in place. */
export function startAccumulator() {
	return {
		/** Top-level fields of the body: `model`, `session_id`, `usage`, … */
		envelope: {} as JsonObject,
		choices: new Map<number, PartialChoice>(),
		/** All tool progress of a super assistant (spec 2.7). */
		progress: [] as ToolProgressEvent[],
		/** At least as many values as it has. */
		values: 0,
	};
}

type Accumulator = ReturnType<typeof startAccumulator>;

/**
 * Adds one chunk of a stream (spec 2.5), which may have no `choices`. The tools that a super assistant has run
 * (`extension`, spec 2.7) become calls and results of the message, as in a non-streamed body (spec 2.4).
 *
 * @param characters Length of its JSON.
 * @returns The text that the chunk adds to the first choice, and its tool progress.
 * @throws ServiceError `protocol` when all chunks together have more values than a body may have.
 */
export function applyChunk(accumulator: Accumulator, chunk: JsonObject, characters = 0): ChatDelta {
	// A value takes two characters, at least: few streams have to be counted.
	accumulator.values += characters / 2;
	if (accumulator.values > MAX_JSON.values) accumulator.values = countValues(accumulator, chunk);
	if (accumulator.values > MAX_JSON.values)
		throw tooLarge(`The reply has more than ${MAX_JSON.values.toLocaleString('en')} values`);
	const { envelope } = accumulator;
	for (const key in chunk) {
		if (key === 'choices' || key === 'extension') continue;
		const value = chunk[key];
		if (value !== envelope[key] && value !== null) envelope[key] = value;
	}
	const { choices, extension } = chunk;
	const progress = isJsonObject(extension) ? toolProgressEvents(extension) : NO_PROGRESS;
	for (const event of progress) accumulator.progress.push(event);
	const added = { content: '', reasoning: '', progress };
	for (const choice of Array.isArray(choices) ? choices : []) {
		if (!isJsonObject(choice)) continue;
		const index = indexOf(choice['index']) ?? 0;
		const partial = accumulator.choices.get(index) ?? addChoice(accumulator, index);
		const said = applyChoice(partial, choice);
		if (index !== 0 && partial !== mainChoice(accumulator)) continue;
		added.content = stringOf(said['content']);
		added.reasoning = stringOf(said['reasoning_content']);
	}
	return added;
}

/** Counts what is kept and a chunk that is about to be: together they may have as many values as one body. */
function countValues(accumulator: Accumulator, chunk: JsonObject): number {
	const { envelope, progress, choices } = accumulator;
	const partial = [...choices.values()].map(({ choice, calls }) => [choice, calls.all]);
	return valuesIn([envelope, progress, partial, chunk]);
}

function valuesIn(value: unknown): number {
	if (typeof value !== 'object' || value === null) return 1;
	return Object.values(value).reduce((count: number, each) => count + valuesIn(each), 1);
}

/** The choice that is the reply, in whatever order they come. */
function mainChoice({ choices }: Accumulator): PartialChoice | undefined {
	return choices.get(0) ?? choices.values().next().value;
}

/** Whether the reply has a finish reason (spec 3.2), and not one that tells of a failure. */
export function isFinished(accumulator: Accumulator): boolean {
	const reason = mainChoice(accumulator)?.choice.finish_reason ?? null;
	return reason !== null && endOf(reason) !== 'failure';
}

/** The accumulated chunks in the form of a non-streamed body (spec 2.4). */
export function toCompletion(accumulator: Accumulator): ChatCompletion {
	const { envelope, choices, progress } = accumulator;
	// A super assistant that only ran tools sends no choices: its reply is empty.
	const main = mainChoice(accumulator) ?? addChoice(accumulator, 0);
	const others = [...choices.values()].filter((each) => each !== main);
	return {
		...envelope,
		...(envelope['object'] !== undefined && { object: 'chat.completion' }),
		choices: [toChoice(main, progress), ...others.map((each) => toChoice(each))],
	};
}

function addChoice({ choices }: Accumulator, index: number): PartialChoice {
	const message = { role: 'assistant', content: null };
	const choice = { index, message, finish_reason: null };
	const partial = { choice, calls: startCalls(), deltas: 0 };
	choices.set(index, partial);
	return partial;
}

/** @returns What the chunk says, see `readMessage`. */
function applyChoice(partial: PartialChoice, sent: JsonObject): JsonObject {
	const { choice } = partial;
	const { message } = choice;
	const { finish_reason: sentReason, delta, message: whole } = sent;
	const reason = readReason(sentReason);
	choice.finish_reason = reason ?? choice.finish_reason;

	// Servers that do not stream a reply send it whole, as one event; others all so far, or a piece, in place of a delta.
	const isDelta = isJsonObject(delta);
	const { said, parts } = readMessage(isDelta || partial.deltas > 0 ? delta : whole);
	const before = message.content ?? '';
	const text = stringOf(said['content']);
	const hasGrown = !isDelta && text.length > before.length && text.startsWith(before);
	// The last one may repeat the answer.
	const isRepeated = reason !== null && text === before && (!isDelta || partial.deltas > 1);
	if (hasGrown || isRepeated) said['content'] = text.slice(before.length);
	for (const key in sent)
		if (key !== 'index' && key !== 'delta' && key !== 'message' && key !== 'finish_reason')
			mergeField(asJson(choice), key, sent[key], false);
	for (const key in said) if (key !== 'tool_calls') mergeField(asJson(message), key, said[key]);
	for (const call of objectsOf(said['tool_calls'])) addFragment(partial.calls, call);
	for (const part of parts) (message.parts ??= []).push(part);
	if (isDelta && (text !== '' || partial.calls.all.length > 0)) partial.deltas += 1;
	return said;
}

/** @param progress Of a super assistant. The server may have told the results of its tools in the message as well. */
function toChoice(
	{ calls, choice }: PartialChoice,
	progress: readonly ToolProgressEvent[] = [],
): Choice {
	const { message, finish_reason: reason } = choice;
	const executed = executedCalls(message['tool_results'] === undefined ? progress : []);
	const hasRun = executed.tool_calls.length > 0;
	// Beside executed calls, those of the model are requested only if the finish reason says so.
	const asked = hasRun && reason !== 'tool_calls' ? [] : calls.all;
	const text = message.content ?? '';
	const content = text === '' && asked.length > 0 ? null : text;
	const tool_calls = [...executed.tool_calls, ...asked.map(({ sent }) => sent)];
	const called = tool_calls.length > 0 && { ...(hasRun && executed), tool_calls };
	return { ...choice, message: { ...message, content, ...called } };
}
