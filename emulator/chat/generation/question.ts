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

/** Settings that affect the generated text. */
export interface QuestionContext {
	readonly setting?: string;
	readonly knowledge?: readonly string[];
	readonly seed: number;
	readonly nowMs: number;
	/** 0 always chooses the first variant; every other value gives a different choice (spec 2.1). */
	readonly temperature: number;
	/** The other sampling settings; every combination gives a different choice (spec 2.1). */
	readonly variety: readonly number[];
}

/** Messages are truncated to this length. */
const MAX_MESSAGE_CHARACTERS = 4_000;

/** Parses a list of messages. */
export function parseQuestion(messages: readonly Message[], context: QuestionContext): Question {
	const { setting = '', knowledge = [], seed, nowMs, temperature, variety } = context;
	const read = (message: Message) => textOf(message).slice(0, MAX_MESSAGE_CHARACTERS);
	const system = messages.filter(({ role }) => role === 'system').map(read);
	const users = messages.filter(({ role }) => role === 'user');
	const last = users.at(-1);
	const text = last ? read(last) : '';
	const topic = extractTopic(text);
	return {
		instructions: [setting, ...system].filter(Boolean).join('\n'),
		text,
		topic,
		history: users.slice(0, -1).map(read),
		images: last ? imagesOf(last) : [],
		knowledge,
		nowMs,
		choose: (list, label, turn = 0) => {
			const parts = [seed, temperature, ...variety, topic, label];
			const first = temperature === 0 ? 0 : Math.floor(chance(...parts) * list.length);
			return list[(first + turn) % list.length]!;
		},
	};
}
