import { isJsonObject, objectOf, withoutUndefined, type JsonObject, type JsonValue } from '../json';
import { shown } from '../values';
import type { ChatDelta } from './types';

/** Fields of a message that are read, beside a content that is no text. */
const READ_FIELDS = new Set([
	...['reasoning', 'reasoning_content', 'reasoning_details', 'function_call', 'parts'],
]);
/** Types of the parts that have reasoning, and not the answer. */
const THOUGHTS: readonly unknown[] = ['reasoning', 'thinking'];
/** Fields of such a part that may have its words: the first that says anything counts. */
const WORDS = ['thinking', 'text', 'summary', 'reasoning', 'content'];
/** Types of parts, whatever their fields are called. A value may have a type of its own. */
const PART_TYPE =
	/^(?:(?:in|out)put_)?(?:text|image|img|video|audio|file)(?:_url)?$|thinking$|^(?:reasoning|refusal|tool_\w+)$/;
/** The fields of a part of another type or of none, its words or its file, and those that may stand beside them. */
const OF_PART = [
	[/^(?:text|refusal|summary|reference_ids)$/, /^(?:annotations|citations|index)$/],
	[
		/^(?:(?:b64_json|inline_?data|mime_?type|(?:input_)?(?:image|img|video|audio|file)|\S*url)(?: |$))+$/i,
		/^(?:data|detail|format|index|revised_prompt)$/,
	],
] as const;
const NO_PARTS: readonly JsonValue[] = [];

/**
 * Reads a message, or a delta of one (spec 2.4, 2.5): its fields, with the content, the reasoning and the refusal as texts, where
 * some servers send parts, one or a list, or data, and the old field of a call as one of the calls; and the parts that are no
 * text, such as images, as the service sent them.
 */
export function readMessage(value: unknown) {
	const fields = objectOf(value);
	if (!mustBeRead(fields)) return { said: fields, parts: NO_PARTS };
	const { content } = fields;
	const { text, parts, refusal, thought } = readContent(
		isData(content) ? shown(content) : content,
	);
	const {
		reasoning_content,
		reasoning,
		reasoning_details: details,
		tool_calls: calls,
		function_call: call,
	} = fields;
	const hasCalls = [calls ?? []].flat().length > 0;
	const said: JsonObject = withoutUndefined({
		...fields,
		content: text,
		reasoning_content: readThought(reasoning_content ?? reasoning ?? thought ?? details),
		refusal: refusal ?? fields['refusal'],
		tool_calls: isJsonObject(call) && !hasCalls ? [{ function: call }] : calls,
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

/**
 * Whether content is a value and no parts, such as what a workflow has put out. In a list, one text is a part, and so is what has
 * only a type: a stream sends each part of the content by itself.
 */
function isData(content: JsonValue | undefined): boolean {
	const all = [content ?? []].flat().filter((each) => each !== null);
	const isTypeOnly = Array.isArray(content) && Object.keys(objectOf(all[0])).join() === 'type';
	const isLonePart = all.length === 1 && (isTypeOnly || typeof all[0] === 'string');
	return all.length > 0 && !isLonePart && !all.some(isPart);
}

function isPart(value: JsonValue): boolean {
	if (!isJsonObject(value)) return false;
	const { type, ...fields } = value;
	const names = Object.keys(fields);
	const isText = type !== undefined && typeof fields['text'] === 'string';
	const isOfType = isText || PART_TYPE.test(stringOf(type));
	const has = ([own, beside]: (typeof OF_PART)[number]) =>
		own.test(names.filter((name) => !beside.test(name)).join(' '));
	return isOfType || Object.keys(value).length === 0 || OF_PART.some(has);
}

/** The text, null without content; the parts that are not text; the words of a refusal, and those of a thought. */
function readContent(content: JsonValue = null) {
	const parts: JsonValue[] = [];
	if (content === null || typeof content === 'string') return { text: content, parts };
	const read = { text: '', refusal: '', thought: '' };
	for (const part of [content].flat()) {
		const fields = objectOf(part);
		const { summary = part, text = summary, refusal, type } = fields;
		if (THOUGHTS.includes(type))
			read.thought += WORDS.map((name) => readThought(fields[name])).find(Boolean) ?? '';
		else if (typeof text === 'string') read.text += text;
		else if (typeof refusal === 'string') read.refusal += refusal;
		else if (isJsonObject(part)) parts.push(part);
		else if (part !== null) read.text += shown(part);
	}
	const { text, refusal, thought } = read;
	return { text, parts, refusal: refusal || undefined, thought: thought || undefined };
}

/** The words of a thought, a text or parts; undefined without any content. */
function readThought(content: JsonValue | undefined): string | undefined {
	const { text, thought = '' } = readContent(content);
	return text === null ? undefined : text + thought;
}

/** A finish reason; null where there is none: some servers send one that says nothing with each chunk. */
export function readReason(reason: unknown): string | null {
	return typeof reason === 'string' && reason !== '' && reason !== 'null' ? reason : null;
}

/** A text; empty if it is none. */
export const stringOf = (value: unknown) => (typeof value === 'string' ? value : '');

/**
 * Reasoning in front of the answer, where a server does not tell the two apart: in tags, or up to a closing one that has a line
 * of its own.
 */
const THOUGHT =
	/^\s*<think(?:ing)?>[^]*?(?:<\/think(?:ing)?>\s*|$)|^(?:(?!<think)[^])*?(?:^|\n)[^\S\n]*<\/think(?:ing)?>[^\S\n]*(?:\n\s*|$)/;
/** The tag that begins one, and what may become that: a reply of blanks is not read again with each piece. */
const BEGIN = /^\s*<think(?:ing)?>/;
const MAY_BEGIN = /^\s{0,1000}(?:<[a-z]{0,8})?$/;
/** The tag that ends it; the same, or what may become it, or the end. */
const END = /^<\/think(?:ing)?>\s*/;
const MAY_END = /<\/think(?:ing)?>|<[/a-z]*$|$/;

/** A text without its reasoning. */
export function withoutThought(text: string): string {
	return text.replace(THOUGHT, '');
}

/**
 * Shows a thought in front of the answer, in tags, as reasoning while it arrives. Holds back only what may become a tag, until the
 * last delta.
 */
export function withThoughtsApart(show: (delta: ChatDelta) => void) {
	let phase: 'begin' | 'thought' | 'answer' = 'begin';
	let held = '';
	return (delta: ChatDelta, isLast = false): void => {
		let { content, reasoning } = delta;
		if (phase !== 'answer') {
			held += content;
			content = '';
			if (phase === 'begin' && (isLast || !MAY_BEGIN.test(held))) {
				const rest = held.replace(BEGIN, '');
				phase = rest === held ? 'answer' : 'thought';
				held = rest;
			}
			if (phase === 'thought') {
				const at = isLast ? held.length : held.search(MAY_END);
				reasoning += held.slice(0, at);
				const rest = held.slice(at);
				held = rest.replace(END, '');
				if (held !== rest) phase = 'answer';
			}
			if (phase === 'answer') [content, held] = [held, ''];
		}
		if (!isLast || content + reasoning !== '') show({ ...delta, content, reasoning });
	};
}
