import type { Question } from './question';
import TEXTS from './texts.json';
import { capitalize } from './words';
import { writeVideoPrompt } from './videoPrompt';

/** Writer of one kind of short text, selected by a pattern in the request. */
export interface TextWriter {
	readonly pattern: RegExp;
	/** @param turn number of the text, if an answer has several */
	readonly write: (question: Question, turn?: number) => string;
}

const SMALL_WORDS = new Set(['a', 'an', 'and', 'at', 'by', 'for', 'in', 'of', 'on', 'the', 'to']);

/** `a lighthouse in the storm` → `a Lighthouse in the Storm`. */
const titleCase = (topic: string): string =>
	topic
		.split(' ')
		.map((word) => (SMALL_WORDS.has(word) ? word : capitalize(word)))
		.join(' ');

/** All writers, the most specific first. */
export const TEXT_WRITERS: readonly TextWriter[] = [
	{
		pattern:
			/(?:video|clip|film|footage|shot|scene).*\bprompts?\b|\bprompts?\b.*(?:video|clip|film|footage|shot|scene)/is,
		write: writeVideoPrompt,
	},
	{
		pattern: /\bprompts?\b/i,
		write: ({ topic, choose }, turn) =>
			`${capitalize(topic)}, ${choose(TEXTS.imageStyles, 'style', turn)}, soft light, balanced composition, fine detail.`,
	},
	{
		pattern: /\b(?:titles?|headlines?)\b/i,
		write: ({ topic, choose }, turn) =>
			`${choose(TEXTS.titles, 'title', turn)} ${titleCase(topic)}`,
	},
	{
		pattern: /\b(?:slogans?|taglines?|captions?)\b/i,
		write: ({ topic, choose }, turn) =>
			`${capitalize(topic)}. ${choose(TEXTS.slogans, 'slogan', turn)}`,
	},
	{
		pattern: /\b(?:ideas?|suggestions?|concepts?)\b/i,
		write: ({ topic, choose }, turn) =>
			`${capitalize(choose(TEXTS.angles, 'angle', turn))} ${topic}.`,
	},
	{
		pattern: /\b(?:story|stories|poems?|scripts?)\b/i,
		write: ({ topic, choose }, turn) =>
			`This is about ${topic}. ${choose(TEXTS.beginnings, 'beginning', turn)}. ${choose(TEXTS.endings, 'ending', turn)}.`,
	},
];
