import { InputError } from '../errors';
import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { checkPublicUrl } from '../http/publicUrl';
import type { ChatMessage, ContentPart } from './types';

const ROLES = ['system', 'user', 'assistant', 'tool'];
const EMPTY_HINT = 'Enter a text, or an expression that gives one for every item';

/** A message with text and images; without images the content is plain text (spec 2.2). */
export function userMessage(text: string, imageUrls: readonly string[] = []): ChatMessage {
	if (imageUrls.length === 0) return { role: 'user', content: text };

	const images = imageUrls.map((url): ContentPart => ({ type: 'image_url', image_url: { url } }));
	const words: ContentPart[] = text.trim() === '' ? [] : [{ type: 'text', text }];
	return { role: 'user', content: [...words, ...images] };
}

export interface Prompt {
	readonly text: string;
	readonly systemMessage?: string;
	/** Messages of the conversation so far. */
	readonly earlier?: readonly ChatMessage[];
	readonly imageUrls?: readonly string[];
}

/**
 * The messages for a prompt (spec 2.2): instructions, the conversation so far, the prompt with its images.
 *
 * @throws InputError when the prompt is empty: the service refuses messages without content.
 */
export function promptMessages({
	text,
	systemMessage = '',
	earlier = [],
	imageUrls = [],
}: Prompt): ChatMessage[] {
	if (text.trim() === '') throw new InputError('Prompt', 'is empty', EMPTY_HINT);

	const system: ChatMessage[] =
		systemMessage.trim() === '' ? [] : [{ role: 'system', content: systemMessage }];
	return [...system, ...earlier, userMessage(text, imageUrls)];
}

/**
 * Messages that came as JSON or from a list, each checked (spec 2.2). Their order is `checkOrder`'s.
 *
 * @param label Name of the field that they were entered in.
 * @throws InputError that names the entry and what is wrong with it.
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
	return value as unknown as ChatMessage[];
}

/**
 * Checks that the model is left something to answer, and that each tool result has its call (spec 2.2, 4).
 *
 * @throws InputError that names the entry which stands in the wrong place.
 */
export function checkOrder(messages: readonly ChatMessage[], label: string): void {
	const last = messages.at(-1);
	if (last === undefined) {
		throw new InputError(label, 'is empty', 'Add at least one message with the role user');
	}
	let open: string[] = [];
	for (const [index, message] of messages.entries()) {
		const entry = `${label}: entry ${index + 1}`;
		if (message.role === 'tool') {
			open = withoutAnswered(open, message, entry);
			continue;
		}
		if (open.length > 0) {
			throw new InputError(
				entry,
				`comes before the result of the tool call ${open[0]!}`,
				'Put a message with the role tool for every call behind the assistant message',
			);
		}
		open = (message.tool_calls ?? []).map(({ id }) => id);
	}
	if (last.role === 'system' || (last.role === 'assistant' && open.length === 0)) {
		throw new InputError(
			`${label}: the last entry`,
			`has the role ${last.role}`,
			'End with a message of the role user (or tool): that is what gets answered',
		);
	}
	if (open.length > 0) {
		throw new InputError(
			label,
			`ends before the result of the tool call ${open[0]!}`,
			'Put a message with the role tool for every call behind the assistant message',
		);
	}
}

function withoutAnswered(
	open: string[],
	{ tool_call_id: id }: ChatMessage,
	entry: string,
): string[] {
	if (id !== undefined && open.includes(id)) return open.filter((call) => call !== id);
	throw new InputError(
		entry,
		'has the role tool, but no open call that it answers',
		'Put it behind the assistant message whose tool_calls has this tool_call_id',
	);
}

function checkMessage(message: JsonValue, entry: string, allowPrivate: boolean): void {
	if (!isJsonObject(message) || !ROLES.includes(String(message['role']))) {
		throw new InputError(
			entry,
			'has no known role',
			'Use system, user, assistant or tool: { "role": "user", "content": "Hello" }',
		);
	}
	const { content, tool_calls: calls } = message;
	const asksForTools = Array.isArray(calls) && calls.length > 0;
	if (asksForTools && (content === null || content === undefined || content === '')) return;

	if (Array.isArray(content) && content.length > 0) {
		content.forEach((part) => {
			checkPart(part, entry, allowPrivate);
		});
		return;
	}
	if (typeof content === 'string' && content.trim() !== '') return;
	throw new InputError(entry, 'has no content', EMPTY_HINT);
}

function checkPart(part: JsonValue, entry: string, allowPrivate: boolean): void {
	const { type, text, image_url: image } = isJsonObject(part) ? part : ({} as JsonObject);
	if (type === 'text' && typeof text === 'string' && text !== '') return;
	if (type === 'image_url' && isJsonObject(image) && typeof image['url'] === 'string') {
		checkPublicUrl(image['url'], { field: `${entry}, its image`, allowPrivate });
		return;
	}
	throw new InputError(
		entry,
		'has a part that is neither text nor image',
		'Use { "type": "text", "text": … } or { "type": "image_url", "image_url": { "url": … } }',
	);
}
