import { userMessage } from '../client/chat/messages';
import { isDataUrl, partMedia, usageOf } from '../client/chat/result';
import { isComplete, jsonText, readToolCalls, toolCall } from '../client/chat/toolCalls';
import type { ChatCompletion, ChatMessage, ContentPart, ToolCall } from '../client/chat/types';
import { InputError } from '../client/errors';
import type { JsonValue } from '../client/json';
import type { SdkContent, SdkFinishReason, SdkMessage, SdkResult } from '../shared/chat/aiNodeSdk';

type Part<K extends SdkContent['type']> = Extract<SdkContent, { type: K }>;

/** n8n's name for each finish reason of the service (spec 3.2). */
const FINISH_REASONS: ReadonlyMap<unknown, SdkFinishReason> = new Map([
	['stop', 'stop'],
	['tool_calls', 'tool-calls'],
	['length', 'length'],
	['content_filter', 'content-filter'],
]);

/** Converts a message of each role to the service's form (spec 2.2, 2.3). */
const CONVERTERS: Readonly<Record<SdkMessage['role'], (message: SdkMessage) => ChatMessage>> = {
	system: (message) => ({ role: 'system', content: textOf(message) }),
	user: (message) => userMessage(textOf(message), partsOf(message, 'file').map(imageUrl)),
	assistant: assistantMessage,
	tool: (message) => {
		const [{ toolCallId, result }] = partsOf(message, 'tool-result') as [Part<'tool-result'>];
		const content = jsonText((result ?? '') as JsonValue);
		return { role: 'tool', tool_call_id: toolCallId, content };
	},
};

/**
 * Converts a message of n8n's agents and chains to the service's form.
 *
 * @throws InputError for a file without a URL: the service takes no base64.
 */
export function toChatMessage(message: SdkMessage): ChatMessage {
	return CONVERTERS[message.role](message);
}

/** Attaches images to the last user message. */
export function withImages(
	messages: readonly ChatMessage[],
	imageUrls: readonly string[],
): ChatMessage[] {
	const last = messages.findLastIndex(({ role }) => role === 'user');
	return messages.map((message, index) => {
		if (index !== last || imageUrls.length === 0) return message;
		const { content } = message;
		if (typeof content === 'string') return userMessage(content, imageUrls);
		const images = userMessage('', imageUrls).content as readonly ContentPart[];
		return { ...message, content: [...(content ?? []), ...images] };
	});
}

/** Converts a reply of the service to n8n's form. */
export function toSdkResult(completion: ChatCompletion): SdkResult {
	const { message, finish_reason: reason } = completion.choices[0]!;
	const { content, reasoning_content: reasoning = '' } = message;
	const text = (content ?? '') + fileLinks(completion);
	const usage = usageOf(completion);
	return {
		message: {
			role: 'assistant',
			content: [
				...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
				...(content === null && text === '' ? [] : [{ type: 'text', text } as const]),
				...callsOf(completion).map(
					({ id, function: { name, arguments: input } }) =>
						({ type: 'tool-call', toolCallId: id, toolName: name, input }) as const,
				),
			],
		},
		finishReason: FINISH_REASONS.get(reason) ?? 'other',
		...(usage && {
			usage: {
				promptTokens: usage.prompt_tokens,
				completionTokens: usage.completion_tokens,
				totalTokens: usage.total_tokens,
			},
		}),
	};
}

/**
 * The files among the parts of a reply as Markdown below its text: n8n's agents and chains pass on only text. Files that
 * the service sends themselves, as data: URLs, are left out.
 */
export function fileLinks({ choices }: ChatCompletion): string {
	return partMedia(choices[0]!.message.parts)
		.filter(({ url }) => !isDataUrl(url))
		.map(({ kind, url }) => `\n\n${kind === 'image' ? '!' : ''}[${kind}](${url})`)
		.join('');
}

/** The tool calls to run: those of a complete reply that the service has not executed, see `readToolCalls`. */
export function callsOf({ choices }: ChatCompletion, prefix?: string): readonly ToolCall[] {
	const { message, finish_reason: finishReason } = choices[0]!;
	if (!isComplete(finishReason)) return [];
	return readToolCalls(message, prefix).flatMap(({ call, result }) =>
		result === undefined ? call : [],
	);
}

function assistantMessage(message: SdkMessage): ChatMessage {
	const calls = partsOf(message, 'tool-call').map(({ toolCallId = '', toolName, input }) =>
		toolCall(toolCallId, toolName, input),
	);
	const text = textOf(message);
	const reasoning = partsOf(message, 'reasoning').map((part) => part.text);
	return {
		role: 'assistant',
		content: calls.length > 0 && text === '' ? null : text,
		...(reasoning.length === 0 ? {} : { reasoning_content: reasoning.join('') }),
		...(calls.length === 0 ? {} : { tool_calls: calls }),
	};
}

function textOf(message: SdkMessage): string {
	return partsOf(message, 'text')
		.map(({ text }) => text)
		.join('');
}

function partsOf<K extends SdkContent['type']>({ content }: SdkMessage, type: K): Part<K>[] {
	return content.filter((part): part is Part<K> => part.type === type);
}

function imageUrl({ providerMetadata }: Part<'file'>): string {
	const url = providerMetadata?.url;
	if (typeof url === 'string' && /^https?:/i.test(url)) return url;
	throw new InputError(
		'Image',
		'has no URL',
		'The service takes images by URL only. Enter the binary field under Images of the chat model, or put the URL into the prompt',
	);
}
