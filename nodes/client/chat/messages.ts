import { EMPTY_TEXT_HINT, InputError, rejectMistakes } from '../errors';
import { fromJson, isJsonObject, objectOf, parseJson, type JsonValue } from '../json';
import { checkPublicUrl } from '../http/publicUrl';
import { isBlank, oneLine } from '../values';
import type { ChatMessage, ContentPart } from './types';

const ROLES = ['system', 'user', 'assistant', 'tool'];
const TOOL_RESULT_HINT =
	'After an assistant message with tool_calls, add one message with the role tool for each call';

const CALLED_HINT =
	'Place it after the assistant message whose tool_calls contain this tool_call_id';
const LAST_HINT = 'End with a message with the role user or tool: the model answers it';
const LIST_HINT = 'Enter a JSON list: [{ "role": "user", "content": "Hello" }]';
const PART_HINT =
	'Use { "type": "text", "text": … } or { "type": "image_url", "image_url": { "url": … } }';
const MESSAGE_HINT =
	'A message has a role (system, user, assistant, tool) and content. Only assistant has tool_calls; only tool has a tool_call_id, and its content is a text';
const CALL_HINT =
	'Write each as { "id": …, "type": "function", "function": { "name": …, "arguments": "{}" } }. The arguments are JSON in a text';

/** Builds a user message from text and image URLs; without images its content is a plain string (spec 2.2). */
export function userMessage(text: string, imageUrls: readonly string[] = []): ChatMessage {
	if (imageUrls.length === 0) return { role: 'user', content: text };

	const images = imageUrls.map((url): ContentPart => ({ type: 'image_url', image_url: { url } }));
	const texts: ContentPart[] = text.trim() === '' ? [] : [{ type: 'text', text }];
	return { role: 'user', content: [...texts, ...images] };
}

/**
 * Validates messages one by one (spec 2.2); `checkOrder` validates their order.
 *
 * @param label Label of the field that contains the messages.
 * @throws InputError with the number of the invalid entry and the reason.
 */
export function checkMessages(
	value: JsonValue,
	label: string,
	{ allowPrivate }: { readonly allowPrivate: boolean },
): ChatMessage[] {
	if (!Array.isArray(value)) throw new InputError(label, 'is not a list', LIST_HINT);
	value.forEach((message, index) => {
		checkMessage(message, `${label}: entry ${index + 1}`, allowPrivate);
	});
	return fromJson<ChatMessage[]>(value);
}

/**
 * Validates the order of messages (spec 2.2, 4): the last one must be one that the model can answer, and every tool call
 * must be followed by its result.
 *
 * @param label Label of the field that contains the messages.
 * @throws InputError with the number of the misplaced entry and the reason.
 */
export function checkOrder(messages: readonly ChatMessage[], label: string): void {
	const last = messages.at(-1);
	if (last === undefined) throw new InputError(label, 'is empty', LAST_HINT);
	let openCallIds = new Set<string>();
	for (const [index, message] of messages.entries()) {
		const entry = `${label}: entry ${index + 1}`;
		if (message.role === 'tool') {
			if (openCallIds.delete(message.tool_call_id ?? '')) continue;
			throw new InputError(
				entry,
				'is a tool result without a matching tool call',
				CALLED_HINT,
			);
		}
		const [first] = openCallIds;
		if (first !== undefined) {
			const problem = `comes before the result of the tool call ${oneLine(first)}`;
			throw new InputError(entry, problem, TOOL_RESULT_HINT);
		}
		openCallIds = new Set((message.tool_calls ?? []).map(({ id }) => id));
	}
	const [open] = openCallIds;
	if (open !== undefined) {
		const problem = `has no result for the tool call ${oneLine(open)}`;
		throw new InputError(label, problem, TOOL_RESULT_HINT);
	}
	if (last.role === 'system' || last.role === 'assistant')
		throw new InputError(`${label}: the last entry`, `has the role ${last.role}`, LAST_HINT);
}

/** Throws InputError where the service rejects a message (spec 2.2, 2.3). */
function checkMessage(message: JsonValue, entry: string, allowPrivate: boolean): void {
	const { role, content, tool_calls: sent, tool_call_id: id } = objectOf(message);
	const isTool = role === 'tool';
	const calls = [sent ?? []].flat();
	const parts = Array.isArray(content) ? content : [];
	const isContent = parts === content || typeof (content ?? '') === 'string';
	const mistakes = [
		[!ROLES.includes(String(role)), 'has an unknown role'],
		[role !== 'assistant' && isSet(sent), 'has tool_calls, but not the role assistant'],
		[!isTool && isSet(id), 'has a tool_call_id, but not the role tool'],
		[isTool && !isText(id), 'has no tool_call_id'],
		[isTool && typeof content !== 'string', 'has a tool result that is not a text'],
		[!isContent, 'has content that is neither a text nor a list of parts'],
		[
			isSet(sent) && !(Array.isArray(sent) && sent.every(isCall)),
			'has tool_calls that are not a list of tool calls',
			CALL_HINT,
		],
		[!isTool && calls.length === 0 && isEmpty(content), 'has no content', EMPTY_TEXT_HINT],
	] as const;
	rejectMistakes(entry, mistakes, MESSAGE_HINT);
	for (const part of parts) checkPart(part, entry, allowPrivate);
}

const isSet = (value: JsonValue | undefined) => (value ?? null) !== null;
const isText = (value: JsonValue | undefined) => typeof value === 'string' && !isBlank(value);

function isCall(call: JsonValue): boolean {
	const { id, type, function: called } = objectOf(call);
	const { name, arguments: args } = objectOf(called);
	const isJson = typeof args === 'string' && parseJson(args) !== undefined;
	return isText(id) && type === 'function' && isText(name) && isJson;
}

/** Whether content has neither text nor another part. */
function isEmpty(content: JsonValue | undefined): boolean {
	if (!Array.isArray(content)) return isBlank(content);
	return content.every(
		(part) => isJsonObject(part) && part['type'] === 'text' && isBlank(part['text']),
	);
}

function checkPart(part: JsonValue, entry: string, allowPrivate: boolean): void {
	const { type, text, image_url: image } = objectOf(part);
	if (type === 'text' && typeof text === 'string') return;
	if (type === 'image_url' && isJsonObject(image) && typeof image['url'] === 'string') {
		checkPublicUrl(image['url'], { field: `${entry}, image`, allowPrivate });
		return;
	}
	throw new InputError(entry, 'has a part that is neither text nor image', PART_HINT);
}
