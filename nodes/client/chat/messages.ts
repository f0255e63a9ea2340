import { EMPTY_TEXT_HINT, emptyText, InputError } from '../errors';
import { fromJson, isJsonObject, type JsonObject, type JsonValue } from '../json';
import { checkPublicUrl } from '../http/publicUrl';
import type { ChatMessage, ContentPart } from './types';

const ROLES = ['system', 'user', 'assistant', 'tool'];
const TOOL_RESULT_HINT =
	'After an assistant message with tool_calls, add one message with the role tool for each call';

/** Builds a user message from text and image URLs; without images its content is a plain string (spec 2.2). */
export function userMessage(text: string, imageUrls: readonly string[] = []): ChatMessage {
	if (imageUrls.length === 0) return { role: 'user', content: text };

	const images = imageUrls.map((url): ContentPart => ({ type: 'image_url', image_url: { url } }));
	const texts: ContentPart[] = text.trim() === '' ? [] : [{ type: 'text', text }];
	return { role: 'user', content: [...texts, ...images] };
}

export interface Prompt {
	readonly text: string;
	readonly systemMessage?: string;
	/** Earlier messages of the conversation. */
	readonly earlier?: readonly ChatMessage[];
	readonly imageUrls?: readonly string[];
}

/**
 * Builds the messages for a prompt (spec 2.2): system message, earlier messages, user message with images.
 *
 * @throws InputError if the prompt is empty: the service rejects messages without content (spec 7.1).
 */
export function promptMessages({
	text,
	systemMessage = '',
	earlier = [],
	imageUrls = [],
}: Prompt): ChatMessage[] {
	if (text.trim() === '') throw emptyText('Prompt');

	const system: ChatMessage[] =
		systemMessage.trim() === '' ? [] : [{ role: 'system', content: systemMessage }];
	return [...system, ...earlier, userMessage(text, imageUrls)];
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
	if (!Array.isArray(value)) {
		throw new InputError(
			label,
			'is not a list',
			'Enter a JSON list: [{ "role": "user", "content": "Hello" }]',
		);
	}
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
	if (last === undefined) {
		throw new InputError(label, 'is empty', 'Add at least one message with the role user');
	}
	let openCallIds: string[] = [];
	for (const [index, message] of messages.entries()) {
		const entry = `${label}: entry ${index + 1}`;
		if (message.role === 'tool') {
			openCallIds = withoutAnswered(openCallIds, message, entry);
			continue;
		}
		if (openCallIds.length > 0) {
			throw new InputError(
				entry,
				`comes before the result of the tool call ${openCallIds[0]!}`,
				TOOL_RESULT_HINT,
			);
		}
		openCallIds = (message.tool_calls ?? []).map(({ id }) => id);
	}
	if (last.role === 'system' || (last.role === 'assistant' && openCallIds.length === 0)) {
		throw new InputError(
			`${label}: the last entry`,
			`has the role ${last.role}`,
			'End with a message with the role user or tool: the model answers the last message',
		);
	}
	if (openCallIds.length > 0) {
		throw new InputError(
			label,
			`has no result for the tool call ${openCallIds[0]!}`,
			TOOL_RESULT_HINT,
		);
	}
}

function withoutAnswered(
	openCallIds: string[],
	{ tool_call_id: id }: ChatMessage,
	entry: string,
): string[] {
	if (id !== undefined && openCallIds.includes(id)) {
		return openCallIds.filter((openId) => openId !== id);
	}
	throw new InputError(
		entry,
		'is a tool result without a matching tool call',
		'Place it after the assistant message whose tool_calls contain this tool_call_id',
	);
}

function checkMessage(message: JsonValue, entry: string, allowPrivate: boolean): void {
	if (!isJsonObject(message) || !ROLES.includes(String(message['role']))) {
		throw new InputError(
			entry,
			'has an unknown role',
			'Use system, user, assistant or tool: { "role": "user", "content": "Hello" }',
		);
	}
	const content = message['content'] ?? '';
	const calls = message['tool_calls'] ?? [];
	if (!Array.isArray(calls) || !calls.every(isJsonObject)) {
		throw new InputError(
			entry,
			'has tool_calls that are not a list of tool calls',
			'Write each as { "id": …, "type": "function", "function": { "name": …, "arguments": … } }',
		);
	}
	const isBlank = typeof content === 'string' && content.trim() === '';
	if (isBlank && calls.length > 0) return;

	if (Array.isArray(content) && content.length > 0) {
		content.forEach((part) => {
			checkPart(part, entry, allowPrivate);
		});
		return;
	}
	if (typeof content === 'string' && !isBlank) return;
	throw new InputError(entry, 'has no content', EMPTY_TEXT_HINT);
}

function checkPart(part: JsonValue, entry: string, allowPrivate: boolean): void {
	const { type, text, image_url: image } = isJsonObject(part) ? part : ({} as JsonObject);
	if (type === 'text' && typeof text === 'string' && text !== '') return;
	if (type === 'image_url' && isJsonObject(image) && typeof image['url'] === 'string') {
		checkPublicUrl(image['url'], { field: `${entry}, image`, allowPrivate });
		return;
	}
	throw new InputError(
		entry,
		'has a part that is neither text nor image',
		'Use { "type": "text", "text": … } or { "type": "image_url", "image_url": { "url": … } }',
	);
}
