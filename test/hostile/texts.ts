/**
 * Texts that are slow to read where a reader looks at the same characters again and again, each in any length. They are
 * the inputs of the growth test; the fuzz test mixes pieces of them.
 */

/** A part before, a part that is repeated, with its number for `#`, and a part after. */
type Shape = readonly [before: string, repeated: string, after?: string];

const SHAPES: Readonly<Record<string, Shape>> = {
	'opening angle brackets': ['', '<'],
	'opening script tags': ['', '<script'],
	'tags that never close': ['', '<a href="', '<'],
	'a URL with dots': ['http://a/', '.', 'x'],
	'a URL with closing signs': ['http://a/', '_*', 'x'],
	'many URLs of pictures': ['', 'http://a.example/x.png '],
	'beginnings of Markdown images': ['', '!['],
	'Markdown images and blanks': ['![](', ' ', 'x'],
	'nested Markdown': ['', '![a](http://a/[b](', ')'],
	'code fences': ['', '```'],
	'a code fence and line breaks': ['```', '\n', 'x'],
	'a code fence and blanks': ['```json', ' \n', 'x'],
	blanks: ['', ' ', 'x'],
	'line breaks': ['', '\n', 'x'],
	'stack traces': ['', '\n   at '],
	slashes: ['', '/', 'x'],
	dots: ['', 'a.', '!'],
	'opening brackets': ['', '['],
	'nested lists': ['', '[', ']'],
	'nested objects': ['', '{"a":', '1'],
	'closing braces': ['{', '}', 'x'],
	'quotation marks': ['', '"', 'x'],
	backslashes: ['"', '\\', 'x'],
	'escaped letters': ['"', '\\u005f', '"'],
	'a list of numbers': ['[0', ',1', ']'],
	'links to different pictures': ['', 'http://a.example/#.png '],
	'different keys': ['{"a":1', ',"k#":1', '}'],
	'keys that every object has': ['{"constructor":1', ',"__proto__":1', '}'],
	'fields of events': ['', 'data: x\n'],
	'carriage returns in a stream': ['data: x\n', '\r', 'x'],
	'comments in a stream': ['', ':\n'],
	'half surrogates': ['', '\ud800'],
	'invisible characters': ['', '\u202e\u200b'],
	'a file in a URL': ['data:image/png;base64,', 'A', '='],
};

export interface HostileText {
	readonly name: string;
	/** The text in a length of about so many characters. */
	readonly of: (length: number) => string;
}

export const HOSTILE_TEXTS: readonly HostileText[] = Object.entries(SHAPES).map(
	([name, [before, repeated, after = '']]) => ({
		name,
		of: (length) => {
			const times = Math.ceil(length / repeated.length);
			const all = repeated.includes('#')
				? Array.from({ length: times }, (_, i) => repeated.replace('#', `${i}`)).join('')
				: repeated.repeat(times);
			return before + all + after;
		},
	}),
);

/** An ordinary JSON document, for the readers that parse one. */
export function plainJson(length: number): string {
	const entry = JSON.stringify({ text: plainText(40), tags: ['lake', 'boat'], seconds: 5 });
	return `[${entry}${`,${entry}`.repeat(Math.ceil(length / entry.length) - 1)}]`;
}

/** Ordinary prose, which every reader is measured with for comparison. */
export function plainText(length: number): string {
	return 'A boat lies at the shore of the lake, and nobody is in it. '
		.repeat(Math.ceil(length / 59))
		.slice(0, length);
}
