import { hexId } from '../../random';
import { wordsOf } from '../brain/wordsOf';
import { listed, type Evidence } from './evidence';
import type { Schema } from './schema';

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const found = (pattern: RegExp, text: string, otherwise: string): string =>
	pattern.exec(text)?.[0] ?? otherwise;

/** A text of each format that JSON schema names. */
const FORMATS: Readonly<Record<string, (evidence: Evidence) => string>> = {
	date: ({ text, nowMs }) => found(/\d{4}-\d\d-\d\d/, text, isoDay(nowMs)),
	time: ({ nowMs }) => new Date(nowMs).toISOString().slice(11, 19) + 'Z',
	'date-time': ({ text, nowMs }) =>
		found(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/, text, new Date(nowMs).toISOString()),
	email: ({ text }) => found(/[\w.+-]+@[\w-]+\.[\w.]+\w/, text, 'someone@example.com'),
	uri: ({ text }) => found(/https?:\/\/[^\s"'<>]+[^\s"'<>.,?!)]/, text, 'https://example.com/'),
	url: ({ text }) => found(/https?:\/\/[^\s"'<>]+[^\s"'<>.,?!)]/, text, 'https://example.com/'),
	uuid: ({ text }) =>
		hexId(32, text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5'),
	ipv4: ({ text }) => found(/\b\d{1,3}(?:\.\d{1,3}){3}\b/, text, '127.0.0.1'),
	hostname: () => 'example.com',
};

/** The value that a text gives a name: `from Paris`, `city: Paris`, `title "Good day"`. */
export function namedValue(name: string, { text }: Evidence): string | undefined {
	const words = name
		.replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
		.split(/[^\p{L}\p{N}]+/u)
		.filter(Boolean);
	if (words.length === 0) return undefined;
	const match = new RegExp(
		`\\b${words.join('[ _-]?')}\\b\\s*(?:is\\b|=|:)?\\s*(?:["“']([^"”']+)["”']|([\\p{L}\\p{N}_-]+(?:\\s+\\p{Lu}[\\p{L}\\p{N}_-]*)*))`,
		'iu',
	).exec(text);
	return match?.[1] ?? match?.[2]?.split(/\s+(?=\p{Ll})/u)[0];
}

/** The things that a text lists under a name: `labels red, green and blue`. */
export function namedList(name: string, { text }: Evidence): readonly string[] {
	const stem = name.replace(/s$/, '');
	if (!/^\w+$/.test(stem)) return [];
	const rest = new RegExp(`\\b${stem}s?\\b\\s*(?:are\\b|=|:)?\\s*(.+)`, 'i').exec(text)?.[1];
	return rest === undefined ? [] : listed(rest.replace(/[.?!]+$/, ''));
}

/** A code such as an order number, for properties that are called like one. */
export const isCode = (name: string): boolean =>
	/(?:^|[_-])(?:id|code|number|no|sku|key)$|Id$|Code$|Number$/.test(name);

/** The word of an enumeration that a text mentions. */
export function mentioned(values: readonly unknown[], { text }: Evidence): unknown {
	const words = wordsOf(text);
	return values.find((value) => {
		const wanted = wordsOf(String(value));
		return wanted.length > 0 && wanted.every((word) => words.includes(word));
	});
}

/** Some patterns take for ever on long texts. */
const MOST_TESTED = 24;
/** A schema may demand more, but nobody reads it. */
const MOST_LENGTH = 10_000;

function matching(pattern: string, candidates: readonly string[]): string | undefined {
	try {
		const wanted = new RegExp(pattern, 'u');
		return candidates
			.filter(({ length }) => length <= MOST_TESTED)
			.find((candidate) => wanted.test(candidate));
	} catch {
		return undefined;
	}
}

/** A text for a property, from the message where it offers one and within the schema's bounds. */
export function fillText(schema: Schema, name: string, evidence: Evidence): string {
	const format = FORMATS[schema.format ?? ''];
	if (format) return format(evidence);

	const code = isCode(name) ? /\b[\w-]*\d[\w-]*/.exec(evidence.text)?.[0] : undefined;
	const text = code ?? namedValue(name, evidence) ?? evidence.subject;
	const { pattern, minLength = 0, maxLength = Infinity } = schema;
	const words = evidence.text
		.split(/[^\p{L}\p{N}_-]+/u)
		.filter((word) => wordsOf(word).length > 0);
	const samples = [
		text,
		...words,
		...words.map((word) => word.toUpperCase()),
		'1',
		'12',
		'123',
		'1234',
		'a',
		'A',
		'abc',
		'ABC',
	];
	const matched = pattern === undefined ? undefined : matching(pattern, samples);
	return Array.from(matched === undefined || matched === '' ? text : matched)
		.slice(0, maxLength)
		.join('')
		.padEnd(Math.min(minLength, MOST_LENGTH), '.');
}
