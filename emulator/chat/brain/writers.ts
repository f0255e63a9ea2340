import type { Question } from './question';
import { capital } from './capital';
import { videoPrompt } from './videoPrompt';

/** A short form that the model can be asked to write, once or several times. */
export interface Writer {
	readonly asked: RegExp;
	/** @param turn tells apart the pieces of one answer */
	readonly write: (question: Question, turn?: number) => string;
}

const TITLES = ['The Quiet Side of', 'A Closer Look at', 'One Day with', 'The Story of', 'Inside'];
const SLOGANS = [
	'Seen anew.',
	'Made to be remembered.',
	'Closer than ever.',
	'Every detail counts.',
];
const ANGLES = [
	'follow one person through a single day with',
	'show the beginning and the end, and leave the middle to the viewer:',
	'tell it backwards, from the result to the first step:',
	'compare how it was a hundred years ago with how it is now:',
	'look at it from very near, then from very far:',
	'let the sounds lead and the pictures follow:',
];
const IMAGE_STYLES = ['watercolour', 'studio photograph', 'flat illustration', 'oil painting'];
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
		.map((word) => (SMALL_WORDS.has(word) ? word : capital(word)))
		.join(' ');

/** What can be written, the most particular first. */
export const WRITERS: readonly Writer[] = [
	{
		asked: /(?:video|clip|film|footage|shot|scene).*\bprompts?\b|\bprompts?\b.*(?:video|clip|film|footage|shot|scene)/is,
		write: videoPrompt,
	},
	{
		asked: /\bprompts?\b/i,
		write: ({ topic, choose }, turn) =>
			`${capital(topic)}, ${choose(IMAGE_STYLES, 'style', turn)}, soft light, balanced composition, fine detail.`,
	},
	{
		asked: /\b(?:titles?|headlines?)\b/i,
		write: ({ topic, choose }, turn) => `${choose(TITLES, 'title', turn)} ${titleCase(topic)}`,
	},
	{
		asked: /\b(?:slogans?|taglines?|captions?)\b/i,
		write: ({ topic, choose }, turn) => `${capital(topic)}. ${choose(SLOGANS, 'slogan', turn)}`,
	},
	{
		asked: /\b(?:ideas?|suggestions?|concepts?)\b/i,
		write: ({ topic, choose }, turn) => `${capital(choose(ANGLES, 'angle', turn))} ${topic}.`,
	},
	{
		asked: /\b(?:story|stories|poems?|scripts?)\b/i,
		write: ({ topic, choose }, turn) =>
			`This is about ${topic}. ${choose(BEGINNINGS, 'beginning', turn)}. ${choose(ENDINGS, 'ending', turn)}.`,
	},
];
