import { readResult, settled } from '../concurrency';
import { isCanceled, requestError, ServiceError, type Advice } from '../errors';
import { withDeadline, withRetry, type RetryPolicy } from '../http/failures';
import {
	asJson,
	exceededBound,
	isJsonObject,
	parseLoosely,
	shorten,
	type JsonObject,
	type JsonValue,
} from '../json';
import type { Clock, Deadline, HttpPort } from '../ports';
import { isBlank } from '../values';
import { completeChat, type CompleteOptions } from './completeChat';
import { addUsage } from './conversation';
import { findMismatch, fitTo } from './jsonSchema';
import { userMessage, withMore } from './messages';
import { withoutThought } from './replyMessage';
import { checkToolChoice } from './requestFields';
import { usageOf, withReply } from './result';
import { splitCalls } from './toolCalls';
import {
	endOf,
	type ChatCompletion,
	type ChatDelta,
	type ChatMessage,
	type ChatRequest,
	type Taker,
} from './types';
import { END_ADVICE, formOf, type Form } from './verdict';

/** Sends a request and returns the complete reply. Retries, fallbacks, repairs and sessions wrap one into another. */
export type Chat = (request: ChatRequest) => Promise<ChatCompletion>;

type Failed = Readonly<Record<'code' | 'error', string>>;

/** How a chat is sent, retried and shown. */
export interface SendOptions extends CompleteOptions {
	/** Total timeout in milliseconds, with all retries. */
	readonly limitMs: number;
	readonly retry: RetryPolicy;
	/**
	 * Shows what a chunk adds; returns whether anybody can see it. Leave it out where nobody sees the reply before it is
	 * complete: only then can a reply that broke off be retried.
	 */
	readonly onDelta?: ((delta: ChatDelta) => boolean) | undefined;
	/** Models, applications or workflows that are asked in turn, see `mayAsk`. */
	readonly fallbacks?: readonly Pick<ChatRequest, 'model' | 'app_code'>[] | undefined;
	/** Whether an application answers every request, as the API key ends with its code (spec 4). */
	readonly hasApp?: boolean;
	/** Called when one of them has answered, with its code, and why those before it have not. */
	readonly onFallback?: (code: string, failed: readonly Failed[]) => void;
	/** Sends a request once. Default: `completeChat`. */
	readonly call?: typeof askAssistant | undefined;
}

/**
 * A chat with retries and fallbacks. Failures are retried as the policy says, but never after something was shown: the
 * reply would start again from the beginning. The timeout includes the retries. After them, a request that was rejected, or
 * that found the service down, goes to the next fallback; the reply then has the field `fallback`.
 *
 * @returns A chat that throws InputError if a request forces a tool call without tools; the error of the last request,
 *   see `completeChat`; whatever `clock.sleep` throws when the execution is canceled.
 */
export function sendChat(
	clock: Clock,
	http: HttpPort,
	{ fallbacks = [], hasApp, onFallback, call = completeChat, ...sending }: SendOptions,
): Chat {
	const { limitMs, retry, onDelta, ...options } = sending;

	async function send(request: ChatRequest, seen: { isShown: boolean }): Promise<ChatCompletion> {
		const show = (delta: ChatDelta) => {
			if (onDelta?.(delta) === true) seen.isShown = true;
		};
		const sendOnce = async (deadline: Deadline) => {
			const ofApp = hasApp === true && ({ endpoint: 'chat' } as const);
			const how = { ...options, ...ofApp, onDelta: onDelta && show };
			const port = withDeadline(http, deadline);
			return await call(port, request, how, clock).catch((error: unknown) => {
				throw requestError(error);
			});
		};
		return await withRetry(clock, { ...retry, limitMs }, sendOnce, () => !seen.isShown);
	}

	return async (request) => {
		checkToolChoice(request);
		const failed: Failed[] = [];
		const seen = { isShown: false };
		for (let each = request; ; each = { ...request, ...fallbacks[failed.length - 1] }) {
			const code = each.app_code ?? each.model ?? 'The default model';
			const outcome = await settled(send(each, seen));
			if ('error' in outcome) {
				const { error } = outcome;
				const next = fallbacks[failed.length];
				const isApp = hasApp === true || next?.app_code !== undefined;
				if (next === undefined || seen.isShown || !mayAsk(isApp, error)) throw error;
				failed.push({ code, error: error.message });
				continue;
			}
			if (failed.length === 0) return outcome.value;
			onFallback?.(code, failed);
			return { ...outcome.value, fallback: { answered_by: code, failed } };
		}
	};
}

/**
 * Statuses that tell of a model, an application or its limit: another one may take the same request. The service has not
 * carried it out (spec 7.1).
 */
const NOT_CARRIED_OUT: readonly (number | undefined)[] = [400, 402, 403, 404, 429];
/** What is advised where a code, in any status, or the words of an error with status 200 tell of the model. */
const OF_MODEL: readonly Advice[] = ['chooseModel', 'shortenConversation'];

/**
 * Whether a fallback may be asked after this error: the service has not carried the request out, or it is down. An application
 * may have acted before the connection was lost; a model has only cost tokens.
 */
function mayAsk(isApp: boolean, error: unknown): error is ServiceError {
	if (!(error instanceof ServiceError) || error.kind === 'deadline') return false;
	const { status, outcomeUnknown = false, partial, retryable } = error.details;
	const isOfModel = !isApp && error.advice.some((each) => OF_MODEL.includes(each));
	const isListed = isOfModel || NOT_CARRIED_OUT.includes(status);
	const isRejected = error.kind === 'http' && partial === undefined && isListed;
	return outcomeUnknown ? !isApp && retryable === true : isRejected || retryable === true;
}

/** Maximum duration of a call to a super assistant, enforced by the service (spec 2.7). */
const SERVICE_LIMIT_MS = 600_000;
/** How much before the limit a disconnect still counts as the limit: the clocks differ a little. */
const TOLERANCE_MS = 5_000;

/**
 * Calls a super assistant once (spec 2.7). Does not retry: every call is charged.
 *
 * @returns The completion; in `events` the tool progress, oldest first, if the reply was streamed and has any.
 * @throws ServiceError Like `completeChat`. `details.partial` has what had arrived, with the tool progress in `events`;
 *   `details.subject` has the `session_id`, if it is known.
 */
export async function askAssistant(
	http: HttpPort,
	request: ChatRequest,
	{ onDelta, ...options }: CompleteOptions,
	clock: Pick<Clock, 'now'>,
): Promise<ChatCompletion> {
	const startMs = clock.now();
	const events: JsonObject[] = [];

	function collect(delta: ChatDelta): void {
		for (const event of delta.progress)
			events.push(asJson({ ...event, offset_ms: clock.now() - startMs }));
		onDelta?.(delta);
	}

	const asking = { ...options, endpoint: 'assistant', onDelta: collect } as const;
	const sent = completeChat(http, request, asking);
	const completion = await sent.catch((error: unknown) => {
		if (!(error instanceof ServiceError)) throw error;
		const explained = explainServiceLimit(error, clock.now() - startMs);
		const { partial, subject } = explained.details;
		const { session_id: id } = request;
		throw explained.with({
			...(events.length > 0 && { partial: { ...partial, events } }),
			subject: { ...(typeof id === 'string' && id !== '' && { session_id: id }), ...subject },
			// A canceled request may have reached the service, like one whose connection broke.
			...(isCanceled(explained) && { outcomeUnknown: true }),
		});
	});
	return events.length === 0 ? completion : { ...completion, events };
}

/** A disconnect within TOLERANCE_MS of the service's limit is reported as that limit, not as a network error. */
function explainServiceLimit(error: ServiceError, elapsedMs: number): ServiceError {
	const isDisconnect = error.kind === 'stream' || error.kind === 'network';
	if (!isDisconnect || elapsedMs < SERVICE_LIMIT_MS - TOLERANCE_MS) return error;
	const message = 'The assistant exceeded the 600-second limit of the service';
	return error.with({}, { message, advice: ['continueSession'] });
}

const JSON_MODE = { response_format: { type: 'json_object' } };
const JSON_ONLY = 'Answer with JSON only, without any text around it.';
const BY_SCHEMA = `${JSON_ONLY} Leave out a field that is not required if it has no value. The JSON must match this JSON Schema:`;

/** What a JSON reply has to be. */
export interface JsonFormat {
	/** The JSON Schema that it has to match; without one it may be any JSON. */
	readonly schema?: JsonObject | undefined;
	/** How often the model may correct an invalid reply. Each attempt is a call. */
	readonly repairAttempts: number;
	/** Whether an empty reply is valid, see `judge`. */
	readonly mayBeEmpty?: boolean;
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
		const { schema } = format;
		const text = schema === undefined ? JSON_ONLY : `${BY_SCHEMA}\n${JSON.stringify(schema)}`;
		// Whatever else is said of JSON, such as by a question about it.
		let messages = withMore(request.messages, text);
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
				// An assistant has run its tools before.
				const more = taker === 'assistant' ? { outcomeUnknown: true } : {};
				throw withReply(failure, asJson(invalid), more);
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
 * @returns Undefined without a format, for a reply that asks for tool calls, and for an empty reply where the format allows one.
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

	const isNothing = formOf(completion, taker) === 'nothing' && endOf(reason) === 'whole';
	if (isNothing && format.mayBeEmpty) return undefined;

	const text = withoutThought(said.content ?? '').trim();
	const bound = exceededBound(text);
	const { schema = {} } = format;
	const value = bound === undefined ? findJson(text, schema) : undefined;
	const unread = bound === undefined ? 'is not valid JSON' : `has ${bound}`;
	const fit = value === undefined ? { problem: unread } : fitTo(schema, value);
	if ('value' in fit) return fit.value;
	const advice = isWhole(completion) ? 'describeFields' : END_ADVICE[endOf(reason)];
	const message = `The reply ${shorten(fit.problem, 150).replace(/\.$/, '')}`;
	const error = new ServiceError('protocol', message, advice, { serviceMessage: text });
	throw withReply(error, asJson(completion));
}

/** What a reply in another format may be. The others would only be paid for again. */
const REPAIRABLE: readonly Form[] = ['answer', 'work', 'nothing'];

/** Whether nothing has ended a reply early. */
function isWhole({ choices }: ChatCompletion): boolean {
	return ['whole', 'unknown'].includes(endOf(choices[0]!.finish_reason));
}

/** A Markdown code fence around the whole text. */
const FENCE = /^```[a-z]*[^\S\n]*\n([^]*)```$/i;

/** The beginning of a fence that says what is in it. */
const JSON_FENCE = /```json\s*$/i;

/**
 * The JSON value that a text is, without a Markdown fence around it; or else that from its first bracket to its last one, if
 * none is opened behind it: what is cut off is never completed. Prose has brackets that are no value, such as `[1]` for a
 * source, so there it needs a field, the fence of JSON, or entries and a schema that would not take any text.
 */
function findJson(text: string, schema: JsonObject): JsonValue | undefined {
	const whole = parseLoosely(FENCE.exec(text)?.[1] ?? text);
	if (whole !== undefined) return whole;
	const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
	const start = text.slice(0, end).search(/[[{]/);
	if (start === -1 || /[[{]/.test(text.slice(end))) return undefined;
	const value = parseLoosely(text.slice(start, end + 1));
	const isMeant = hasField(value) || JSON_FENCE.test(text.slice(0, start));
	const hasEntry = Array.isArray(value) && value.length > 0;
	return isMeant || (hasEntry && findMismatch(schema, '') !== undefined) ? value : undefined;
}

function hasField(value: JsonValue | undefined): boolean {
	if (Array.isArray(value)) return value.some(hasField);
	return isJsonObject(value) && Object.keys(value).length > 0;
}
