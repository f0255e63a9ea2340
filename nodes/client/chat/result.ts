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
import { isBlank, oneLine } from '../values';
import { findMedia, isDataUrl, type Media } from './media';
import { idText, readToolCalls, type RepliedCall } from './toolCalls';
import type { ChatCompletion, Usage } from './types';

/** Maximum characters of a text around the reply. */
const MAX_FIELD = 1_000;
/** The fields of `usage` (spec 2.4). */
const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/** The fields of a body that are output unchanged: always, and only with details. `fallback` is ours, see `withFallbacks`. */
const BODY_FIELDS = ['model', 'fallback', 'trace_id'];
const DETAILS = ['events', 'session_id', 'knowledge_base', 'agent', 'id', 'object', 'created'];

interface ResultOptions {
	/** The value of a reply in JSON mode, see `readJsonReply`. */
	readonly json?: JsonValue | undefined;
	/** Whether to include what repeats tool results, thoughts and the session: not for the visitor of a chat. */
	readonly details?: boolean | undefined;
	/** Whether all tool calls have run, also those without a result: a super assistant's. */
	readonly hasRunAll?: boolean;
}

/**
 * Flattens a chat body into one object, with its fields in output order (spec 2.4 to 2.6). Fields that the service did not
 * send are omitted.
 */
export function toChatResult(
	body: ChatCompletion,
	{ json, details = false, hasRunAll = false }: ResultOptions = {},
): JsonObject {
	const { message, finish_reason } = body.choices[0]!;
	const media = findMedia(message);
	const calls = readToolCalls(message);
	const hasRun = ({ result }: RepliedCall) => hasRunAll || result !== undefined;
	const asked = calls.filter((each) => !hasRun(each)).map(({ call }) => call);
	const executed = calls.filter(hasRun).map(toExecuted);
	const shown = withoutUndefined({
		// a chat may show the whole item if the text is empty.
		output: message.content === '' ? linksOf(media) : message.content,
		json,
		media: ifAny(media),
		tool_calls: ifAny(asked),
		...fieldsOf(body, ['suggested_questions']),
		finish_reason,
		usage: usageOf(body),
		...fieldsOf(body, BODY_FIELDS),
	});
	if (!details) return asJson(shown);
	const more = withoutUndefined({
		reasoning_content: message.reasoning_content,
		tool_calls: ifAny(executed),
		tool_results: message['tool_results'],
		...fieldsOf(body, DETAILS),
	});
	return asJson({ ...shown, ...more });
}

function fieldsOf(body: ChatCompletion, names: readonly string[]): Record<string, unknown> {
	return Object.fromEntries(names.map((name) => [name, body[name] ?? undefined]));
}

/**
 * Checks that a reply without calls to run is an answer.
 *
 * @throws ServiceError `protocol` if it has neither text nor files, such as a reply that was cut off in a call.
 */
export function checkAnswer(completion: ChatCompletion): void {
	const { message, finish_reason: reason } = completion.choices[0]!;
	if (!isBlank(message.content) || findMedia(message).length > 0) return;
	throw new ServiceError(
		'protocol',
		'The model replied with neither an answer nor a tool call',
		[
			`The reply ended with the finish reason ${oneLine(String(reason ?? null))}`,
			'shortenConversation',
		],
		{ partial: asJson(completion) },
	);
}

/** The links of a reply without text. */
function linksOf(media: readonly Media[]): string {
	const urls = media.map(({ url }) => url);
	return urls.filter((url) => !isDataUrl(url)).join('\n');
}

function ifAny<T>(list: readonly T[]): readonly T[] | undefined {
	return list.length === 0 ? undefined : list;
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
