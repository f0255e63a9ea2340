import type { Question } from './question';
import { capitalize } from './words';
import { writeVideoPrompt } from './videoPrompt';

/** Writer of one kind of short text, selected by a pattern in the request. */
export interface TextWriter {
	readonly pattern: RegExp;
	/** @param turn number of the text, if an answer has several */
	readonly write: (question: Question, turn?: number) => string;
}

const TITLES = ['The Quiet Side of', 'A Closer Look at', 'One Day with', 'The Story of', 'Inside'];
const SLOGANS = [
	'A new perspective.',
	'Made to be remembered.',
	'Closer than ever.',
	'Every detail counts.',
];
const ANGLES = [
	'follow one person through a single day with',
	'show the beginning and the end, and leave the middle to the viewer:',
	'tell it backwards, from the result to the first step:',
	'compare how it was a hundred years ago with how it is now:',
	'look at it from very close, then from far away:',
	'let the sounds lead and the pictures follow:',
];
const IMAGE_STYLES = ['watercolor', 'studio photograph', 'flat illustration', 'oil painting'];
const BEGINNINGS = [
	'It begins before sunrise, when nobody is looking yet',
	'Step by step, something small changes and everything follows',
];
const ENDINGS = [
	'A stranger stops, smiles, and helps for a moment',
	'In the end it is quiet again, but nothing is quite the same',
];

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
			`${capitalize(topic)}, ${choose(IMAGE_STYLES, 'style', turn)}, soft light, balanced composition, fine detail.`,
	},
	{
		pattern: /\b(?:titles?|headlines?)\b/i,
		write: ({ topic, choose }, turn) => `${choose(TITLES, 'title', turn)} ${titleCase(topic)}`,
	},
	{
		pattern: /\b(?:slogans?|taglines?|captions?)\b/i,
		write: ({ topic, choose }, turn) =>
			`${capitalize(topic)}. ${choose(SLOGANS, 'slogan', turn)}`,
	},
	{
		pattern: /\b(?:ideas?|suggestions?|concepts?)\b/i,
		write: ({ topic, choose }, turn) =>
			`${capitalize(choose(ANGLES, 'angle', turn))} ${topic}.`,
	},
	{
		pattern: /\b(?:story|stories|poems?|scripts?)\b/i,
		write: ({ topic, choose }, turn) =>
			`This is about ${topic}. ${choose(BEGINNINGS, 'beginning', turn)}. ${choose(ENDINGS, 'ending', turn)}.`,
	},
];
