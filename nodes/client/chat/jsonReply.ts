import { ServiceError } from '../errors';
import { asJson, type JsonObject, type JsonValue } from '../json';
import { isBlank, oneLine } from '../values';
import { addUsage, canonicalJson } from './conversation';
import { userMessage } from './messages';
import { usageOf, withReply } from './result';
import { salvageJson } from './salvageJson';
import { isComplete, readToolCalls } from './toolCalls';
import { findMismatch } from './toolArguments';
import type { ChatCompletion, ChatMessage, ChatRequest } from './types';

const JSON_MODE = { response_format: { type: 'json_object' } };
const JSON_ONLY = 'Answer with JSON only, without any text around it.';
const BY_SCHEMA = `${JSON_ONLY} Leave out a field that is not required if it has no value. The JSON must match this JSON Schema:`;
const CUT_OFF_HINT = 'The reply was cut off at its maximum length: ask for a shorter one';
const HINT = 'Describe the fields more clearly, or set Repair Attempts';

/** What a JSON reply has to be. */
export interface JsonFormat {
	/** The JSON Schema that it has to match; without one it may be any JSON. */
	readonly schema?: JsonObject | undefined;
	/** How often the model may correct an invalid reply. Each attempt is a call. */
	readonly repairAttempts: number;
	/** Whether all tool calls of a reply have run, see `toChatResult`; otherwise a reply with other calls is no answer. */
	readonly hasRunAll?: boolean;
}

/**
 * Sends a request that asks for a reply in JSON (spec 2.1): in `response_format`, and in words at the end of the last user
 * message, which is the only one that a super assistant reads (spec 2.7). An invalid reply is sent back with what is wrong
 * with it, as often as the format says; the usage of all calls is added up.
 *
 * @param format Undefined for a text: then the request is sent as it is.
 * @param send Sends one request. The messages of an attempt to repair end with the invalid reply and a new user message.
 * @returns The last reply, valid or not: see `readJsonReply`.
 * @throws What `send` throws; a ServiceError has the invalid reply in `details.partial`.
 */
export async function askForJson<R extends ChatRequest>(
	request: R,
	format: JsonFormat | undefined,
	send: (request: R) => Promise<ChatCompletion>,
): Promise<ChatCompletion> {
	if (format === undefined) return await send(request);
	let messages = withInstruction(request.messages, format);
	const sendNext = async () => await send({ ...JSON_MODE, ...request, messages });
	let reply = await sendNext();
	for (let left = format.repairAttempts; left > 0; left--) {
		const { error } = tryToRead(reply, format);
		if (error === undefined || isCutOff(reply)) return reply;
		const { content } = reply.choices[0]!.message;
		// The service takes no empty message.
		const said: ChatMessage[] = isBlank(content) ? [] : [{ role: 'assistant', content }];
		messages = [...messages, ...said, userMessage(`${error.message}. ${JSON_ONLY}`)];
		const invalid = reply;
		const next = await sendNext().catch((failure: unknown) => {
			throw withReply(failure, asJson(invalid));
		});
		const usage = addUsage(usageOf(invalid), usageOf(next));
		reply = usage === undefined ? next : { ...next, usage };
	}
	return reply;
}

/**
 * The value of a reply in JSON mode: parsed, salvaged from prose around it, and validated.
 *
 * @returns Undefined for a text, and for a reply that asks for tool calls.
 * @throws ServiceError `protocol` if the reply is not the JSON that was asked for. `details.partial` has it.
 */
export function readJsonReply(
	completion: ChatCompletion,
	format: JsonFormat | undefined,
): JsonValue | undefined {
	if (format === undefined) return undefined;
	const { value, error } = tryToRead(completion, format);
	if (error !== undefined) throw withReply(error, asJson(completion));
	return value;
}

function tryToRead(
	completion: ChatCompletion,
	{ schema, hasRunAll = false }: JsonFormat,
): { readonly value?: JsonValue; readonly error?: ServiceError } {
	const { message, finish_reason: reason } = completion.choices[0]!;
	const calls = readToolCalls(message);
	const asks = reason === 'tool_calls' || calls.some(({ result }) => result === undefined);
	if (calls.length > 0 && asks && !hasRunAll && isComplete(reason)) return {};

	const text = message.content ?? '';
	const found = salvageJson(text);
	const mismatch = (value: JsonValue) => schema && findMismatch(schema, value);
	const fitting = found.filter((value) => mismatch(value) === undefined);
	const different = new Set(fitting.map(canonicalJson));
	if (different.size === 1) return { value: fitting[0]! };

	const problem =
		found.length === 0
			? 'is not valid JSON'
			: different.size > 1
				? 'has several JSON values'
				: `does not match the schema${oneLine(mismatch(found.at(-1)!)!).replace(/\.$/, '')}`;
	const hint = isCutOff(completion) ? CUT_OFF_HINT : HINT;
	const details = { serviceMessage: text.trim() };
	return { error: new ServiceError('protocol', `The reply ${problem}`, hint, details) };
}

function isCutOff({ choices }: ChatCompletion): boolean {
	return choices[0]!.finish_reason === 'length';
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
	const last = messages.findLastIndex(({ role }) => role === 'user');
	if (last === -1) return [...messages, userMessage(text)];
	return messages.with(last, withText(messages[last]!, text));
}

function withText(message: ChatMessage, text: string): ChatMessage {
	const { content } = message;
	if (typeof content === 'string') return { ...message, content: `${content}\n\n${text}` };
	return { ...message, content: [...(content ?? []), { type: 'text', text }] };
}
