/** Whether an image at this URL may stay, as one that the text itself contains. */
export type IsKnown = (url: string) => boolean;

const IN_URL = '[^\\s()<>[\\]\\\\]';
/**
 * What follows the exclamation mark of an image in the one form that may stay: with a URL or the data of a file. An entity in a
 * host, such as `&sol;`, is the end of its name for Markdown.
 */
const SIMPLE = new RegExp(
	`\\[[^[\\]<\\n\\\\]{0,1000}\\]\\((https?://(?![^/?#]{0,4000}&)${IN_URL}{1,4000}|data:image/(?:png|jpe?g|gif|webp);base64,[\\w+/=]*)(?: "[^"!<\\n]{0,1000}")?\\)`,
	'iy',
);
/**
 * The exclamation mark of an image, or a tag that loads something unasked, with its attributes: in quotes may be the end of
 * a tag. The last page of a form draws frames and videos, too.
 */
const IMAGE =
	/!(?=\[)|<(im(?:g|age)|iframe|video|source)\b((?:[^"'<>]{1,4000}|"[^"]{0,4000}"|'[^']{0,4000}'){0,100})>?/gi;
const SOURCE = /\bsrc\s*=\s*["']?((?:https?:)?\/\/[^\s"'<>![\]]+)/i;

type Found = readonly [tag: string | undefined, attributes: string | undefined, at: number];

/** With the escapes that are the beginning of an image: a chat page may draw the text that is in a JSON text. */
function unescaped(text: string): string {
	return text.replace(/\\u0021(?=[![\\])/g, '!').replace(/(?<=!)\\u005b/gi, '[');
}

/** Whether an image, by the place of its bracket, has the simple form, and a file or a known URL. */
function stays(text: string, at: number, isKnown: IsKnown): boolean {
	SIMPLE.lastIndex = at;
	const [, url] = SIMPLE.exec(text) ?? [];
	return url !== undefined && (/^data:/i.test(url) || isKnown(url));
}

/**
 * A text for a page that draws Markdown, with links in place of images. The browser of who reads it loads an image
 * unasked: a model that was told to would put into its URL what the conversation has.
 *
 * @param isKnown By default all images stay, as nobody sees the text.
 */
export function imagesAsLinks(text: string, isKnown?: IsKnown): string {
	if (isKnown === undefined) return text;
	const plain = unescaped(text);
	return plain.replace(IMAGE, (image: string, ...[tag, attributes, at]: Found) => {
		// A mark before the link would make an image of it.
		const gap = plain[at - 1] === '!' ? ' ' : '';
		if (attributes === undefined) return stays(plain, at + 1, isKnown) ? image : gap;
		const [, source] = SOURCE.exec(attributes) ?? [];
		const name = /^im/i.test(tag!) ? 'image' : tag!.toLowerCase();
		if (source !== undefined) return `${gap}[${name}](<${source}>)`;
		// A text such as `copy <source>` loads nothing.
		const isWord = image.endsWith('>') && !attributes.includes('=');
		// Its texts may have images.
		return `${isWord ? '<' : '&lt;'}${imagesAsLinks(image.slice(1), isKnown)}`;
	});
}

/** A copy of JSON with `imagesAsLinks` in all its texts: a chat shows the whole item where it has no text to show. */
export function imagesAsLinksIn<T>(json: T, isKnown: IsKnown = () => false): T {
	const withLinks = (_name: string, value: unknown) =>
		typeof value === 'string' ? imagesAsLinks(value, isKnown) : value;
	return JSON.parse(JSON.stringify(json, withLinks)) as T;
}

/** The beginning of an image, also with escapes. */
const BEGUN = /!{3}|!{1,2}[[<\\]|<(?:im|ifr|vid|sou)|\\u0/i;
/** The end of a text that may become one. */
const MAY_BEGIN = /(?:!{1,2}|<[a-z]{0,2}|\\u?)$/i;
/** No image extends over it. */
const PARAGRAPH_END = '\n\n';

/** `imagesAsLinks` for a text that arrives in pieces: what begins an image waits for the end of its paragraph. */
export function imagesInStream(isKnown: IsKnown) {
	let held = '';
	let isBegun = false;
	let last = '';
	return (text: string, isLast = false): string => {
		const isEnd = isLast || `${last}${text}`.includes(PARAGRAPH_END);
		last = text.at(-1) ?? last;
		held += text;
		// A file is long: it is not read again with each piece.
		if (isBegun && !isEnd) return '';
		const start = isLast ? held.length : held.lastIndexOf(PARAGRAPH_END) + 1;
		const rest = held.slice(start);
		isBegun = BEGUN.test(rest);
		const begin = rest.search(isBegun ? BEGUN : MAY_BEGIN);
		const end = begin === -1 ? held.length : start + begin;
		const shown = held.slice(0, end);
		held = held.slice(end);
		return imagesAsLinks(shown, isKnown);
	};
}
