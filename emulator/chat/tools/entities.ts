import { wordsOf } from '../generation/dictionary';
import { extractKeywords } from '../generation/words';

/** Entities extracted from a part of the message, as values for the arguments of a tool. */
export interface Entities {
	readonly text: string;
	/** Subject of the text; the default value of strings. */
	readonly subject: string;
	/** All subjects, if the text lists several. */
	readonly subjects: readonly string[];
	/** Numbers in the text. Mutable: each is used for one argument. */
	readonly numbers: number[];
	/** Milliseconds since 1970, the default of dates. */
	readonly nowMs: number;
}

const TRAILING =
	/\s+(?:please|now|right now|today|tomorrow|for me|with|using|by|via|and|or)\b.*$|[\s.?!,;:"”»]+$/i;
const QUOTED = /["“«']([^"”»']{2,})["”»']/;
const INTRODUCED =
	/(?:\b(?:in|for|of|about|to|at|from|on|called|named)\b|:)\s+(?:the\s+)?(?=\S)([^]+)$/i;
const CODE = /\b(?=\w*\d)[A-Za-z]*[-_]?\d[\w-]*/;
const CAPITALS = /\p{Lu}[\p{L}\p{N}'’-]*(?:\s+\p{Lu}[\p{L}\p{N}'’-]*)*/u;
const NAME_FIRST = new RegExp(`^${CAPITALS.source}`, 'u');

const trimmed = (text: string): string => text.replace(TRAILING, '').replace(TRAILING, '').trim();

/** Words that no argument is made of, such as those of the tool's declaration. */
type KnownWords = Pick<ReadonlySet<string>, 'has'>;

/** Subject of a Chinese text: its longest part without known words, and without stop words at its ends. */
function chineseSubject(text: string, known: KnownWords): string {
	const words = wordsOf(text);
	const isStop = (word = '') => extractKeywords(word).length === 0;
	const parts = words
		.map((word) => (extractKeywords(word).some((key) => known.has(key)) ? '\0' : word))
		.join('\n')
		.split('\0')
		.map((part) => {
			const inPart = part.split('\n').filter(Boolean);
			const first = inPart.findIndex((word) => !isStop(word));
			const last = inPart.findLastIndex((word) => !isStop(word));
			return first < 0 ? '' : inPart.slice(first, last + 1).join('');
		});
	return parts.reduce((a, b) => (b.length > a.length ? b : a), '') || text;
}

function subjectIn(text: string, known: KnownWords): string {
	const quoted = QUOTED.exec(text)?.[1];
	if (quoted) return quoted;
	if (/\p{Script=Han}/u.test(text)) return chineseSubject(text, known);

	const introduced = INTRODUCED.exec(text)?.[1];
	if (introduced) return NAME_FIRST.exec(introduced)?.[0] ?? trimmed(introduced);

	const name = NAME_FIRST.exec(text)?.[0];
	if (name !== undefined && (name === text || name.includes(' '))) return name;

	const [, ...rest] = text.trim().split(/\s+/);
	return CODE.exec(text)?.[0] ?? CAPITALS.exec(rest.join(' '))?.[0] ?? trimmed(text);
}

/** Splits a list: `Paris, Rome and Oslo`. */
export function splitList(text: string): readonly string[] {
	return text
		.split(
			/\s*(?:,(?!\d)|[;，、；\n]|\band\b|(?<=\p{Script=Han})[和与跟](?=\p{Script=Han}))\s*/iu,
		)
		.map((part) => part.trim())
		.filter(Boolean);
}

const SEPARATORS = [/\n+/, /[;；]/, /(?<=\D)[.。!！](?:\s+|$)/, /,(?!\d)|[，、]|\band\b|和/];
/** The records of a text, one a line, a sentence or a part of a list: `2 lamps at $5, 3 chairs at $7`; none in a text with one. */
export function recordsIn(text: string): readonly string[] {
	const [, content = text] = /[:：\n]\s*([^]+)$/.exec(text) ?? [];
	for (const separator of SEPARATORS) {
		const records = content.split(separator).filter((part) => /[\d@]/.test(part));
		if (records.length > 1) return records.map((record) => record.trim());
	}
	return [];
}

/** Extracts the entities of a text. */
export function extractEntities(
	text: string,
	nowMs: number,
	known: KnownWords = new Set(),
): Entities {
	const subject = subjectIn(text, known) || 'this';
	const introduced = QUOTED.test(text) ? undefined : INTRODUCED.exec(text)?.[1];
	const subjects = splitList(introduced ?? subject)
		.map(trimmed)
		.filter(Boolean);
	return {
		text,
		subject,
		subjects: subjects.length > 0 ? subjects : [subject],
		numbers: (text.match(/(?<![\w-])-?\d+(?:\.\d+)?(?!\w)/g) ?? []).map(Number),
		nowMs,
	};
}
