import { readResult } from '../concurrency';
import { ServiceError } from '../errors';
import {
	asJson,
	exceededBound,
	parseLoosely,
	shorten,
	type JsonObject,
	type JsonValue,
} from '../json';
import { isBlank } from '../values';
import { addUsage } from './conversation';
import { userMessage, withMore } from './messages';
import { usageOf, withReply } from './result';
import { withoutThought } from './replyMessage';
import { splitCalls } from './toolCalls';
import { findMismatch } from './jsonSchema';
import type { Chat } from './sendChat';
import { endOf, type ChatCompletion, type ChatMessage, type Taker } from './types';
import { END_ADVICE, formOf, type Form } from './verdict';

const JSON_MODE = { response_format: { type: 'json_object' } };
const JSON_ONLY = 'Answer with JSON only, without any text around it.';
const BY_SCHEMA = `${JSON_ONLY} Leave out a field that is not required if it has no value. The JSON must match this JSON Schema:`;

/** What a JSON reply has to be. */
export interface JsonFormat {
	/** The JSON Schema that it has to match; without one it may be any JSON. */
	readonly schema?: JsonObject | undefined;
	/** How often the model may correct an invalid reply. Each attempt is a call. */
	readonly repairAttempts: number;
}

/**
 * A chat that asks for replies in JSON (spec 2.1): in `response_format`, and in words at the end of the last user message,
 * which is the only one that a super assistant reads (spec 2.7). An invalid reply is sent back with what is wrong with it,
 * as often as the format says; the usage of all calls is added up.
 *
 * @param chat Sends one request. The messages of an attempt to repair end with the invalid reply and a new user message.
 * @param format Undefined for a text: then requests are sent as they are.
 * @param taker A reply with tool calls is no answer, unless an assistant has run them.
 * @returns A chat that returns the last reply, valid or not: see `readJsonReply`. It throws what `chat` throws; a
 *   ServiceError then has the invalid reply in `details.partial`.
 */
export function withJson(chat: Chat, format: JsonFormat | undefined, taker: Taker = 'reply'): Chat {
	if (format === undefined) return chat;
	return async (request) => {
		let messages = withInstruction(request.messages, format);
		const send = async () => await chat({ ...JSON_MODE, ...request, messages });
		let reply = await send();
		for (let left = format.repairAttempts; left > 0; left -= 1) {
			const invalid = reply;
			const read = readResult(() => readJsonReply(invalid, format, taker));
			const isRepairable = REPAIRABLE.includes(formOf(reply, taker)) && isWhole(reply);
			if ('value' in read || !isRepairable) break;
			const { content } = reply.choices[0]!.message;
			// The service takes no empty message.
			const said: ChatMessage[] = isBlank(content) ? [] : [{ role: 'assistant', content }];
			messages = [
				...messages,
				...said,
				userMessage(`${(read.error as Error).message}. ${JSON_ONLY}`),
			];
			const next = await send().catch((failure: unknown) => {
				throw withReply(failure, asJson(invalid));
			});
			const usage = addUsage(usageOf(invalid), usageOf(next));
			reply = usage === undefined ? next : { ...next, usage };
		}
		return reply;
	};
}

/**
 * The value of a reply in JSON mode, see `findJson`, checked against the schema.
 *
 * @returns Undefined for a text, and for a reply that asks for tool calls.
 * @throws ServiceError `protocol` if the reply is not the JSON that was asked for. `details.partial` has it.
 */
export function readJsonReply(
	completion: ChatCompletion,
	format: JsonFormat | undefined,
	taker: Taker = 'reply',
): JsonValue | undefined {
	if (format === undefined) return undefined;
	const { message: said, finish_reason: reason } = completion.choices[0]!;
	const { asked, ran } = splitCalls(said);
	const asks = asked.length > 0 || (reason === 'tool_calls' && ran.length > 0);
	if (asks && taker !== 'assistant' && isWhole(completion)) return undefined;

	const text = withoutThought(said.content ?? '').trim();
	const bound = exceededBound(text);
	const value = bound === undefined ? findJson(text) : undefined;
	const unread = bound === undefined ? 'is not valid JSON' : `has ${bound}`;
	const problem =
		value === undefined ? unread : format.schema && findMismatch(format.schema, value);
	if (problem === undefined) return value;
	const advice = isWhole(completion) ? 'describeFields' : END_ADVICE[endOf(reason)];
	const message = `The reply ${shorten(problem, 150).replace(/\.$/, '')}`;
	const error = new ServiceError('protocol', message, advice, { serviceMessage: text });
	throw withReply(error, asJson(completion));
}

/** What a reply in another format may be. The others would only be paid for again. */
const REPAIRABLE: readonly Form[] = ['answer', 'work', 'nothing'];

/** Whether nothing has ended a reply early. */
function isWhole({ choices }: ChatCompletion): boolean {
	return ['whole', 'unknown'].includes(endOf(choices[0]!.finish_reason));
}

/** The messages with what the model has to do. A prompt that already asks for JSON without a schema stays as it is. */
function withInstruction(
	messages: readonly ChatMessage[],
	{ schema }: JsonFormat,
): readonly ChatMessage[] {
	const asked = messages.filter(({ role }) => role === 'user' || role === 'system');
	if (schema === undefined && asked.some(({ content }) => /json/i.test(JSON.stringify(content))))
		return messages;
	const text = schema === undefined ? JSON_ONLY : `${BY_SCHEMA}\n${JSON.stringify(schema)}`;
	return withMore(messages, text);
}

/** A Markdown code fence around the whole text. */
const FENCE = /^```[a-z]*[^\S\n]*\n([^]*)```$/i;

/**
 * The JSON value that a text is, without a Markdown fence around it; or else that from its first bracket to its last one, if
 * none is opened behind it: what is cut off is never completed.
 */
function findJson(text: string): JsonValue | undefined {
	const whole = parseLoosely(FENCE.exec(text)?.[1] ?? text);
	if (whole !== undefined) return whole;
	const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
	const start = text.slice(0, end).search(/[[{]/);
	return start === -1 || /[[{]/.test(text.slice(end))
		? undefined
		: parseLoosely(text.slice(start, end + 1));
}
