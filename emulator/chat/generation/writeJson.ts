import { bare } from '../../json';
import { chance } from '../../random';
import { extractEntities } from '../tools/entities';
import { fillSchema, type WriteValue } from '../tools/fillSchema';
import type { JsonSchema } from '../tools/schema';
import { aggregate } from './calculate';
import { chooseLabels, contentOf, isSo, labelsIn, type Label } from './classify';
import { fieldIn, namedNumber, namedValue } from './fields';
import { capitalize, LANGUAGES, languageOf } from './language';
import type { Question } from './question';
import { extractKeywords } from './words';
import { writeNamed, writePieces, writeText, writeVideoPrompt } from './writeText';

const KEY_LIST =
	/(?:\b(?:keys?|fields?|properties|attributes)\b|字段|键)[\s:：]*(?:named|called|are|为|是)?[\s:：]*((?:[`"'*“]*[\p{L}\p{N}_]+?[`"'*”]*(?:\s*[(（][^)）]*[)）])?(?:\s*[,，、]\s*(?:and\s+)?|\s+and\s+|\s*和\s*|(?![\p{L}\p{N}_])))+)/iu;
const SEPARATOR = /\s*[,，、]\s*(?![^(（]*[)）])|\s+and\s+(?![^(]*\))|和(?![^(（]*[)）])/;

/** Types by the first character of a value in a JSON template; any other value is a text. */
const SAMPLE_TYPES = [
	[/\[/, 'array'],
	[/[-\d]/, 'number'],
	[/[tf]/, 'boolean'],
] as const;

/** Keys requested in a text, as a schema: `{"title": …}` or `with keys title, tags and score`; undefined without any. */
function requestedSchema(text: string): JsonSchema | undefined {
	const template = [...text.matchAll(/["'](\w+)["']\s*:\s*(?:"([^"|]+(?:\|[^"|]+)+)"|(\S))?/g)];
	const listed = (KEY_LIST.exec(text)?.[1] ?? '').split(SEPARATOR);
	const keys =
		template.length > 0
			? template.map(([, key, labels = '', sample = '']) => ({ key, labels, sample }))
			: listed.map((name) => ({
					key: /[\p{L}\p{N}_]+/u.exec(name)?.[0],
					labels: /[(（](.*)[)）]/.exec(name)?.[1] ?? '',
					sample: '',
				}));
	const properties = keys.flatMap(({ key, labels, sample }): [string, JsonSchema][] => {
		const allowed = labelsIn(labels);
		const [, type] = SAMPLE_TYPES.find(([start]) => start.test(sample)) ?? [];
		if (key === undefined) return [];
		return [
			[key, { ...(type && { type }), ...(allowed.length > 1 && { enum: [...allowed] }) }],
		];
	});
	return properties.length > 0
		? { type: 'object', properties: Object.fromEntries(properties) }
		: undefined;
}

/** Length of lists if the text does not specify it. */
const DEFAULT_LIST_LENGTH = 3;

function listOf(question: Question, key: string): readonly string[] {
	const pieces = writePieces(question);
	if (pieces.length > 1) return pieces;
	if (/tags|keywords|标签/i.test(key)) return [...new Set(extractKeywords(question.topic))];
	return Array.from(
		{ length: DEFAULT_LIST_LENGTH },
		(_, turn) =>
			writeNamed(question, key, turn) ??
			writeNamed(question, question.text, turn) ??
			writeVideoPrompt(question, turn),
	);
}

/** A text with the digits of its number words: `two` → `2`. */
const withDigits = (text: string): string =>
	text.replace(/\b\w{3,5}\b/g, (word) => {
		const index = LANGUAGES[0]!.numbers.indexOf(word.toLowerCase());
		return index < 0 ? word : String(index + 2);
	});

/** The number that the text states for a key. */
function statedNumber({ text: given }: Question, key: string): number | undefined {
	const text = withDigits(given);
	const toNumber = (found = '') => Number(found.replaceAll(',', '')) || undefined;
	const named = toNumber(namedNumber(key, text));
	const isSum = named === undefined && /sum|total|合计|总/i.test(key);
	const field = toNumber(fieldIn(contentOf(text), key) ?? fieldIn(text, key));
	return named ?? (isSum ? aggregate(text)?.value : undefined) ?? field;
}

const numberFor: ValueRule[1] = (question, key, _turn, { minimum, maximum } = {}) => {
	const first = /\d+(?:\.\d+)?/.exec(question.text)?.[0];
	const any = chance(question.topic, key);
	const isShare = minimum === 0 && maximum === 1;
	return (
		statedNumber(question, key) ??
		(isShare ? Number((0.6 + 0.3 * any).toFixed(2)) : Number(first ?? 1 + Math.floor(10 * any)))
	);
};

/** What the request or an earlier message states for a key. */
function statedFor({ text, history }: Question, key: string): string | undefined {
	const content = contentOf(text);
	const [, behind = ''] = /[:：\n]\s*([^]*)$/.exec(text) ?? [];
	const sources = [...(content === text ? [] : [content, behind]), ...history.toReversed()];
	const find = (source: string) => fieldIn(source, key) ?? namedValue(key, source);
	return sources.map(find).find(Boolean) ?? fieldIn(text, key);
}

/** The text that a request is about; undefined for a request that is not about one. */
function quoteFor({ text }: Question): string | undefined {
	const content = contentOf(text);
	return content === text ? undefined : languageOf(text).quote.replace('{}', () => content);
}

type ValueRule = readonly [
	key: RegExp,
	value: (question: Question, key: string, turn?: number, schema?: JsonSchema) => unknown,
];

const flag = ({ text }: Question, key: string) => isSo(key.replaceAll('_', ' '), contentOf(text));

/** Values by the name of the key; the first row that matches and has a value applies. */
const VALUES: readonly ValueRule[] = [
	[/^(?:is|has|can|should)_?[A-Z_]|^(?:ok|valid|success)$/, flag],
	[
		/count|^number|total|sum|score|stars|rating|seconds|duration|year|price|amount|quantity|temperature|合计|总|价格|金额|数量|评分/i,
		numberFor,
	],
	[/^(?:topic|subject|query)$/i, ({ topic }) => topic],
	[/./, statedFor],
	[/s$|list$|列表/i, listOf],
	[/prompt|提示词/i, (question, _key, turn) => writeVideoPrompt(question, turn)],
	[/./, writeNamed],
	[/reason|explanation|evidence|原因|理由/i, quoteFor],
	[
		/answer|text|description|summary|content|message|result|reply|回答|描述|总结|结果/i,
		writeText,
	],
	[/./, ({ topic }) => capitalize(topic)],
];

/** Values by type, if the name of the key is not asked. */
const BY_TYPE = bare<Readonly<Record<string, ValueRule[1]>>>({
	array: listOf,
	number: numberFor,
	integer: numberFor,
	boolean: flag,
});

/** What lets an extractor leave out what the text does not say. */
const MAY_OMIT = /do not know[^.]*\bomit\b/;

/** The labels of a schema that has a flag for each, as classifiers ask; undefined for any other. */
function labelsOf({ properties = {} }: JsonSchema): readonly Label[] | undefined {
	const labels = Object.entries(properties).map(([name, property]) => {
		const { description = '', type } = property as JsonSchema;
		const about = /^Should be true if (?:.*\(description: ([^]*)\)|none of the other)/;
		const found = type === 'boolean' ? about.exec(description) : null;
		return found && { name, about: found[1] };
	});
	return labels.length > 0 && labels.every((label) => label !== null) ? labels : undefined;
}

/**
 * Writes the answer as JSON: by a schema, or with the keys requested in the messages (spec 2.1 `response_format`).
 *
 * @param given.unasked the answer if the messages request no keys; by default the text, or a list of texts
 * @param given.known what else is known, such as the results of tools
 */
export function writeJson(
	question: Question,
	given: { unasked?: object; schema?: JsonSchema; known?: string } = {},
): string {
	const schema =
		given.schema ??
		question.format ??
		requestedSchema(question.text) ??
		requestedSchema(question.instructions);
	if (schema !== undefined) {
		const text = question.text.replace(/\{[^{}]*\}/g, '').concat(given.known ?? '');
		const labels = labelsOf(schema);
		if (labels) return JSON.stringify(chooseLabels(text, question.instructions, labels));
		const asked = { ...question, text };
		const mayOmit = MAY_OMIT.test(question.instructions);
		const write: WriteValue = (key, { type, turn, text: part, schema, isOptional }) => {
			const subject = part
				.replace(/\p{Sc}?\d[\d.,]*(?:\s*[x×个件台本箱份]\b)?|\b(?:at|each)\b|[@(].*/giu, '')
				.trim();
			const about = part === text ? asked : { ...asked, text: part, topic: subject || part };
			if (mayOmit && isOptional && type !== 'boolean')
				return type === 'number' || type === 'integer'
					? statedNumber(about, key)
					: statedFor(about, key);
			if (type !== undefined && BY_TYPE[type]) return BY_TYPE[type](about, key, turn, schema);
			return VALUES.flatMap(([name, value]) =>
				name.test(key) ? [value(about, key, turn)] : [],
			).find((value) => value !== undefined);
		};
		const entities = extractEntities(text, question.nowMs);
		return JSON.stringify(fillSchema(schema, 'answer', { entities, root: schema, write }));
	}
	if (given.unasked !== undefined) return JSON.stringify(given.unasked);
	const pieces = writePieces(question);
	if (pieces.length > 1) return JSON.stringify({ topic: question.topic, items: pieces });
	return JSON.stringify({ topic: question.topic, answer: writeText(question) });
}
