import { chance } from '../../random';
import { imagesOf, textOf, type Message } from '../messages';
import type { JsonSchema } from '../tools/schema';
import { formatIn } from './answerFormat';
import { extractTopic } from './topic';

/** Parsed messages: the input of the text generation. */
export interface Question {
	/** Setting of the application and system messages. */
	readonly instructions: string;
	/** Last user message. */
	readonly text: string;
	readonly topic: string;
	/** The JSON schema that the messages want the answer in. */
	readonly format?: JsonSchema;
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

/** Of longer messages the middle is left out. */
const MAX_MESSAGE_CHARACTERS = 4_000;

function shortened(text: string): string {
	const half = MAX_MESSAGE_CHARACTERS / 2;
	return text.length > 2 * half ? `${text.slice(0, half)}\n${text.slice(-half)}` : text;
}

/**
 * Parses a list of messages.
 *
 * @param context.isJson whether the answer must be JSON, so that any schema in the messages is for it
 * @param context.sampling the settings that affect the choice of texts: every combination gives a different one, and a temperature
 * of 0 always the first variant (spec 2.1)
 * @param context.repeat how often a question has been asked before: each time other texts are chosen, unless the temperature is 0
 */
export function parseQuestion(
	messages: readonly Message[],
	context: Pick<Question, 'knowledge' | 'nowMs'> & {
		readonly setting: string;
		readonly isJson: boolean;
		readonly seed: number;
		readonly sampling: readonly [temperature: number, ...others: number[]];
		readonly repeat: (question: string) => number;
	},
): Question {
	const { setting, isJson, seed, sampling, repeat, ...known } = context;
	const read = (message: Message) => {
		const format = formatIn(textOf(message));
		const isFor = format !== undefined && (isJson || format.isOrdered);
		const text = shortened(isFor ? format.rest : textOf(message));
		return { text, format: isFor ? [format.schema] : [] };
	};
	const system = messages.filter(({ role }) => role === 'system').map(read);
	const users = messages.filter(({ role }) => role === 'user');
	const last = users.at(-1);
	const { text, format: own } = last ? read(last) : { text: '', format: [] };
	const [format] = [...own, ...system.flatMap((each) => each.format)];
	const topic = extractTopic(text);
	const repeats = sampling[0] === 0 ? 0 : repeat([...sampling, text].join('\n'));
	return {
		...known,
		instructions: [setting, ...system.map((each) => each.text)].filter(Boolean).join('\n'),
		text,
		topic,
		...(format && { format }),
		history: users.slice(0, -1).map((message) => shortened(textOf(message))),
		images: last ? imagesOf(last) : [],
		choose: (list, label, turn = 0) => {
			const number = Math.floor(chance(seed, ...sampling, topic, label) * list.length);
			return list[((sampling[0] === 0 ? 0 : number) + turn + repeats) % list.length]!;
		},
	};
}
