/** Stop words: common words without meaning for matching. */
const STOP_WORDS = new Set(
	`a about all also an and any are as at be by can could current data do does find for from function get
	give given has have her his how i in information into is it its list make me my name new now of on one
	or our please return returns set show some string tell than that the their them then there these this
	to tool use used user value was we what when where which who why will with would you your`.split(
		/\s+/,
	),
);

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
