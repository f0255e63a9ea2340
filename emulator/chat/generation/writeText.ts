import { aggregate, calculate } from './calculate';
import { classifyText } from './classify';
import { translateItems } from './dictionary';
import { extractFields } from './fields';
import { capitalize, LANGUAGES, languageOf, match } from './language';
import type { Question } from './question';
import { recallFact } from './recallFact';
import { firstSentence } from './topic';

const MAX_PIECES = 20;

/** Number of texts requested: `three titles`, `5 short video prompts`. */
function countIn(text: string): number {
	for (const { count, numbers } of LANGUAGES) {
		const [, digits, word] = match(count, text) ?? [];
		const number = digits ?? (word && numbers.indexOf(word.toLowerCase()) + 2);
		if (number !== undefined) return Math.min(Math.max(Number(number), 1), MAX_PIECES);
	}
	return 1;
}

const SMALL_WORDS = new Set(['a', 'an', 'and', 'at', 'by', 'for', 'in', 'of', 'on', 'the', 'to']);

/** `a lighthouse in the storm` → `a Lighthouse in the Storm`. */
const titleCase = (topic: string): string =>
	topic
		.split(' ')
		.map((word) => (SMALL_WORDS.has(word) ? word : capitalize(word)))
		.join(' ');

/**
 * Fills in a text of a language: `{topic}`, and a choice from each list that it names, such as `{shot}`.
 *
 * @param turn number of the text, if an answer has several
 */
function fill(template: string, { text, topic, choose }: Question, turn = 0): string {
	const { lists } = languageOf(text);
	const values: Readonly<Record<string, string>> = {
		topic,
		subject: topic.replace(
			/^(?:a |the )?(?:short )?(?:video|clip|film)\s+(?:of|about)\s+/i,
			'',
		),
		inTitle: titleCase(topic),
		sentence: firstSentence(text),
	};
	return template.replace(/\{(\w)(\w+)\}/g, (_whole, first: string, rest: string) => {
		const name = first.toLowerCase() + rest;
		const value = values[name] ?? choose(lists[name]!, name, turn);
		return first + rest === name ? value : capitalize(value);
	});
}

/** The writer of short texts that a text names. */
const writerIn = (text: string) =>
	LANGUAGES.flatMap(({ writers }) => writers).find(({ asked }) => match(asked, text));

/** Writer requested by the question, or by the instructions for every question. */
function writerFor({ text, instructions }: Question) {
	const isOrder = LANGUAGES.some(
		({ order, question }) => match(order, text) && !match(question, text),
	);
	const lines = instructions
		.split(/[\n.。]/)
		.filter((line) => /\bwrit|prompts?\b|写|提示词/i.test(line));
	return (isOrder ? writerIn(text) : undefined) ?? lines.map(writerIn).find(Boolean);
}

/** Writes one short text of the kind that a name such as `title` asks for; undefined if it names none. */
export function writeNamed(question: Question, name: string, turn?: number): string | undefined {
	const { writers } = languageOf(question.text);
	const kind = LANGUAGES.map((language) =>
		language.writers.findIndex(({ asked }) => match(asked, name)),
	).find((index) => index >= 0);
	return kind === undefined ? undefined : fill(writers[kind]!.text, question, turn);
}

/** Writes a detailed video prompt of one sentence (spec 2.8 `prompt`). */
export const writeVideoPrompt = (question: Question, turn?: number): string =>
	fill(languageOf(question.text).writers[0]!.text, question, turn);

/** The texts that a request asks for, such as three prompts or translated words; empty if it asks for anything else. */
export function writePieces(question: Question): readonly string[] {
	const translated = translateItems(question.text);
	if (translated) return translated;
	const writer = writerFor(question);
	if (!writer) return [];
	return Array.from({ length: countIn(question.text) }, (_, turn) =>
		fill(writer.text, question, turn),
	);
}

type Rule = (question: Question) => string | undefined;

const numbered = (pieces: readonly string[]): string =>
	pieces.length === 1 ? pieces[0]! : pieces.map((piece, i) => `${i + 1}. ${piece}`).join('\n');

/** Answer rules in order of precedence; the first result is the answer. */
const RULES: readonly Rule[] = [
	({ text }) => translateItems(text)?.join(match(languageOf(text).perLine, text) ? '\n' : ', '),
	extractFields,
	(question) => numbered(writePieces(question)) || undefined,
	classifyText,
	recallFact,
	({ text }) => calculate(text),
	({ text }) => aggregate(text)?.text,
	({ knowledge }) => (knowledge.length > 0 ? knowledge.join(' ') : undefined),
	(question) => {
		const { answers } = languageOf(question.text);
		const [, template] = answers.find(([pattern]) => match(pattern!, question.text))!;
		return fill(template!, question);
	},
];

/** Writes the answer as plain text. */
export function writeText(question: Question): string {
	for (const rule of RULES) {
		const text = rule(question);
		if (text) return text;
	}
	return '';
}
