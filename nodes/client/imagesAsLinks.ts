/** Whether an image at this URL may stay, as one that the text itself contains. */
export type IsKnown = (url: string) => boolean;

/** How much of an image that has begun is held back: without its end, it becomes a link. */
const MAX_HELD = 2_000;

/* Loops are bounded, or read the end of a text: one over megabytes would exceed the stack of the regular expression. */
const ALT = '[^[\\]<\\n\\\\]{0,1000}';
const FILE = 'data:image/(?:png|jpe?g|gif|webp);base64,';
const IN_URL = '[^\\s()<>[\\]\\\\]';
/**
 * What follows the exclamation mark of an image in the one form that may stay: up to the end of its URL, or to the data of a
 * file. An entity in a host, such as `&sol;`, is the end of its name for Markdown.
 */
const SIMPLE = new RegExp(
	`\\[${ALT}\\]\\((?:(https?://(?![^/?#]{0,4000}&)${IN_URL}{1,4000})|${FILE}(?=[\\w+/=]))`,
	'iy',
);
const DATA_END = /[^\w+/=]/g;
const SIMPLE_END = /(?: "[^"!<\n]{0,1000}")?\)/y;
/** The exclamation mark of an image, or an image in HTML with its attributes. */
const IMAGE = /(?<!!)(?:!+(?=\[)|!*<im(?:g|age)\b([^<>!]{0,4000})>?)/gi;
/** The end of a text that may become an image which stays, or an image in HTML. */
const BEGUN = new RegExp(
	`(?<!!)(?:!+(?:\\[${ALT}(?:\\](?:\\(${IN_URL}*(?: "?[^"!<\\n]*"?)?)?)?)?|!*<(?:i|im(?:[ag][^<>!]*)?)?|!*\\\\(?:u0{0,2}(?:21?|5b?)?)?)$`,
	'i',
);
const FILE_BEGUN = new RegExp(`(?<!!)!+\\[${ALT}\\]\\(${FILE}`, 'gi');
/** What may follow the data of a file before its end. */
const FILE_REST = /^(?: "?[^"!<\n]{0,1000}"?)?$/;

/** With the escapes that are the beginning of an image: a chat page may draw the text that is in a JSON text. */
function unescaped(text: string): string {
	return text.replace(/\\u0021(?=[![\\])/g, '!').replace(/(?<=!)\\u005b/gi, '[');
}

/** Where the data of a file ends that begins here. */
function dataEnd(text: string, at: number): number {
	DATA_END.lastIndex = at;
	return DATA_END.exec(text)?.index ?? text.length;
}

/** Whether an image, by the place of its bracket, has the simple form, and a file or a known URL. */
function stays(text: string, at: number, isKnown: IsKnown): boolean {
	SIMPLE.lastIndex = at;
	const [begin, url] = SIMPLE.exec(text) ?? [];
	if (begin === undefined) return false;
	SIMPLE_END.lastIndex = url === undefined ? dataEnd(text, SIMPLE.lastIndex) : SIMPLE.lastIndex;
	return SIMPLE_END.test(text) && (url === undefined || isKnown(url));
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
	return plain.replace(IMAGE, (image: string, attributes: string | undefined, at: number) => {
		if (attributes === undefined) return stays(plain, at + image.length, isKnown) ? image : '';
		// Whole, and without any way to name another host. A browser skips white space between slashes.
		if (/^[^:&\\]*>$/.test(image) && !/\/\s*\//.test(image)) return image;
		const [, source] = /\bsrc\s*=\s*["']?((?:https?:)?\/\/[^\s"']+)/i.exec(attributes) ?? [];
		return source === undefined ? image.replace('<', '&lt;') : `[image](<${source}>)`;
	});
}

/** A copy of JSON with `imagesAsLinks` in all its texts: a chat shows the whole item where it has no text to show. */
export function imagesAsLinksIn<T>(json: T, isKnown: IsKnown = () => false): T {
	const withLinks = (_name: string, value: unknown) =>
		typeof value === 'string' ? imagesAsLinks(value, isKnown) : value;
	return JSON.parse(JSON.stringify(json, withLinks)) as T;
}

/** Where a file begins whose end is still to come; -1 where none does. */
function beginOfFile(text: string): number {
	const last = [...text.matchAll(FILE_BEGUN)].at(-1);
	if (last === undefined) return -1;
	const end = dataEnd(text, last.index + last[0].length);
	return FILE_REST.test(text.slice(end)) ? last.index : -1;
}

/** `imagesAsLinks` for a text that arrives in pieces: holds back only what may begin an image, until the next piece. */
export function imagesInStream(isKnown?: IsKnown) {
	let held = '';
	let isFile = false;
	return (text: string, isLast = false): string => {
		if (isKnown === undefined) return text;
		held += text;
		// A file is long: it is not read again with each piece.
		if (isFile && !isLast && dataEnd(text, 0) === text.length) return '';
		held = unescaped(held);
		const file = isLast ? -1 : beginOfFile(held);
		isFile = file !== -1;
		const begun = isLast ? '' : (BEGUN.exec(held.slice(-MAX_HELD))?.[0] ?? '');
		const end = isFile ? file : held.length - begun.length;
		const shown = held.slice(0, end);
		held = held.slice(end);
		return imagesAsLinks(shown, isKnown);
	};
}
