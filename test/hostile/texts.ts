/** A part before, a part that is repeated, with its number for `#0`, and a part after. */
type Shape = readonly [before: string, repeated: string, after?: string];

/** Texts that are slow to read where a reader looks at the same characters again and again. */
const SHAPES: Readonly<Record<string, Shape>> = {
	'opening angle brackets': ['', '<'],
	'opening script tags': ['', '<script'],
	'closing script tags': ['', '</script'],
	'comments of HTML': ['', '<!--'],
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
	'links to different pictures': ['', 'http://a.example/#0.png '],
	'different keys': ['{"a":1', ',"k#0":1', '}'],
	'keys that every object has': ['{"constructor":1', ',"__proto__":1', '}'],
	'fields of events': ['', 'data: x\n'],
	'carriage returns in a stream': ['data: x\n', '\r', 'x'],
	'comments in a stream': ['', ':\n'],
	'half surrogates': ['', '\ud800'],
	'invisible characters': ['', '\u202e\u200b'],
	'a file in a URL': ['data:image/png;base64,', 'A', '='],
};

/** What people and models write: prose, and a reply with the marks and letters of other texts. */
const PROSE = 'A boat lies at the shore of the lake, and nobody is in it. ';
const REPLY =
	'## 小船\n\nShe asked: "Is the \\"boat\\" there?" *Nobody* was in `it`, see [the lake](https://a.example/lake.html)\n\n- <two>\n\n';
const documentOf = (text: string): Shape => {
	const entry = JSON.stringify({ text, tags: ['lake', '湖'], seconds: 5 });
	return [`[${entry}`, `,${entry}`, ']'];
};
const ORDINARY: Readonly<Record<string, Shape>> = {
	prose: ['', PROSE],
	'a reply': ['', REPLY],
	'a document of prose': documentOf(PROSE),
	'a document of replies': documentOf(REPLY),
};

/** A text in a length of about so many characters. */
export interface Text {
	readonly name: string;
	readonly of: (length: number) => string;
}

const textsOf = (shapes: Readonly<Record<string, Shape>>) =>
	Object.entries(shapes).map(([name, [before, repeated, after = '']]): Text => ({
		name,
		of: (length) => {
			const times = Math.ceil(length / repeated.length);
			const all = repeated.includes('#0')
				? Array.from({ length: times }, (_, i) => repeated.replace('#0', `${i}`)).join('')
				: repeated.repeat(times);
			return before + all + after;
		},
	}));
/** The inputs of the growth test; the fuzz test mixes pieces of them. */
export const HOSTILE_TEXTS = textsOf(SHAPES);
/** What the growth test compares them with. */
export const ORDINARY_TEXTS = textsOf(ORDINARY);
