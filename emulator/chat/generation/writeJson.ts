import { chance } from '../../random';
import { classifyOne, labelsIn } from './classify';
import { schemaIn, valueFor } from './jsonSchema';
import type { Question } from './question';
import { writeVideoPrompt } from './videoPrompt';
import { capitalize, extractKeywords } from './words';
import { writeText, writePieces } from './writeText';
import { TEXT_WRITERS } from './textWriters';

const KEY_LIST =
	/\b(?:keys?|fields?|properties|attributes)\b[\s:]*(?:named|called|are)?[\s:]*((?:[`"'*]*\w+[`"'*]*(?:\s*\([^)]*\))?(?:\s*,\s*(?:and\s+)?|\s+and\s+)?)+)/i;

/** A key that the answer must have. */
interface RequestedKey {
	readonly key: string;
	/** First character of the value in a JSON template: `[`, a digit, `t` or `f`. */
	readonly sample?: string;
	/** The only values that the text names for it. */
	readonly allowed?: readonly unknown[] | undefined;
}

/** Keys requested in a text: `{"title": …}` or `with keys title, tags and score`. */
function requestedKeys(text: string): readonly RequestedKey[] {
	const template = [...text.matchAll(/["'](\w+)["']\s*:\s*(?:"([^"|]+(?:\|[^"|]+)+)"|(\S))?/g)];
	if (template.length > 0)
		return template.map(([, key, list, sample = '']) => ({
			...{ key: key!, sample },
			allowed: list === undefined ? undefined : labelsIn(list),
		}));

	const list = KEY_LIST.exec(text)?.[1] ?? '';
	return list
		.split(/\s*,\s*(?![^(]*\))|\s+and\s+(?![^(]*\))/)
		.map((name) => {
			const labels = labelsIn(/\((.*)\)/.exec(name)?.[1] ?? '');
			return {
				key: /\w+/.exec(name)?.[0] ?? '',
				allowed: labels.length > 1 ? labels : undefined,
			};
		})
		.filter(({ key }) => key !== '');
}

/** Length of lists if the text does not specify it. */
const DEFAULT_LIST_LENGTH = 3;

function listOf(question: Question, key: string): readonly string[] {
	const pieces = writePieces(question);
	if (pieces.length > 1) return pieces;
	const writer = TEXT_WRITERS.find((row) => row.pattern.test(key)) ?? { write: writeVideoPrompt };
	return Array.from({ length: DEFAULT_LIST_LENGTH }, (_, turn) => writer.write(question, turn));
}

function numberFor({ topic, text }: Question, key: string): number {
	const digits = /\d+/.exec(text.replace(/\{[^{}]*\}/g, ''))?.[0];
	return digits === undefined ? 1 + Math.floor(10 * chance(topic, key)) : Number(digits);
}

type ValueRule = readonly [
	key: RegExp,
	value: (question: Question, key: string, turn?: number) => unknown,
];

/** Values by the name of the key; the first matching row applies. */
const VALUES: readonly ValueRule[] = [
	[/^(?:is|has|can|should)_?[A-Z_]|^(?:ok|valid|success)$/, () => true],
	[/count|number|total|score|rating|seconds|duration|year|price|amount|temperature/i, numberFor],
	[/tags|keywords/i, ({ topic }) => [...new Set(extractKeywords(topic))]],
	[/^(?:topic|subject|query)$/i, ({ topic }) => topic],
	[/s$|list$/i, listOf],
	[/prompt/i, (question, _key, turn) => writeVideoPrompt(question, turn)],
	[
		/title|headline|slogan|caption|idea/i,
		(question, key) =>
			TEXT_WRITERS.find(({ pattern: asked }) => asked.test(key))!.write(question),
	],
	[/answer|text|description|summary|content|reason|explanation|message|result/i, writeText],
	[/./, ({ topic }) => capitalize(topic)],
];

/** Values by the first character in the JSON template. */
const SAMPLES: readonly ValueRule[] = [
	[/\[/, listOf],
	[/[-\d]/, numberFor],
	[/[tf]/, () => true],
];

function valueOf(question: Question, requested: RequestedKey, turn = 0): unknown {
	const { key, sample = '', allowed } = requested;
	if (allowed) return classifyOne(question.text, allowed);
	const [, value] =
		SAMPLES.find(([start]) => start.test(sample)) ?? VALUES.find(([name]) => name.test(key))!;
	return value(question, key, turn);
}

/**
 * Writes the answer as JSON, with the keys requested in the messages (spec 2.1 `response_format`).
 * @param unasked the answer if the messages request no keys; by default the text, or a list of texts
 */
export function writeJson(question: Question, unasked?: object): string {
	const schema = schemaIn(question.text);
	if (schema !== undefined) {
		const write = (key: string, sample: string, turn: number, allowed?: readonly unknown[]) =>
			valueOf(
				{ ...question, text: question.text.replace(/\n.*$/, '') },
				{ key, sample, allowed },
				turn,
			);
		return JSON.stringify(valueFor(schema, 'answer', write));
	}
	const inQuestion = requestedKeys(question.text);
	const keys = inQuestion.length > 0 ? inQuestion : requestedKeys(question.instructions);
	if (keys.length > 0) {
		return JSON.stringify(
			Object.fromEntries(
				keys.map((requested) => [requested.key, valueOf(question, requested)]),
			),
		);
	}
	if (unasked !== undefined) return JSON.stringify(unasked);
	const pieces = writePieces(question);
	if (pieces.length > 1) return JSON.stringify({ topic: question.topic, items: pieces });
	return JSON.stringify({ topic: question.topic, answer: writeText(question) });
}
