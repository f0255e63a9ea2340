import { chance } from '../../random';
import { capital } from './capital';
import type { Question } from './question';
import { videoPrompt } from './videoPrompt';
import { wordsOf } from './wordsOf';
import { writeText, writtenPieces } from './writeText';
import { WRITERS } from './writers';

const KEY_LIST =
	/\b(?:keys?|fields?|properties|attributes)\b[\s:]*(?:named|called|are)?[\s:]*((?:[`"'*]*\w+[`"'*]*(?:\s*\([^)]*\))?(?:\s*,\s*(?:and\s+)?|\s+and\s+)?)+)/i;

interface AskedKey {
	readonly key: string;
	/** How the value begins in a sample that the text gives: `[`, a digit, `t` or `f`. */
	readonly sample?: string;
}

/** The keys that a text asks for: `{"title": …}` or `with keys title, tags and score`. */
function askedKeys(text: string): readonly AskedKey[] {
	const template = [...text.matchAll(/["'](\w+)["']\s*:\s*(\S)?/g)];
	if (template.length > 0) return template.map(([, key, sample = '']) => ({ key: key!, sample }));

	const list = KEY_LIST.exec(text)?.[1] ?? '';
	return list
		.split(/\s*,\s*|\s+and\s+/)
		.map((name) => ({ key: /\w+/.exec(name)?.[0] ?? '' }))
		.filter(({ key }) => key !== '');
}

/** How many entries a list gets when the text does not say. */
const ENTRIES = 3;

function listOf(question: Question, key: string): readonly string[] {
	const asked = writtenPieces(question);
	if (asked.length > 1) return asked;
	const writer = WRITERS.find((row) => row.asked.test(key)) ?? { write: videoPrompt };
	return Array.from({ length: ENTRIES }, (_, turn) => writer.write(question, turn));
}

function numberFor({ topic, text }: Question, key: string): number {
	const digits = /\d+/.exec(text.replace(/\{[^{}]*\}/g, ''))?.[0];
	return digits === undefined ? 1 + Math.floor(10 * chance(topic, key)) : Number(digits);
}

type ValueRule = readonly [key: RegExp, value: (question: Question, key: string) => unknown];

/** The value for a key, by what the key is called; the first row that fits is used. */
const VALUES: readonly ValueRule[] = [
	[/^(?:is|has|can|should)_?[A-Z_]|^(?:ok|valid|success)$/, () => true],
	[/count|number|total|score|rating|seconds|duration|year|price|amount|temperature/i, numberFor],
	[/tags|keywords/i, ({ topic }) => [...new Set(wordsOf(topic))]],
	[/^(?:topic|subject|query)$/i, ({ topic }) => topic],
	[/s$|list$/i, listOf],
	[/prompt/i, (question) => videoPrompt(question)],
	[
		/title|headline|slogan|caption|idea/i,
		(question, key) => WRITERS.find(({ asked }) => asked.test(key))!.write(question),
	],
	[/answer|text|description|summary|content|reason|explanation|message|result/i, writeText],
	[/./, ({ topic }) => capital(topic)],
];

/** The value for a key whose sample in the text begins like this. */
const SAMPLES: readonly ValueRule[] = [
	[/\[/, listOf],
	[/[-\d]/, numberFor],
	[/[tf]/, () => true],
];

function valueOf(question: Question, { key, sample = '' }: AskedKey): unknown {
	const [, value] =
		SAMPLES.find(([start]) => start.test(sample)) ?? VALUES.find(([name]) => name.test(key))!;
	return value(question, key);
}

/** The model's answer as JSON text, with the keys that the messages ask for (spec 2.1 `response_format`). */
export function writeJson(question: Question): string {
	const inQuestion = askedKeys(question.text);
	const asked = inQuestion.length > 0 ? inQuestion : askedKeys(question.instructions);
	if (asked.length > 0) {
		return JSON.stringify(
			Object.fromEntries(asked.map((wanted) => [wanted.key, valueOf(question, wanted)])),
		);
	}
	const pieces = writtenPieces(question);
	if (pieces.length > 1) return JSON.stringify({ topic: question.topic, items: pieces });
	return JSON.stringify({ topic: question.topic, answer: writeText(question) });
}
