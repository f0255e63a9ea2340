import { ServiceError } from '../errors';
import {
	asJson,
	isJsonObject,
	mapValues,
	parseJsonObject,
	shorten,
	withoutUndefined,
	type JsonObject,
} from '../json';
import { isBlank, oneLine } from '../values';
import { isDataUrl } from '../fileTypes';
import { findMedia } from './media';
import { withoutThought } from './replyMessage';
import { idText, splitCalls } from './toolCalls';
import type { ChatCompletion, Taker, Usage } from './types';

/** Maximum characters of a text around the reply. */
const MAX_FIELD = 1_000;
/** The fields of `usage` (spec 2.4). */
const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/** The fields of a body that are output unchanged: always, and only with details. `fallback` is ours, see `sendChat`. */
const BODY_FIELDS = ['model', 'fallback', 'knowledge_base', 'trace_id'];
const DETAILS = ['events', 'session_id', 'agent', 'id', 'object', 'created'];

/** What the output of a reply depends on. */
interface ResultOptions {
	/** The value of a reply in JSON mode, see `readJsonReply`. */
	readonly json?: unknown;
	/** Whether to include what repeats tool results, thoughts and the session: not for the visitor of a chat. */
	readonly details?: boolean;
	/** Default: `reply`. */
	readonly taker?: Taker;
	/** What relative URLs of files belong to. */
	readonly base?: string | undefined;
}

/**
 * Flattens a chat body into one object, with its fields in output order (spec 2.4 to 2.6). Fields that the service did not
 * send are omitted.
 */
export function toChatResult(
	body: ChatCompletion,
	{ json, details, taker, base }: ResultOptions = {},
): JsonObject {
	const { message, finish_reason } = body.choices[0]!;
	const media = findMedia(body, base);
	const links = media.map(({ url }) => url).filter((url) => !isDataUrl(url));
	const { asked, ran } = splitCalls(message, taker === 'assistant');
	const isSilent = isBlank(message.content) && asked.length === 0;
	// Only with details somebody has asked for thoughts.
	const visible = details ? message.content : message.content && withoutThought(message.content);
	const isWork = media.length === 0 && ran.length > 0;
	const names = ran.map(({ call }) => oneLine(call.function.name)).join(', ');
	// A chat may show the whole item if the text is empty.
	const instead = isWork ? `Done without an answer: ${names}` : links.join('\n');
	const shown = withoutUndefined({
		output: isSilent ? instead : visible,
		json,
		media: ifAny(media),
		tool_calls: ifAny(asked),
		...fieldsOf(body, ['suggested_questions']),
		finish_reason,
		usage: usageOf(body),
		...fieldsOf(body, BODY_FIELDS),
	});
	if (details !== true) return asJson(shown);
	// With their results: they must not be run again (spec 2.4, 2.7).
	const executed = ran.map(({ call: { id, function: called }, result }) => {
		const { name, arguments: args } = called;
		const read = parseJsonObject(args) ?? args;
		return withoutUndefined({ id, name, arguments: read, result });
	});
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

function ifAny<T>(list: readonly T[]): readonly T[] | undefined {
	return list.length === 0 ? undefined : list;
}

/** Token usage: at the top level of a non-streamed body, in the choices of a stream (spec 2.4, 2.5). */
export function usageOf({ usage, choices }: ChatCompletion): Usage | undefined {
	// Some servers send null.
	return readUsage(usage) ?? readUsage(choices[0]?.usage);
}

/** The counts as numbers, which are added up: some servers send texts, or leave some out. Undefined without any count. */
function readUsage(usage: unknown): Usage | undefined {
	if (!isJsonObject(usage)) return undefined;
	const counts = COUNTS.map((name) => Number(usage[name] ?? NaN));
	const isCount = (count: number) => Number.isFinite(count) && count >= 0;
	if (!counts.some(isCount)) return undefined;
	const [prompt_tokens = 0, completion_tokens = 0, total] = counts.map((count) =>
		isCount(count) ? count : undefined,
	);
	const total_tokens = total ?? prompt_tokens + completion_tokens;
	return { ...usage, prompt_tokens, completion_tokens, total_tokens };
}

/**
 * A body, or a choice of it, whose texts around the reply have a bound: the finish reason, the name of the model. An ID
 * above it is left out: cut, it would be another ID.
 */
export function boundedFields(fields: JsonObject): JsonObject {
	return mapValues(fields, (value, name) => {
		if (name === 'choices' && Array.isArray(value))
			return value.map((each) => (isJsonObject(each) ? boundedFields(each) : each));
		if (typeof value !== 'string' || value.length <= MAX_FIELD) return value;
		return /(^|_)id$/.test(name) ? undefined : shorten(value, MAX_FIELD);
	});
}

/** Adds to a ServiceError what has arrived of the reply, which is paid for: its body so far, and its session. */
export function withReply<E>(error: E, body: JsonObject): E | ServiceError {
	const { choices, usage, session_id: session } = body;
	const isKnown = [choices, usage, session].flat().some((each) => (each ?? null) !== null);
	if (!isKnown || !(error instanceof ServiceError)) return error;
	const id = idText(session);
	const partial = boundedFields(body);
	const subject = { ...error.details.subject, session_id: id };
	return error.with({ partial, ...(id === '' ? {} : { subject }) });
}
