import { isObject, parseJson } from '../../json';
import type { JsonSchema } from '../tools/schema';

/** A JSON schema in a prompt. */
export interface AnswerFormat {
	readonly schema: JsonSchema;
	/** Whether the prompt says that the answer must have this form, as the parsers of chains do. */
	readonly isOrdered: boolean;
	/** The prompt without the schema and what introduces it. */
	readonly rest: string;
}

const ORDER = /\b(?:match|adhere|conform|format|follow)[^]{0,200}?schema/i;
const FENCE = '```';
const IS_SCHEMA = ['type', 'properties', '$ref', 'anyOf'];

const lineStart = (text: string, index: number): number => text.lastIndexOf('\n', index) + 1;

/** A text without its last line, if that introduces what follows. */
function withoutHeading(text: string): string {
	const trimmed = text.trimEnd();
	return /[:：]$/.test(trimmed) ? trimmed.slice(0, lineStart(trimmed, trimmed.length)) : text;
}

/** The last JSON schema of a prompt: in a code block, in its last line, or between its first and last brace. */
export function formatIn(prompt: string): AnswerFormat | undefined {
	const fenced = prompt.split(FENCE).filter((_text, index) => index % 2 === 1);
	const places = [
		...fenced.map((text) => text.replace(/^json/, '')).reverse(),
		prompt.slice(prompt.lastIndexOf('\n') + 1),
		prompt.slice(prompt.indexOf('{'), prompt.lastIndexOf('}') + 1),
	];
	for (const text of places) {
		const schema = text.includes('{') ? parseJson(text) : undefined;
		if (!isObject(schema) || !IS_SCHEMA.some((name) => name in schema)) continue;
		const at = prompt.lastIndexOf(text);
		const before = prompt.slice(0, at).replace(/```(?:json)?$/, '');
		const order = before.search(ORDER);
		const kept = order < 0 ? withoutHeading(before) : before.slice(0, lineStart(before, order));
		const after = prompt.slice(at + text.length).replace(/^```/, '');
		const rest = `${kept}\n${after}`.trim();
		return { schema, isOrdered: order >= 0, rest: rest || before };
	}
	return undefined;
}
