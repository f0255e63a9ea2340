import { ServiceError } from '../errors';
import {
	asJson,
	isJsonObject,
	parseJsonObject,
	shorten,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import { findMedia, isDataUrl } from './media';
import { idText, readToolCalls, type RepliedCall } from './toolCalls';
import type { ChatCompletion, ReplyMessage, Usage } from './types';

/** Maximum characters of a text around the reply. */
const MAX_FIELD = 1_000;
/** The fields of `usage` (spec 2.4). */
const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

export interface ResultOptions {
	/** The value of a reply in JSON mode, see `readJsonReply`. */
	readonly json?: JsonValue | undefined;
	/** Whether to include what repeats tool results, thoughts and the session: not for the visitor of a chat. */
	readonly details?: boolean | undefined;
	/** Whether all tool calls have run, also those without a result: a super assistant's. */
	readonly hasRunAll?: boolean;
}

interface Reply extends ResultOptions {
	readonly body: ChatCompletion;
	readonly message: ReplyMessage;
}

type Field = readonly [name: string, isDetail: boolean, read: (reply: Reply) => unknown];

/** A field of the body that is output unchanged. */
const ofBody =
	(isDetail: boolean) =>
	(name: string): Field => [name, isDetail, ({ body }) => body[name] ?? undefined];

/** The fields of a simplified reply in output order, and whether they come only with the option *Include Details*. */
const FIELDS: readonly Field[] = [
	// n8n's chat shows the whole item if the text is empty.
	[
		'output',
		false,
		({ message }) => (message.content === '' ? linksOf(message) : message.content),
	],
	['json', false, ({ json }) => json],
	['media', false, ({ message }) => ifAny(findMedia(message))],
	['tool_calls', false, (reply) => ifAny(callsOf(reply, false).map(({ call }) => call))],
	...['suggested_questions'].map(ofBody(false)),
	['finish_reason', false, ({ body }) => body.choices[0]!.finish_reason],
	['usage', false, ({ body }) => usageOf(body)],
	// `fallback` is ours, see withFallbacks.
	...['model', 'fallback', 'trace_id'].map(ofBody(false)),
	['reasoning_content', true, ({ message }) => message.reasoning_content],
	['tool_calls', true, (reply) => ifAny(callsOf(reply, true).map(toExecuted))],
	['tool_results', true, ({ message }) => message['tool_results']],
	...['events', 'session_id', 'knowledge_base', 'agent', 'id', 'object', 'created'].map(
		ofBody(true),
	),
];

/**
 * Flattens a chat body into one object, by the table of fields (spec 2.4 to 2.6). Fields that the service did not send
 * are omitted.
 */
export function toChatResult(body: ChatCompletion, options: ResultOptions = {}): JsonObject {
	const reply = { ...options, body, message: body.choices[0]!.message };
	const shown = FIELDS.filter(([, isDetail]) => !isDetail || options.details === true);
	const fields = shown.map(([name, , read]) => withoutUndefined({ [name]: read(reply) }));
	return asJson(Object.assign({}, ...fields) as object);
}

/** The links of a reply without text. */
function linksOf(message: ReplyMessage): string {
	const urls = findMedia(message).map(({ url }) => url);
	return urls.filter((url) => !isDataUrl(url)).join('\n');
}

function ifAny<T>(list: readonly T[]): readonly T[] | undefined {
	return list.length === 0 ? undefined : list;
}

/** The tool calls that have run, or those that the model asks for. */
function callsOf({ message, hasRunAll = false }: Reply, hasRun: boolean): RepliedCall[] {
	return readToolCalls(message).filter(
		({ result }) => (hasRunAll || result !== undefined) === hasRun,
	);
}

/** A tool call that the service has executed (spec 2.4, 2.7), with its result: it must not be run again. */
function toExecuted({ call, result }: RepliedCall) {
	const { name, arguments: args } = call.function;
	return withoutUndefined({
		id: call.id,
		name,
		arguments: parseJsonObject(args) ?? args,
		result,
	});
}

/** Token usage: at the top level of a non-streamed body, in the choices of a stream (spec 2.4, 2.5). */
export function usageOf({ usage, choices }: ChatCompletion): Usage | undefined {
	// Some servers send null.
	return readUsage(usage) ?? readUsage(choices[0]?.usage);
}

/** The counts as numbers, which are added up: some servers send texts, or leave some out. Undefined without any count. */
function readUsage(usage: unknown): Usage | undefined {
	if (!isJsonObject(usage)) return undefined;
	const [prompt, completion, total] = COUNTS.map((name) => {
		const count = Number(usage[name] ?? NaN);
		return Number.isFinite(count) ? count : undefined;
	});
	if ((prompt ?? completion ?? total) === undefined) return undefined;
	const counts = { prompt_tokens: prompt ?? 0, completion_tokens: completion ?? 0 };
	const sum = counts.prompt_tokens + counts.completion_tokens;
	return { ...usage, ...counts, total_tokens: total ?? sum };
}

/**
 * A body, or a choice of it, whose texts around the reply have a bound: the finish reason, the name of the model. An ID
 * above it is left out: cut, it would be another ID.
 */
export function boundedFields(fields: JsonObject): JsonObject {
	const bound = ([name, value]: [string, JsonValue | undefined]) => {
		if (name === 'choices' && Array.isArray(value))
			return [name, value.map((each) => (isJsonObject(each) ? boundedFields(each) : each))];
		if (typeof value !== 'string' || value.length <= MAX_FIELD) return [name, value];
		return [name, /(^|_)id$/.test(name) ? undefined : shorten(value, MAX_FIELD)];
	};
	return withoutUndefined(Object.fromEntries(Object.entries(fields).map(bound)) as JsonObject);
}

/** Adds to a ServiceError what has arrived of the reply, which is paid for: its body so far, and its session. */
export function withReply(error: unknown, body: JsonObject): unknown {
	const { choices, usage, session_id: session } = body;
	const isKnown = (choices ?? usage ?? session ?? null) !== null;
	if (!isKnown || !(error instanceof ServiceError)) return error;
	const id = idText(session);
	const partial = boundedFields(body);
	return error.with({ partial, ...(id === '' ? {} : { subject: { session_id: id } }) });
}
