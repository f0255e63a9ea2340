import { bare } from '../../json';
import { hexId } from '../../random';
import { fieldIn, namedValue } from '../generation/fields';
import { extractKeywords } from '../generation/words';
import { splitList, type Entities } from './entities';
import type { JsonSchema } from './schema';

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
/** The date of a field with its year, also one such as `2026年3月15日` or `March 15, 2026`. */
function dateIn(text: string, name: string): number {
	const date = /.*\d{4}.*/.exec(fieldIn(text, name, 'date') ?? '')?.[0];
	return Date.parse(`${date?.replace(/[年月]/g, '-').replace(/日|(?<=\d)[a-z]+/, '')} UTC`);
}

/** Generators by JSON schema `format`. */
const FORMATS = bare<Readonly<Record<string, (entities: Entities, name: string) => string>>>({
	date: ({ text, subject, nowMs }, name) =>
		isoDay(dateIn(subject, name) || dateIn(text, name) || nowMs),
	time: ({ nowMs }) => new Date(nowMs).toISOString().slice(11, 19) + 'Z',
	'date-time': ({ text, nowMs }) =>
		/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/.exec(text)?.[0] ??
		new Date(nowMs).toISOString(),
	email: ({ text }) => fieldIn(text, 'email') ?? 'someone@example.com',
	uri: ({ text }) => fieldIn(text, 'url') ?? 'https://example.com/',
	url: ({ text }) => fieldIn(text, 'url') ?? 'https://example.com/',
	uuid: ({ text }) =>
		hexId(32, text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5'),
	ipv4: ({ text }) => /\b\d{1,3}(?:\.\d{1,3}){3}\b/.exec(text)?.[0] ?? '127.0.0.1',
	hostname: () => 'example.com',
});

/** List after a name in the text: `labels red, green and blue`. */
export function namedList(name: string, { text }: Entities): readonly string[] {
	const stem = name.replace(/s$/, '');
	if (!/^\w+$/.test(stem)) return [];
	const rest = new RegExp(`\\b${stem}s?\\b\\s*(?:are\\b|=|:)?\\s*(.+)`, 'i').exec(text)?.[1];
	return rest === undefined ? [] : splitList(rest.replace(/[.?!]+$/, ''));
}

/** Whether a property is named like an identifier, such as an order number. */
export const isIdentifierName = (name: string): boolean =>
	/(?:^|[_-])(?:id|code|number|no|sku|key)$|Id$|Code$|Number$/.test(name);

/** What the patterns of identifiers often match. */
const SAMPLES = ['1', '12', '123', '1234', 'a', 'A', 'abc', 'ABC'];
/** Longer texts are not tested, because some patterns backtrack catastrophically on them. */
const MAX_TESTED_CHARACTERS = 24;
/** Limit of generated padding, because `minLength` can be huge. */
const MAX_LENGTH = 10_000;

function findMatching(pattern: string, candidates: readonly string[]): string | undefined {
	try {
		const wanted = new RegExp(pattern, 'u');
		return candidates
			.filter(({ length }) => length <= MAX_TESTED_CHARACTERS)
			.find((candidate) => wanted.test(candidate));
	} catch {
		return undefined;
	}
}

/** Generates a string within the limits of the schema, from the entities of the message where possible. */
export function fillString(schema: JsonSchema, name: string, entities: Entities): string {
	const format = FORMATS[schema.format ?? ''];
	if (format) return format(entities, name);

	const code = isIdentifierName(name) ? /\b[\w-]*\d[\w-]*/.exec(entities.text)?.[0] : undefined;
	const { text: source, subject } = entities;
	const text = code ?? namedValue(name, source) ?? fieldIn(source, name) ?? subject;
	const { pattern, minLength = 0, maxLength = Infinity } = schema;
	const words = entities.text
		.split(/[^\p{L}\p{N}_-]+/u)
		.filter((word) => extractKeywords(word).length > 0);
	const samples = [text, ...words, ...words.map((word) => word.toUpperCase()), ...SAMPLES];
	const match = pattern === undefined ? undefined : findMatching(pattern, samples);
	return Array.from(match ?? text)
		.slice(0, maxLength)
		.join('')
		.padEnd(Math.min(minLength, MAX_LENGTH), '.');
}
