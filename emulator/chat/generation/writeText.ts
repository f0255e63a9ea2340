import { capitalize } from './words';
import { classifyText } from './classify';
import { calculate } from './calculate';
import { recallFact } from './recallFact';
import type { Question } from './question';
import { firstSentence } from './topic';
import TEXTS from './texts.json';
import { TEXT_WRITERS, type TextWriter } from './textWriters';

const NUMBER_WORDS = ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const MAX_PIECES = 20;
const COUNT = new RegExp(
	`\\b(?:(\\d{1,2})|(${NUMBER_WORDS.join('|')}))\\s+(?:[\\w-]+\\s+){0,4}?` +
		'(?:prompts|titles|headlines|slogans|taglines|captions|ideas|suggestions|concepts|stories|poems|scripts)\\b',
	'i',
);

/** Number of texts requested: `three titles`, `5 short video prompts`. */
function countIn(text: string): number {
	const [, digits, word] = COUNT.exec(text) ?? [];
	const count = digits ? Number(digits) : word ? NUMBER_WORDS.indexOf(word.toLowerCase()) + 2 : 1;
	return Math.min(Math.max(count, 1), MAX_PIECES);
}

const IS_ORDER =
	/\b(?:write|create|make|generate|give|draft|compose|suggest|invent|propose|return|produce|need|want|turn)\b/i;
const IS_QUESTION = /^\s*(?:what|how|why|when|who|which|where|is|are|does|do|can)\b/i;

/** Writer requested by the question, or by the instructions for every question. */
function writerFor({ text, instructions }: Question): TextWriter | undefined {
	const inQuestion = IS_ORDER.test(text) && !IS_QUESTION.test(text);
	return (
		TEXT_WRITERS.find(({ pattern: asked }) => inQuestion && asked.test(text)) ??
		TEXT_WRITERS.find(({ pattern: asked }) =>
			instructions
				.split(/[\n.]/)
				.some((line) => /\bwrit|prompts?\b/i.test(line) && asked.test(line)),
		)
	);
}

/** Writes the requested texts, such as three prompts; empty if the question requests anything else. */
export function writePieces(question: Question): readonly string[] {
	const writer = writerFor(question);
	if (!writer) return [];
	return Array.from({ length: countIn(question.text) }, (_, turn) =>
		writer.write(question, turn),
	);
}

type Rule = (question: Question) => string | undefined;

const adviceFor = (text: string): readonly string[] =>
	/^\s*how\b/i.test(text) ? TEXTS.steps : /^\s*why\b/i.test(text) ? TEXTS.reasons : TEXTS.views;

const numbered = (pieces: readonly string[]): string =>
	pieces.length === 1 ? pieces[0]! : pieces.map((piece, i) => `${i + 1}. ${piece}`).join('\n');

/** Answer rules in order of precedence; the first result is the answer. */
const RULES: readonly Rule[] = [
	(question) => numbered(writePieces(question)) || undefined,
	recallFact,
	classifyText,
	({ text }) => calculate(text),
	({ knowledge }) => (knowledge.length > 0 ? knowledge.join(' ') : undefined),
	({ text }) =>
		/^\s*(?:hi|hello|hey|good (?:morning|afternoon|evening))\b[^?]{0,20}$/i.test(text)
			? 'Hello! What would you like to make today?'
			: undefined,
	({ text }) => (/^\s*(?:thanks|thank you)\b/i.test(text) ? 'You are welcome.' : undefined),
	({ text, choose }) =>
		IS_QUESTION.test(text)
			? `${firstSentence(text)}? ${capitalize(choose(adviceFor(text), 'advice'))}.`
			: undefined,
	({ topic, choose }) => `${capitalize(topic)}: ${choose(TEXTS.views, 'view')}.`,
];

/** Writes the answer as plain text. */
export function writeText(question: Question): string {
	for (const rule of RULES) {
		const text = rule(question);
		if (text) return text;
	}
	return '';
}
