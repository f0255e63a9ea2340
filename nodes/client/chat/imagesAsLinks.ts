/** Whether an image at this URL may stay, as one that the text itself contains. */
export type IsKnown = (url: string) => boolean;

/** How much of an image that has begun is held back: without its end, it becomes a link. */
const MAX_HELD = 2_000;

const ALT = '[^[\\]<\\n]*';
const FILE = 'data:image/(?:png|jpe?g|gif|webp);base64,';
const IN_URL = '[^\\s()<>[\\]\\\\]';
const TITLE = ' "[^"!<\\n]*"';
/** What follows the exclamation mark of an image in the one form that may stay, with its URL. */
const SIMPLE = `\\[${ALT}\\]\\((https?://${IN_URL}+|${FILE}[\\w+/=]+)(?:${TITLE})?\\)`;
/** The beginning of an image in any other form. None of the patterns goes back over what it has read. */
const OTHER = new RegExp(`(?<!!)!+(?=\\[)(?!${SIMPLE})`, 'gi');
/** The beginning of an image in the simple form, with its URL, and an image in HTML, with its attributes. */
const IMAGE = new RegExp(`(?<!!)(?:!+(?=${SIMPLE})|!*<im(?:g|age)\\b([^<>!]*)>?)`, 'gi');
/** The end of a text that may become an image which stays, or an image in HTML. */
const BEGUN = new RegExp(
	`(?<!!)(?:!+(?:\\[${ALT}(?:\\](?:\\(${IN_URL}*(?: "?[^"!<\\n]*"?)?)?)?)?|!*<(?:i|im(?:[ag][^<>!]*)?)?)$`,
	'i',
);
const BEGUN_FILE = new RegExp(`^!+\\[${ALT}\\]\\(${FILE}`, 'i');

/**
 * A text for a page that draws Markdown, with links in place of images. The browser of who reads it loads an image
 * unasked: a model that was told to would put into its URL what the conversation has.
 *
 * @param isKnown By default all images stay, as nobody sees the text.
 */
export function imagesAsLinks(text: string, isKnown?: IsKnown): string {
	if (isKnown === undefined) return text;
	return text
		.replace(IMAGE, (image: string, url: string, attributes?: string) => {
			if (attributes === undefined) return /^data:/i.test(url) || isKnown(url) ? image : '';
			// Whole, and without any way to name another host.
			if (/^[^:&\\]*>$/.test(image) && !image.includes('//')) return image;
			const [, source] =
				/\bsrc\s*=\s*["']?((?:https?:)?\/\/[^\s"']+)/i.exec(attributes) ?? [];
			return source === undefined ? image.replace('<', '&lt;') : `[image](<${source}>)`;
		})
		.replace(OTHER, '');
}

/** `imagesAsLinks` for a text that arrives in pieces: holds back only what may begin an image, until the next piece. */
export function imagesInStream(isKnown?: IsKnown) {
	let held = '';
	let isFile = false;
	return (text: string, isLast = false): string => {
		if (isKnown === undefined) return text;
		held += text;
		// A file is long: it is not read again with each piece.
		if (isFile && !isLast && /^[\w+/=]*$/.test(text)) return '';
		const begun = isLast ? '' : (BEGUN.exec(held)?.[0] ?? '');
		isFile = BEGUN_FILE.test(begun);
		const tail = isFile || begun.length <= MAX_HELD ? begun : '';
		const shown = held.slice(0, held.length - tail.length);
		held = tail;
		return imagesAsLinks(shown, isKnown);
	};
}
