import { toEnglish, wordsOf } from './dictionary';
import { LANGUAGES } from './language';

/** Stop words: common words without meaning for matching. */
const STOP_WORDS = new Set(LANGUAGES.flatMap(({ stopWords }) => stopWords.split(' ')));

/** Simple stemmer: `searching`, `searches` → `search`. */
const stem = (word: string): string =>
	word.length > 4 ? word.replace(/(?:ies|y)$/, 'i').replace(/(?:ing|es|ed|s)$/, '') : word;

/** Keywords of a text or an identifier: split, lower case, in English where possible, without stop words, stemmed. */
export function extractKeywords(text: string): readonly string[] {
	return text
		.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.flatMap((word) => (/\p{Script=Han}/u.test(word) ? wordsOf(word) : [word]))
		.filter((word) => word.length > 0 && !STOP_WORDS.has(word))
		.map((word) => stem(toEnglish(word)));
}
