import WORDS from './labels.json';

/** Words that speak for a label. */
const LABEL_WORDS: Readonly<Record<string, string>> = WORDS;
/** Labels for a text that no word speaks for. */
const NEITHER = /^(?:neutral|other|none|unknown|normal|general|low|中性|其他)$/i;
const LISTED =
	/\b(?:as|into|one of|labels?|categories|sentiments?|options)\b[\s:]*(?:either\s+)?((?:["'`]?[\w-]+["'`]?\s*(?:,\s*(?:(?:or|and)\s+)?|\/|\||\bor\b|\band\b)\s*)+["'`]?[\w-]+)/i;

/** The labels of a list: `positive, neutral or negative`. */
export const labelsIn = (list: string): readonly string[] =>
	list
		.split(/\s*(?:,|\/|\||\bor\b|\band\b)\s*/i)
		.map((label) => label.replace(/["'`]/g, ''))
		.filter(Boolean);

/** What is to be classified, behind its instruction: what follows the last colon or line break, or a quotation. */
const contentOf = (text: string): string =>
	/[^]*(?:[:：]\s|\n)([^]{3,})$/.exec(text)?.[1] ?? /["“]([^"”]{3,})["”]/.exec(text)?.[1] ?? text;

/** The label that fits a text: by its name in the text, or by words that speak for it. */
export function classify(text: string, labels: readonly string[]): string {
	const content = ` ${contentOf(text).toLowerCase()} `;
	const points = (label: string) => {
		const name = label.toLowerCase();
		const words = new Set([name, ...(LABEL_WORDS[name]?.split(' ') ?? [])]);
		const isIn = (word: string) =>
			/\p{Script=Han}/u.test(word)
				? content.includes(word)
				: content.split(/[^\p{L}\p{N}']+/u).includes(word);
		return [...words].filter(isIn).length;
	};
	const best = [...labels].sort((a, b) => points(b) - points(a))[0]!;
	return points(best) > 0 ? best : (labels.find((label) => NEITHER.test(label)) ?? labels[0]!);
}

/** One of some allowed values; of texts, the one that fits. */
export const classifyOne = (text: string, allowed: readonly unknown[]): unknown =>
	allowed.length > 0 && allowed.every((value) => typeof value === 'string')
		? classify(text, allowed)
		: (allowed[0] ?? null);

/** Answers a request to choose one of some labels, or yes or no; undefined for any other request. */
export function classifyText({ text }: { readonly text: string }): string | undefined {
	if (/\byes or no\b/i.test(text)) return classify(text, ['Yes', 'No']);
	if (!/\b(?:classify|categorize|label|sentiment)/i.test(text)) return undefined;
	const labels = labelsIn(LISTED.exec(text)?.[1] ?? '');
	return labels.length > 1 ? classify(text, labels) : undefined;
}
