import { bare } from '../../json';
import DICTIONARY from './dictionary.json';
import { LANGUAGES, match, segments } from './language';

/** Columns by the name of their language: English first, then Chinese. */
const COLUMNS: Readonly<Record<string, number>> = bare(DICTIONARY.languages);
const CHINESE = 1;

/** Words of one meaning, by language; the first of several is the one to write. */
const ROWS = DICTIONARY.rows.map((row) => {
	const cells = row.split('|');
	return cells.map((cell, column) => (column === CHINESE ? cell.split(' ') : [cell]));
});
const BY_WORD = new Map(
	ROWS.flatMap((row) => row.flat().map((word) => [word.toLowerCase(), row] as const)).reverse(),
);
const rowOf = (word: string) =>
	BY_WORD.get(word) ?? BY_WORD.get(word.replace(/^(?:an?|the) /, '').replace(/s$/, ''));

/** A Chinese word in English; any other, or an unknown one, as it is. */
export const toEnglish = (word: string): string =>
	/\p{Script=Han}/u.test(word) ? (BY_WORD.get(word)?.[0]![0] ?? word) : word;

/** The Chinese words of the dictionary; the longest first. */
const KNOWN = new RegExp(
	`(${ROWS.flatMap((row) => row[CHINESE]!)
		.filter(({ length }) => length > 1)
		.sort((a, b) => b.length - a.length)
		.join('|')})`,
);

/** Words of a text, which Chinese does not separate: those of the dictionary, and others as they are divided usually. */
export const wordsOf = (text: string): readonly string[] =>
	text.split(KNOWN).flatMap((part) => (KNOWN.test(part) ? [part] : segments(part)));

/** Chinese words for an English one. */
export const toChinese = (word: string): readonly string[] =>
	BY_WORD.get(word.toLowerCase())?.[CHINESE] ?? [];

function translate(item: string, column: number): string {
	const whole = rowOf(item.toLowerCase());
	if (whole) return whole[column]![0]!;
	const gap = column === CHINESE ? '' : ' ';
	const words = wordsOf(item).filter((word) => word.trim() !== '');
	return words.map((word) => rowOf(word.toLowerCase())?.[column]![0] ?? word).join(gap);
}

/** The items that a request asks to translate, translated; undefined for any other request. Unknown words stay. */
export function translateItems(text: string): readonly string[] | undefined {
	for (const asked of LANGUAGES.flatMap(({ translate }) => translate)) {
		const found = match(asked, text);
		const { to = '', items = '' } = found?.groups ?? {};
		const column = COLUMNS[to.toLowerCase()];
		if (!found || column === undefined) continue;
		const [, list = items] =
			/[:：\n]\s*([^]+)$/.exec(text.slice(found.index + found[0].length)) ?? [];
		return list
			.split(/\s*(?:[,，、;；\n]|\band\b|和)\s*/)
			.map((item) => item.replace(/^(?:[\s:：把将"“”*-]|\d+\.\s)+|[\s.。!?"“”]+$/g, ''))
			.filter(Boolean)
			.map((item) => translate(item, column));
	}
	return undefined;
}
