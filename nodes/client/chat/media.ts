import { mimeTypeOf } from '../fileTypes';
import { isJsonObject, type JsonValue } from '../json';
import type { ReplyMessage } from './types';

/** A file in a reply. `url` is a data: URL where the service sends the file itself. */
export interface Media {
	readonly kind: 'image' | 'video' | 'audio' | 'file';
	readonly url: string;
}

/** Names of pages and of source code, which a reply mentions without a file. */
const NO_FILE = /\.(html?|xml|ts)$/i;

/** How many links, and images, of one text count, the first ones: parsing each takes time. */
const MAX_LINKS = 1_000;
// None goes back over what it has read: a reply may be long. Parentheses in pairs belong to a URL, such as `a_(1).png`.
const MARKDOWN_URL =
	'\\]\\(\\s*(https?://[^\\s()]+(?:\\([^\\s()]*\\)[^\\s()]*)*|data:[\\w.+-]+/[\\w.+-]+;base64,[\\w+/=-]+(?=[\\s)]))';
const MARKDOWN_IMAGE = new RegExp(`!\\[[^[\\]]*${MARKDOWN_URL}`, 'g');
/** What a URL in a text consists of: Chinese and Japanese punctuation ends it, too. */
const IN_URL = '[^\\s<>"\'`\\]()}\\u3000-\\u303f\\uff00-\\uff65]';
/** A signed URL may end in what ends a URL elsewhere: in Markdown it ends with its parenthesis. */
const URL_IN_TEXT = new RegExp(
	`${MARKDOWN_URL}|https?://${IN_URL}+(?:\\(${IN_URL}*\\)${IN_URL}*)*(?<![.,;:!?*_])`,
	'g',
);

/**
 * Finds the images, videos, audio and other files of a reply, without duplicates: those linked in its text, in order of
 * appearance, then those among the parts of its content.
 *
 * The specification does not define how files are returned (spec 2.7), so they are detected by form: Markdown images,
 * URLs whose path has a known file extension, and parts with a URL.
 */
export function findMedia({ content, parts }: Pick<ReplyMessage, 'content' | 'parts'>): Media[] {
	const text = content ?? '';
	const images = links(text, MARKDOWN_IMAGE);
	const found = new Map<string, Media>();
	for (const url of links(text, URL_IN_TEXT)) {
		const kind = images.has(url) ? (kindOf(url) ?? 'image') : kindOf(url);
		if (kind !== undefined) found.set(url, { kind, url });
	}
	for (const media of partMedia(parts)) found.set(media.url, media);
	return [...found.values()];
}

/** The first different matches of a pattern, or of its group where that has matched. */
function links(text: string, pattern: RegExp): ReadonlySet<string> {
	const found = new Set<string>();
	for (const match of text.matchAll(pattern)) {
		if (found.add(match[1] ?? match[0]).size === MAX_LINKS) break;
	}
	return found;
}

/** Whether a URL contains the file itself. */
export function isDataUrl(url: string): boolean {
	return /^data:/i.test(url);
}

/** The files among the parts of a reply: `{ "type": "image_url", "image_url": { "url": … } }`, and similar forms. */
export function partMedia(parts: readonly JsonValue[] = []): Media[] {
	return parts.filter(isJsonObject).flatMap((part) => {
		for (const [name, value] of Object.entries(part)) {
			const url = partUrl(value, /url$/i.test(name));
			if (url === undefined) continue;
			const described = `${String(part['type'])} ${name}`;
			const [kind] = /image|video|audio/.exec(described) ?? [];
			return { kind: (kind as Media['kind'] | undefined) ?? kindOf(url) ?? 'file', url };
		}
		return [];
	});
}

/**
 * @param value A URL; an object with a `url`; or audio as `data` in base64 with its `format`.
 * @param isUrl Whether any text is a URL, also a relative one, which nobody can open.
 */
function partUrl(value: JsonValue | undefined, isUrl: boolean): string | undefined {
	if (isJsonObject(value)) {
		const { data, format, url } = value;
		const isAudio = typeof data === 'string' && typeof format === 'string';
		return isAudio ? `data:audio/${format};base64,${data}` : partUrl(url, true);
	}
	if (typeof value !== 'string' || value.trim() === '') return undefined;
	return isUrl || isDataUrl(value) || /^https?:/i.test(value) ? value : undefined;
}

function kindOf(url: string): Media['kind'] | undefined {
	if (isDataUrl(url)) {
		const [kind = 'file'] = /^(?:image|video|audio)/i.exec(url.slice('data:'.length)) ?? [];
		return kind.toLowerCase() as Media['kind'];
	}
	const base = 'http://relative';
	if (!URL.canParse(url, base)) return undefined;
	const { pathname } = new URL(url, base);
	const type = NO_FILE.test(pathname) ? undefined : mimeTypeOf(pathname);
	if (type === undefined) return undefined;
	const [kind] = /^(image|video|audio)/.exec(type) ?? ['file'];
	return kind as Media['kind'];
}
