/** Whether an image at this URL may stay, as one that the text itself contains. */
export type IsKnown = (url: string) => boolean;

/** How much of an image that has begun is held back: without its end, it becomes a link. */
const MAX_HELD = 2_000;

/* Loops are bounded, or read the end of a text: one over megabytes would exceed the stack of the regular expression. */
const ALT = '[^[\\]<\\n\\\\]{0,1000}';
const IN_URL = '[^\\s()<>[\\]\\\\]';
/**
 * What follows the exclamation mark of an image in the one form that may stay: with a URL, or up to the data of a file. An
 * entity in a host, such as `&sol;`, is the end of its name for Markdown.
 */
const SIMPLE = new RegExp(
	`\\[${ALT}\\]\\((?:(https?://(?![^/?#]{0,4000}&)${IN_URL}{1,4000})(?: "[^"!<\\n]{0,1000}")?\\)|data:image/(?:png|jpe?g|gif|webp);base64,)`,
	'iy',
);
const AFTER_DATA = /[^\w+/=]/g;
/** The exclamation mark of an image, or an image in HTML with its attributes: in quotes may be the end of a tag. */
const IMAGE =
	/(?<!!)(?:!+(?=\[)|!*<im(?:g|age)\b((?:[^"'<>]{1,4000}|"[^"]{0,4000}"|'[^']{0,4000}'){0,100})>?)/gi;
const SOURCE = /\bsrc\s*=\s*["']?((?:https?:)?\/\/[^\s"'<>![\]]+)/i;
/** The end of a text that may become an image which stays, or an image in HTML. */
const BEGUN = new RegExp(
	`(?<!!)(?:!+(?:\\[${ALT}(?:\\](?:\\(${IN_URL}*(?: "?[^"!<\\n]*"?)?)?)?)?|!*<(?:i|im(?:[ag](?:[^"'<>]|"[^"]*"|'[^']*')*(?:"[^"]*|'[^']*)?)?)?|!*\\\\(?:u0{0,2}(?:21?|5b?)?)?)$`,
	'i',
);

/** With the escapes that are the beginning of an image: a chat page may draw the text that is in a JSON text. */
function unescaped(text: string): string {
	return text.replace(/\\u0021(?=[![\\])/g, '!').replace(/(?<=!)\\u005b/gi, '[');
}

/** Whether an image, by the place of its bracket, has the simple form, and a file or a known URL; undefined for a file without an end. */
function stays(text: string, at: number, isKnown: IsKnown): boolean | undefined {
	SIMPLE.lastIndex = at;
	const [begin, url] = SIMPLE.exec(text) ?? [];
	if (begin === undefined || url !== undefined) return url !== undefined && isKnown(url);
	AFTER_DATA.lastIndex = at + begin.length;
	const end = AFTER_DATA.exec(text);
	return end === null ? undefined : end[0] === ')';
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
		if (attributes === undefined)
			return stays(plain, at + image.length, isKnown) === true ? image : '';
		const [, source] = SOURCE.exec(attributes) ?? [];
		if (source !== undefined) return `[image](<${source}>)`;
		// Its texts may have images.
		return `&lt;${imagesAsLinks(image.replace(/^!*</, ''), isKnown)}`;
	});
}

/** A copy of JSON with `imagesAsLinks` in all its texts: a chat shows the whole item where it has no text to show. */
export function imagesAsLinksIn<T>(json: T, isKnown: IsKnown = () => false): T {
	const withLinks = (_name: string, value: unknown) =>
		typeof value === 'string' ? imagesAsLinks(value, isKnown) : value;
	return JSON.parse(JSON.stringify(json, withLinks)) as T;
}

/** `imagesAsLinks` for a text that arrives in pieces: holds back only what may begin an image, until the next piece. */
export function imagesInStream(isKnown?: IsKnown) {
	let held = '';
	let isFile = false;
	return (text: string, isLast = false): string => {
		if (isKnown === undefined) return text;
		held += text;
		// A file is long: it is not read again with each piece.
		if (isFile && !isLast && text.search(AFTER_DATA) === -1) return '';
		held = unescaped(held);
		const last = held.lastIndexOf('![');
		isFile = !isLast && last !== -1 && stays(held, last + 1, isKnown) === undefined;
		const begun = isLast ? '' : (BEGUN.exec(held.slice(-MAX_HELD))?.[0] ?? '');
		const end = isFile ? last : held.length - begun.length;
		const shown = held.slice(0, end);
		held = held.slice(end);
		return imagesAsLinks(shown, isKnown);
	};
}
