import { chance } from '../../random';
import { imagesOf, textOf, type Message } from '../messages';
import { topicOf } from './topicOf';

/** What the model is asked, taken out of the messages. */
export interface Question {
	/** The application's setting and the system messages. */
	readonly instructions: string;
	/** The last user message. */
	readonly text: string;
	readonly topic: string;
	/** What the user said before, oldest first. */
	readonly earlier: readonly string[];
	readonly images: readonly string[];
	/** Retrieved texts that help to answer. */
	readonly knowledge: readonly string[];
	/**
	 * Always the same choice for the same seed, settings and topic.
	 * @param turn with each turn comes the next element, so that several pieces differ
	 */
	readonly choose: <T>(list: readonly T[], label: string, turn?: number) => T;
}

export interface QuestionContext {
	readonly setting?: string;
	readonly knowledge?: readonly string[];
	readonly seed: number;
	/** 0 asks for the plainest answer; any other value gives its own (spec 2.1). */
	readonly temperature: number;
	/** The other sampling settings: each combination gives its own answer (spec 2.1). */
	readonly variety: readonly number[];
}

/** How many characters of a message the model reads. */
const MOST_READ = 4_000;

/** Takes the question out of a list of messages. */
export function questionOf(messages: readonly Message[], context: QuestionContext): Question {
	const { setting = '', knowledge = [], seed, temperature, variety } = context;
	const read = (message: Message) => textOf(message).slice(0, MOST_READ);
	const system = messages.filter(({ role }) => role === 'system').map(read);
	const users = messages.filter(({ role }) => role === 'user');
	const last = users.at(-1);
	const text = last ? read(last) : '';
	const topic = topicOf(text);
	return {
		instructions: [setting, ...system].filter(Boolean).join('\n'),
		text,
		topic,
		earlier: users.slice(0, -1).map(read),
		images: last ? imagesOf(last) : [],
		knowledge,
		choose: (list, label, turn = 0) => {
			const parts = [seed, temperature, ...variety, topic, label];
			const first = temperature === 0 ? 0 : Math.floor(chance(...parts) * list.length);
			return list[(first + turn) % list.length]!;
		},
	};
}
