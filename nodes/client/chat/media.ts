import { isDataUrl, mimeTypeOf } from '../fileTypes';
import { isJsonObject, type JsonValue } from '../json';
import type { ChatCompletion } from './types';

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
 * Finds the images, videos, audio and other files of a reply, without duplicates: those linked in its text, in order of
 * appearance, then those among the parts of its content and in its fields.
 *
 * The specification does not define how files are returned (spec 2.7), so they are detected by form: Markdown images,
 * URLs whose path has a known file extension, and parts and fields with a URL.
 *
 * @param base What relative URLs belong to.
 */
export function findMedia(body: ChatCompletion, base?: string): Media[] {
	const text = body.choices[0]!.message.content ?? '';
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
