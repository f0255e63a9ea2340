import { userMessage } from '../client/chat/messages';
import { usageOf } from '../client/chat/result';
import { isComplete, readToolCalls } from '../client/chat/toolCalls';
import type {
	ChatCompletion,
	ChatMessage,
	ContentPart,
	ToolCall,
	Usage,
} from '../client/chat/types';
import { InputError } from '../client/errors';
import type {
	SdkContent,
	SdkFinishReason,
	SdkMessage,
	SdkResult,
	SdkUsage,
} from '../shared/chat/aiNodeSdk';

type Part<K extends SdkContent['type']> = Extract<SdkContent, { type: K }>;

/** n8n's name for each finish reason of the service (spec 3.2). */
const FINISH_REASONS: Readonly<Record<string, SdkFinishReason>> = {
	stop: 'stop',
	tool_calls: 'tool-calls',
	length: 'length',
	content_filter: 'content-filter',
};

/** Converts a message of each role to the service's form (spec 2.2, 2.3). */
const CONVERTERS: Readonly<Record<SdkMessage['role'], (message: SdkMessage) => ChatMessage>> = {
	system: (message) => ({ role: 'system', content: textOf(message) }),
	user: (message) => userMessage(textOf(message), partsOf(message, 'file').map(imageUrl)),
	assistant: assistantMessage,
	tool: (message) => {
		const [{ toolCallId, result }] = partsOf(message, 'tool-result') as [Part<'tool-result'>];
		return {
			role: 'tool',
			tool_call_id: toolCallId,
			content: typeof result === 'string' ? result : JSON.stringify(result),
		};
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
	const { content, reasoning_content: reasoning = '' } = completion.choices[0]!.message;
	return {
		message: {
			role: 'assistant',
			content: [
				...(reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning } as const]),
				...(typeof content === 'string' ? [{ type: 'text', text: content } as const] : []),
				...callsOf(completion).map(
					({ id, function: { name, arguments: input } }) =>
						({ type: 'tool-call', toolCallId: id, toolName: name, input }) as const,
				),
			],
		},
		...toSdkEnd(completion),
	};
}

/** The finish reason and usage of a reply, in n8n's form. */
export function toSdkEnd(completion: ChatCompletion): {
	finishReason: SdkFinishReason;
	usage?: SdkUsage;
} {
	const usage = usageOf(completion);
	const finishReason = FINISH_REASONS[completion.choices[0]!.finish_reason ?? ''] ?? 'other';
	return { finishReason, ...(usage === undefined ? {} : { usage: toSdkUsage(usage) }) };
}

/** The tool calls to run: those of a complete reply that the service has not executed, see `readToolCalls`. */
export function callsOf({ choices }: ChatCompletion, prefix?: string): readonly ToolCall[] {
	const { message, finish_reason: finishReason } = choices[0]!;
	if (!isComplete(finishReason)) return [];
	return readToolCalls(message, prefix).flatMap(({ call, result }) =>
		result === undefined ? call : [],
	);
}

function toSdkUsage({ prompt_tokens, completion_tokens, total_tokens }: Usage): SdkUsage {
	return {
		promptTokens: prompt_tokens,
		completionTokens: completion_tokens,
		totalTokens: total_tokens,
	};
}

function assistantMessage(message: SdkMessage): ChatMessage {
	const calls = partsOf(message, 'tool-call').map(
		({ toolCallId = '', toolName, input }): ToolCall => ({
			id: toolCallId,
			type: 'function',
			function: { name: toolName, arguments: input },
		}),
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
