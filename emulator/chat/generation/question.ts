import { chance } from '../../random';
import { imagesOf, textOf, type Message } from '../messages';
import { extractTopic } from './topic';

/** Parsed messages: the input of the text generation. */
export interface Question {
	/** Setting of the application and system messages. */
	readonly instructions: string;
	/** Last user message. */
	readonly text: string;
	readonly topic: string;
	/** Earlier user messages, oldest first. */
	readonly history: readonly string[];
	readonly images: readonly string[];
	/** Retrieved knowledge. */
	readonly knowledge: readonly string[];
	/** Milliseconds since 1970. */
	readonly nowMs: number;
	/**
	 * Deterministic choice by seed, sampling settings and topic.
	 * @param turn offset in the list, so that several texts about one topic differ
	 */
	readonly choose: <T>(list: readonly T[], label: string, turn?: number) => T;
}

/** Messages are truncated to this length. */
const MAX_MESSAGE_CHARACTERS = 4_000;

/**
 * Parses a list of messages.
 *
 * @param context.sampling the settings that affect the choice of texts: every combination gives a different one, and a temperature
 * of 0 always the first variant (spec 2.1)
 */
export function parseQuestion(
	messages: readonly Message[],
	context: Pick<Question, 'knowledge' | 'nowMs'> & {
		readonly setting: string;
		readonly seed: number;
		readonly sampling: readonly [temperature: number, ...others: number[]];
	},
): Question {
	const { setting, seed, sampling, ...known } = context;
	const read = (message: Message) => textOf(message).slice(0, MAX_MESSAGE_CHARACTERS);
	const system = messages.filter(({ role }) => role === 'system').map(read);
	const users = messages.filter(({ role }) => role === 'user');
	const last = users.at(-1);
	const text = last ? read(last) : '';
	const topic = extractTopic(text);
	return {
		...known,
		instructions: [setting, ...system].filter(Boolean).join('\n'),
		text,
		topic,
		history: users.slice(0, -1).map(read),
		images: last ? imagesOf(last) : [],
		choose: (list, label, turn = 0) => {
			const number = Math.floor(chance(seed, ...sampling, topic, label) * list.length);
			return list[((sampling[0] === 0 ? 0 : number) + turn) % list.length]!;
		},
	};
}
