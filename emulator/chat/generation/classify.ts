import WORDS from './labels.json';
import { LANGUAGES, match } from './language';

/** Words by label; or `=` and a label of the same meaning. */
const LABEL_WORDS: Readonly<Record<string, string>> = WORDS;
/** Labels for a text that no word speaks for. */
const NEITHER = /^(?:neutral|other|none|unknown|normal|general|low|中性|其他|普通|一般)$/i;

/** The labels of a list: `positive, neutral or negative`. */
export const labelsIn = (list: string): readonly string[] =>
	list
		.split(/\s*(?:,|，|、|\/|\||\bor\b|\band\b|或者?|还是)\s*/i)
		.map((label) => label.replace(/["'`“”]/g, ''))
		.filter(Boolean);

/** What a request is about, behind its instruction: what follows the last colon or line break, or a quotation. */
export const contentOf = (text: string): string =>
	/[^]*(?::\s|：|\n)([^]{3,})$/.exec(text)?.[1] ?? /["“]([^"”]{3,})["”]/.exec(text)?.[1] ?? text;

/** Words that speak for a label. */
function wordsFor(label: string): string {
	const words = LABEL_WORDS[label] ?? '';
	return words.startsWith('=') ? LABEL_WORDS[words.slice(1)]! : words;
}

const includesWord = (text: string, word: string): boolean =>
	/\p{Script=Han}/u.test(word)
		? text.includes(word)
		: text.split(/[^\p{L}\p{N}']+/u).includes(word);

/** Number of words in a text that speak for a label. */
function points(content: string, label: string): number {
	const [text, name] = [content.toLowerCase(), label.toLowerCase()];
	const isNamed = name.split(/[\s_-]+/).every((word) => includesWord(text, word));
	const words = wordsFor(name).split(' ').filter(Boolean);
	return Number(isNamed) + words.filter((word) => includesWord(text, word)).length;
}

/** The label that fits a text: by its name in the text, or by words that speak for it. */
export function classify(text: string, labels: readonly string[]): string {
	const content = contentOf(text);
	const pointsOf = (label: string) => points(content, label);
	const best = [...labels].sort((a, b) => pointsOf(b) - pointsOf(a))[0]!;
	return pointsOf(best) > 0 ? best : (labels.find((label) => NEITHER.test(label)) ?? labels[0]!);
}

/** One of some allowed values; of texts, the one that fits. */
export const classifyOne = (text: string, allowed: readonly unknown[]): unknown =>
	allowed.length > 0 && allowed.every((value) => typeof value === 'string')
		? classify(text, allowed)
		: (allowed[0] ?? null);

/** Whether a text is what a question names, such as spam; or else, whether it denies nothing. */
export function isSo(question: string, content: string): boolean {
	const asked = question.toLowerCase();
	const label = Object.keys(LABEL_WORDS).find(
		(name) => wordsFor(name) !== LABEL_WORDS['no'] && includesWord(asked, name),
	);
	return label === undefined ? points(content, 'no') === 0 : points(content, label) > 0;
}

/** Answers a request to choose one of some labels, or yes or no; undefined for any other request. */
export function classifyText({ text }: { readonly text: string }): string | undefined {
	for (const language of LANGUAGES) {
		const [yesOrNo] = match(language.yesNo, text) ?? [];
		if (yesOrNo !== undefined) {
			const question = text.replace(yesOrNo, '');
			const content = contentOf(question);
			const asked = question.slice(0, question.indexOf(content));
			return language.labels[isSo(asked, content) ? 0 : 1];
		}
		const list = match(language.classify, text) && match(language.listed, text)?.[1];
		const labels = labelsIn(list ?? '');
		if (labels.length > 1) return classify(text, labels);
	}
	return undefined;
}
