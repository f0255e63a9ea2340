import { bare } from '../../json';
import WORDS from './labels.json';
import { capitalize, LANGUAGES, match, restOf } from './language';
import { extractKeywords } from './words';

/** Words by label; or `=` and a label of the same meaning. */
const LABEL_WORDS: Readonly<Record<string, string>> = bare(WORDS);
/** Labels for a text that no word speaks for. */
const NEITHER =
	/^(?:neutral|other|none|unknown|normal|general|low|中性|其他|普通|一般|正常)$|^(?:not|non)\b|^[非无]|^不(?!是$)/i;

/** The labels of a list: `positive, neutral or negative`. */
export const labelsIn = (list: string): readonly string[] =>
	list
		.split(/\s*(?:,|，|、|\/|\||\bor\b|\band\b|或者?|还是|(?<=”)(?=“))\s*/i)
		.map((label) => label.replace(/["'`“”]|^an? /g, ''))
		.filter(Boolean);

/** What a request is about, behind its instruction: what follows the last colon or line break, or a quotation. */
export const contentOf = (text: string): string =>
	/[^]*(?::\s|：|\n)([^]{3,})$/.exec(text)?.[1] ?? /["“]([^"”]{3,})["”]/.exec(text)?.[1] ?? text;

/** Whether a text has a word; a long one also with an ending. */
const includesWord = (text: string, word: string): boolean =>
	/\p{Script=Han}/u.test(word)
		? text.includes(word)
		: text
				.split(/[^\p{L}\p{N}']+|_/u)
				.some((other) => other === word || (word.length > 4 && other.startsWith(word)));

/** Words that speak for a label, or for a part of its name. */
function wordsFor(label: string): string {
	const names = Object.keys(LABEL_WORDS);
	const name = label in LABEL_WORDS ? label : names.find((part) => includesWord(label, part));
	const words = NEITHER.test(label) ? '' : (LABEL_WORDS[name ?? ''] ?? '');
	return words.startsWith('=') ? LABEL_WORDS[words.slice(1)]! : words;
}

/** Number of words in a text that speak for a label. */
function points(content: string, label: string): number {
	const [text, name] = [content.toLowerCase(), label.toLowerCase()];
	const isNamed = name.split(/[\s_-]+/).every((word) => includesWord(text, word));
	const words = wordsFor(label in LABEL_WORDS ? label : name)
		.split(' ')
		.filter(Boolean);
	return Number(isNamed) + words.filter((word) => includesWord(text, word)).length;
}

/** The label that fits a text: by its name in the text, or by words that speak for it. */
export function classify(text: string, labels: readonly string[]): string {
	const content = contentOf(text);
	const pointsOf = (label: string) => points(content, label);
	const best = [...labels].sort((a, b) => pointsOf(b) - pointsOf(a))[0]!;
	return pointsOf(best) > 0 ? best : (labels.find((label) => NEITHER.test(label)) ?? labels[0]!);
}

/** A label with a text about it; without one, it is for what no other fits. */
export interface Label {
	readonly name: string;
	readonly about: string | undefined;
}

/** Which of some labels fit a text, by their names and what is said about them: one, or several where the instructions allow it. */
export function chooseLabels(
	text: string,
	instructions: string,
	labels: readonly Label[],
): Readonly<Record<string, boolean>> {
	const known = extractKeywords(text);
	const scores = labels.map(({ name, about = '' }) => {
		const said = extractKeywords(about).filter((word) => known.includes(word)).length;
		return points(text, name) + said;
	});
	const isSeveral = instructions.includes('not mutually exclusive');
	const best = Math.max(...scores);
	const rest = labels.findIndex(({ about }) => about === undefined);
	const otherwise = Math.max(rest, 0);
	const chosen = best > 0 ? scores.indexOf(best) : otherwise;
	const isChosen = (index: number) => index === chosen || (isSeveral && scores[index]! > 0);
	return Object.fromEntries(labels.map(({ name }, index) => [name, isChosen(index)]));
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

const firstMatch = (patterns: readonly string[], text: string) =>
	patterns.map((pattern) => match(pattern, text)).find((found) => found !== null);

/** Answers a request to choose one of some labels, or yes or no; undefined for any other request. */
export function classifyText({ text }: { readonly text: string }): string | undefined {
	for (const language of LANGUAGES) {
		const yesOrNo = firstMatch(language.yesNo, text)?.[0];
		if (yesOrNo !== undefined) {
			const question = text.replace(yesOrNo, '');
			const { 0: asked, index } = /[^.。:：!！\n]*[?？]|$/.exec(question)!;
			const content = contentOf(restOf(question, question.length, index + asked.length));
			const labels = labelsIn(yesOrNo).map(capitalize);
			const which = asked || question.slice(0, question.indexOf(content));
			const so = isSo(which, content);
			return (labels.length > 1 ? labels : language.labels)[so ? 0 : 1];
		}
		const found = match(language.classify, text) && firstMatch(language.listed, text);
		const labels = labelsIn(found?.[1] ?? '');
		if (!found || labels.length < 2 || !labels.every((label) => /\p{L}/u.test(label))) continue;
		return classify(restOf(text, found.index, found.index + found[0].length), labels);
	}
	return undefined;
}
