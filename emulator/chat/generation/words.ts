import TEXTS from './texts.json';

/** Stop words: common words without meaning for matching. */
const STOP_WORDS = new Set(TEXTS.stopWords.split(' '));

/** Simple stemmer: `searching`, `searches` → `search`. */
const stem = (word: string): string =>
	word.length > 4 ? word.replace(/(?:ies|y)$/, 'i').replace(/(?:ing|es|ed|s)$/, '') : word;

/** Keywords of a text or an identifier: split, lower case, without stop words, stemmed. */
export function extractKeywords(text: string): readonly string[] {
	return text
		.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.filter((word) => word.length > 0 && !STOP_WORDS.has(word))
		.map(stem);
}

/** A text with its first letter in upper case. */
export function capitalize(text: string): string {
	return text.charAt(0).toUpperCase() + text.slice(1);
}
