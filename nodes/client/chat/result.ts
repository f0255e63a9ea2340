import { ServiceError, type ErrorDetails } from '../errors';
import { isDataUrl, mimeTypeOf } from '../fileTypes';
import {
	asJson,
	fromJson,
	isJsonObject,
	mapValues,
	parseJsonObject,
	shorten,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import { isBlank, oneLine } from '../values';
import { withoutThought } from './replyMessage';
import { idText, splitCalls } from './toolCalls';
import type { ChatCompletion, Taker, Usage } from './types';

/** Maximum characters of a text around the reply. */
const MAX_FIELD = 1_000;
/** What a reply says that is only files which the service sends themselves, as data: URLs. */
export const FILE_ONLY = 'The reply is a file without a link';
/** The fields of `usage` (spec 2.4). */
const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

/** The fields of a body that are output unchanged: always, and only with details. `fallback` is ours, see `sendChat`. */
const BODY_FIELDS = ['model', 'fallback', 'knowledge_base', 'trace_id'];
const DETAILS = ['events', 'session_id', 'agent', 'id', 'object', 'created'];

/** What the output of a reply depends on. */
interface ResultOptions {
	/** The value of a reply in JSON mode, see `readJsonReply`. */
	readonly json?: JsonValue | undefined;
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
	const fields = fromJson<ChatCompletion>(boundedFields(asJson(body)));
	const { message, finish_reason: reason } = fields.choices[0]!;
	const media = findMedia(body, base);
	const links = media.map(({ url }) => url).filter((url) => !isDataUrl(url));
	const { asked, ran } = splitCalls(message, taker === 'assistant');
	// Only with details somebody has asked for thoughts.
	const visible = details ? message.content : message.content && withoutThought(message.content);
	const isSilent = isBlank(visible) && asked.length === 0;
	const isWork = media.length === 0 && ran.length > 0;
	const names = ran.map(({ call }) => oneLine(call.function.name)).join(', ');
	// A chat may show the whole item if the text is empty.
	const files = media.length > links.length ? FILE_ONLY : '';
	const instead = isWork ? `Done without an answer: ${names}` : links.join('\n') || files;
	const shown = withoutUndefined({
		output: isSilent ? instead : visible,
		json,
		media: ifAny(media),
		tool_calls: ifAny(asked),
		...fieldsOf(fields, ['suggested_questions']),
		finish_reason: reason ?? undefined,
		usage: usageOf(body),
		...fieldsOf(fields, BODY_FIELDS),
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
		...fieldsOf(fields, DETAILS),
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
 * above it is left out: cut, it would be another ID. A file stays, whose URL may be long.
 */
export function boundedFields(fields: JsonObject): JsonObject {
	return mapValues(fields, (value, name) => {
		if (name === 'choices' && Array.isArray(value))
			return value.map((each) => (isJsonObject(each) ? boundedFields(each) : each));
		if (typeof value !== 'string' || value.length <= MAX_FIELD || MEDIA_FIELD.test(name))
			return value;
		return /(^|_)id$/.test(name) ? undefined : shorten(value, MAX_FIELD);
	});
}

/**
 * Adds to a ServiceError what has arrived of the reply, which is paid for: its body so far, and its session. A session alone is no
 * part of a reply.
 */
export function withReply<E>(
	error: E,
	body: JsonObject,
	more: ErrorDetails = {},
): E | ServiceError {
	const { choices, usage, session_id: session } = body;
	const isKnown = [choices, usage].flat().some((each) => (each ?? null) !== null);
	if (!(error instanceof ServiceError)) return error;
	const id = idText(session);
	const subject = { ...error.details.subject, session_id: id };
	return error.with({
		...(isKnown && { partial: boundedFields(body), ...more }),
		...(id !== '' && { subject }),
	});
}

/** A file in a reply. `url` is a data: URL where the service sends the file itself. */
export interface Media {
	readonly kind: 'image' | 'video' | 'audio' | 'file';
	readonly url: string;
}

/** Names of pages and of source code, which a reply mentions without a file. */
const NO_FILE = /\.(html?|xml|ts)$/i;
/** Of relative URLs. */
const BASE = 'http://relative';

/** How many links, and images, of one text count, the first ones: parsing each takes time. */
const MAX_LINKS = 1_000;
const DATA_URL = 'data:[\\w.+-]+/[\\w.+-]+;base64,[\\w+/=-]+';
// None goes back over what it has read: a reply may be long. Parentheses in pairs belong to a URL, such as `a_(1).png`.
const MARKDOWN_URL = `\\]\\(\\s*((?:https?://|/)[^\\s()]+(?:\\([^\\s()]*\\)[^\\s()]*)*|${DATA_URL}(?=[\\s)]))`;
const MARKDOWN_IMAGE = new RegExp(`!\\[[^[\\]]*${MARKDOWN_URL}`, 'g');
/** What a URL in a text consists of: Chinese and Japanese punctuation ends it, too. */
const IN_URL = '[^\\s<>"\'`\\]()}\\u3000-\\u303f\\uff00-\\uff65]';
/** A signed URL may end in what ends a URL elsewhere: in Markdown it ends with its parenthesis. */
const URL_IN_TEXT = new RegExp(
	`${MARKDOWN_URL}|${DATA_URL}|https?://${IN_URL}+(?:\\(${IN_URL}*\\)${IN_URL}*)*(?<![.,;:!?*_])`,
	'g',
);

/** Fields of a reply that have files: `images`, `img_urls`. */
const MEDIA_FIELD = /^(?:img|image|video|audio|file)s?(?:_urls?)?$/;

/**
 * Finds the images, videos, audio and other files of a reply, without duplicates: those linked in its text, not in a thought, in
 * order of appearance, then those among the parts of its content and in its fields.
 *
 * The specification does not define how files are returned (spec 2.7), so they are detected by form: Markdown images,
 * URLs whose path has a known file extension, and parts and fields with a URL.
 *
 * @param base What relative URLs belong to.
 */
export function findMedia(body: ChatCompletion, base?: string): Media[] {
	const text = withoutThought(body.choices[0]!.message.content ?? '');
	const images = links(text, MARKDOWN_IMAGE);
	const linked = [...links(text, URL_IN_TEXT)].flatMap((url) => {
		const kind = kindOf(url) ?? (images.has(url) ? 'image' : undefined);
		return kind === undefined ? [] : { kind, url: absolute(url, base) };
	});
	const all = [...linked, ...structuredMedia(body, base)];
	return [...new Map(all.map((media) => [media.url, media])).values()];
}

/** The first different matches of a pattern, or of its group where that has matched. */
function links(text: string, pattern: RegExp): ReadonlySet<string> {
	const found = new Set<string>();
	for (const match of text.matchAll(pattern)) {
		if (found.add(match[1] ?? match[0]).size === MAX_LINKS) break;
	}
	return found;
}

/**
 * The files among the parts of a reply, `{ "type": "image_url", "image_url": { "url": … } }` and similar forms, and in the
 * fields of its body, choice and message.
 */
export function structuredMedia({ choices, ...body }: ChatCompletion, base?: string): Media[] {
	const { message, ...choice } = choices[0]!;
	const fields = Object.entries({ ...body, ...choice, ...message });
	const named = fields.flatMap(([type, value]) => {
		const urls = MEDIA_FIELD.test(type) ? [value].flat() : [];
		return urls.map((url) => (isJsonObject(url) ? { type, ...url } : { type, url }));
	});
	return [...(message.parts ?? []), ...named].filter(isJsonObject).flatMap((part) => {
		for (const [name, value] of [['', part] as const, ...Object.entries(part)]) {
			const url = partUrl(value, /url$/i.test(name));
			if (url === undefined) continue;
			const [described] =
				/image|img|video|audio/.exec(`${String(part['type'])} ${name}`) ?? [];
			const kind = described === 'img' ? 'image' : (described ?? kindOf(url) ?? 'file');
			return { kind: kind as Media['kind'], url: absolute(url, base) };
		}
		return [];
	});
}

/** A URL that can be opened, if the base of a relative one is known. */
function absolute(url: string, base = ''): string {
	return URL.canParse(url) || !URL.canParse(url, base) ? url : new URL(url, base).href;
}

/**
 * @param value A URL; an object with a `url`; or the file in base64, with its type or, for audio, its `format`.
 * @param isUrl Whether any text is a URL, also a relative one.
 */
function partUrl(value: JsonValue | undefined, isUrl: boolean): string | undefined {
	if (isJsonObject(value)) {
		const { format, b64_json: image, data = image, mime_type, url } = value;
		const known =
			mime_type ?? value['mimeType'] ?? (image === undefined ? undefined : 'image/png');
		const type = typeof format === 'string' ? `audio/${format}` : known;
		const isFile = typeof data === 'string' && typeof type === 'string';
		return isFile ? `data:${type};base64,${data}` : partUrl(url, true);
	}
	if (typeof value !== 'string' || value.trim() === '') return undefined;
	return isUrl || isDataUrl(value) || /^https?:/i.test(value) ? value : undefined;
}

/** The kind of a file by its type, which is in a data URL or follows from the extension; undefined if there is none. */
function kindOf(url: string): Media['kind'] | undefined {
	const path = isDataUrl(url) || !URL.canParse(url, BASE) ? '' : new URL(url, BASE).pathname;
	const named = NO_FILE.test(path) ? undefined : mimeTypeOf(path);
	const type = isDataUrl(url) ? url.slice('data:'.length) : named;
	const [kind = 'file'] = /^(?:image|video|audio)/i.exec(type ?? '') ?? [];
	return type === undefined ? undefined : (kind.toLowerCase() as Media['kind']);
}
