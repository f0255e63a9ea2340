import { isJsonObject, objectOf, withoutUndefined, type JsonObject, type JsonValue } from '../json';
import { shown } from '../values';

/** Fields of a message that are read, beside a content that is no text. */
const READ_FIELDS = new Set([
	...['reasoning', 'reasoning_content', 'reasoning_details', 'function_call', 'parts'],
]);
/** Types of the parts that have reasoning, and not the answer. */
const THOUGHTS: readonly unknown[] = ['reasoning', 'thinking'];
const NO_PARTS: readonly JsonValue[] = [];

/**
 * Reads a message, or a delta of one (spec 2.4, 2.5): its fields, with the content, the reasoning and the refusal as texts, where
 * some servers send parts, one or a list, and the old field of a call as one of the calls; and the parts that are no text, such
 * as images, as the service sent them.
 */
export function readMessage(value: unknown) {
	const fields = objectOf(value);
	if (!mustBeRead(fields)) return { said: fields, parts: NO_PARTS };
	const { text, parts, refusal, thought } = readContent(fields['content']);
	const {
		reasoning_content,
		reasoning,
		reasoning_details: details,
		function_call: call,
	} = fields;
	const thoughts = readContent(reasoning_content ?? reasoning ?? thought ?? details);
	const said: JsonObject = withoutUndefined({
		...fields,
		content: text,
		reasoning_content: thoughts.text ?? undefined,
		refusal: refusal ?? fields['refusal'],
		tool_calls: fields['tool_calls'] ?? (isJsonObject(call) ? [{ function: call }] : undefined),
		function_call: undefined,
		// The service may have a field of this name itself.
		parts: undefined,
	});
	return { said, parts };
}

/** Runs for every chunk. */
function mustBeRead(fields: JsonObject): boolean {
	for (const key in fields)
		if (key === 'content' ? typeof fields[key] !== 'string' : READ_FIELDS.has(key)) return true;
	return false;
}

/** The text, null without content; the parts that are not text; the words of a refusal, and those of a thought. */
function readContent(content: JsonValue = null) {
	const parts: JsonValue[] = [];
	if (content === null || typeof content === 'string') return { text: content, parts };
	const read = { text: '', refusal: '', thought: '' };
	for (const part of [content].flat()) {
		const { summary = part, text = summary, thinking = text, refusal, type } = objectOf(part);
		if (THOUGHTS.includes(type)) read.thought += readContent(thinking).text ?? '';
		else if (typeof text === 'string') read.text += text;
		else if (typeof refusal === 'string') read.refusal += refusal;
		else if (isJsonObject(part)) parts.push(part);
		else if (part !== null) read.text += shown(part);
	}
	const { text, refusal, thought } = read;
	return { text, parts, refusal: refusal || undefined, thought: thought || undefined };
}

/** A finish reason; null where there is none: some servers send one that says nothing with each chunk. */
export function readReason(reason: unknown): string | null {
	return typeof reason === 'string' && reason !== '' && reason !== 'null' ? reason : null;
}

/** A text; empty if it is none. */
export const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');
