import type { ISupplyDataFunctions, SupplyData } from 'n8n-workflow';

import { imagesAsLinks, type IsKnown } from '../../client/imagesAsLinks';
import { userMessage, withMore } from '../../client/chat/messages';
import { withoutThought } from '../../client/chat/replyMessage';
import { FILE_ONLY, structuredMedia, usageOf } from '../../client/chat/result';
import { isDataUrl } from '../../client/fileTypes';
import { splitCalls, toolCall, uniqueId } from '../../client/chat/toolCalls';

import type { ChatCompletion, ChatMessage, ToolDeclaration } from '../../client/chat/types';
import type { JudgedReply } from '../../client/chat/verdict';
import { InputError } from '../../client/errors';
import { objectOf, withoutUndefined, type JsonObject, type JsonValue } from '../../client/json';
import { isBlank, oneLine, shown } from '../../client/values';
import { adapt, type LangChainChunk } from '../engine/chatModelAdapter';

/** A part of a message in n8n's SDK for AI nodes, without the kinds that this package does not use. `input` is JSON. */
type SdkContent =
	| { type: 'text' | 'reasoning'; text: string }
	| { type: 'tool-call'; toolCallId?: string; toolName: string; input: string }
	| { type: 'tool-result'; toolCallId: string; result: unknown }
	| {
			type: 'file';
			mediaType?: string;
			providerMetadata?: { url?: unknown; filename?: unknown };
	  };

type SdkFile = SdkContent & { type: 'file' };

export interface SdkMessage {
	role: 'system' | 'user' | 'assistant' | 'tool';
	content: readonly SdkContent[];
}

export interface SdkTool {
	type: string;
	name: string;
	description?: string;
	inputSchema?: unknown;
}

/** How a reply ended. */
interface SdkEnd {
	finishReason: 'stop' | 'tool-calls' | 'other';
	usage?: { promptTokens: number; completionTokens: number; totalTokens: number };
}

type SdkReply = SdkEnd & { message: SdkMessage };

export type SdkChunk =
	| { type: 'text-delta'; delta: string }
	| { type: 'content'; content: SdkContent }
	| { type: 'tool-call-delta'; id: string; name: string; argumentsDelta: string }
	| ({ type: 'finish' } & SdkEnd);

/** What a chat model is called with: the conversation, and settings of this call. */
export type SdkCall = [
	messages: readonly SdkMessage[],
	config?: { stop?: readonly string[]; stopSequences?: readonly string[]; tool_choice?: string },
];

/** A chat model, as n8n's agents and chains call it. */
export interface SdkChatModel {
	provider: string;
	modelId: string;
	generate(...call: SdkCall): Promise<SdkReply>;
	stream(...call: SdkCall): AsyncIterable<SdkChunk>;
	withTools(tools: readonly SdkTool[]): SdkChatModel;
}

/** The part of n8n's SDK for AI nodes that this package uses. */
export interface AiNodeSdk {
	getParametersJsonSchema(tool: { inputSchema: unknown }): JsonObject;
	supplyModel(context: ISupplyDataFunctions, model: SdkChatModel): SupplyData;
}

/** Loads n8n's SDK for AI nodes. Only where it is used: it takes longer to load than all of this package. */
export function loadAiNodeSdk(): AiNodeSdk {
	return require('@n8n/ai-node-sdk') as AiNodeSdk;
}

/** Converts a tool of an agent to a declaration (spec 2.3). */
export function toDeclaration(
	sdk: AiNodeSdk,
	{ name, description = '', inputSchema }: Omit<SdkTool, 'type'>,
): ToolDeclaration {
	const parameters =
		inputSchema === undefined ? undefined : sdk.getParametersJsonSchema({ inputSchema });
	return { type: 'function', function: withoutUndefined({ name, description, parameters }) };
}

/** Valid and unique names for tools of tool nodes, in their order (spec 2.3): nobody can rename those of an MCP server. */
export function toolNames(names: readonly string[]): string[] {
	const taken = new Map<string, number>();
	// With a number 64 characters at most.
	const valid = (name: string) => name.replace(/[^\w-]+/g, '_').slice(0, 60) || 'tool';
	return names.map((name) => uniqueId(valid(name), taken));
}

function partsOfType<K extends SdkContent['type']>({ content }: SdkMessage, type: K) {
	return content.filter((part): part is SdkContent & { type: K } => part.type === type);
}

const joinedText = (parts: readonly { text: string }[]) => parts.map(({ text }) => text).join('');

const URL_ONLY =
	'The service takes images by URL only. Add it under Images of the chat model, where {{ Object.keys($binary) }} means all files of the item, or switch off Automatically Passthrough Binary Images in the options of the agent';

const NO_FILES =
	'The service takes text and images only. Switch off Automatically Passthrough Binary PDFs in the options of the agent';

/** Gives images the form of files, which n8n's converter passes on: it drops images in the form that n8n's chains send. */
function withFiles(content: unknown): unknown {
	if (!Array.isArray(content)) return content;
	return content.map((part: JsonValue) => {
		const { type, image_url: image = null } = objectOf(part);
		return type === 'image_url' ? { type: 'file', url: objectOf(image)['url'] ?? image } : part;
	});
}

/** Tokens of texts, estimated: about four characters of an alphabet, or one of another script, are one. */
async function estimateTokens(parts: readonly unknown[]): Promise<number> {
	const texts = parts.map((part) => (typeof part === 'string' ? part : objectOf(part)['text']));
	const text = texts.join('');
	const { length } = text.match(/\p{Lo}/gu) ?? [];
	return Math.ceil(length + (text.length - length) / 4);
}

/**
 * The content of a reply is its text, as with n8n's own models, which LangChain joins (with parts in its place, AI Agent 1.x puts a
 * line break between any two), with the reasoning apart.
 */
function joinText({ text, message }: LangChainChunk): void {
	const thought = [message.content].flat().map((part) => objectOf(part)['reasoning']);
	if (thought.some(Boolean)) message.additional_kwargs['reasoning_content'] = thought.join('');
	message.content = text;
}

/** A model that streams what this one generates, and the tokens that the service has counted. */
function whole(model: SdkChatModel) {
	let usage: SdkEnd['usage'];
	async function* stream(...call: SdkCall) {
		const reply = await model.generate(...call);
		usage = reply.usage;
		yield* toChunks(reply);
	}
	return { model: { ...model, stream }, usage: () => usage };
}

/** A reply in pieces, as n8n's SDK takes them; without its text where that has been passed on. */
export function* toChunks({ message, ...end }: SdkReply, hasText = true): Generator<SdkChunk> {
	for (const part of message.content) {
		if (part.type === 'text' && hasText) yield { type: 'text-delta', delta: part.text };
		if (part.type === 'reasoning') yield { type: 'content', content: part };
		if (part.type !== 'tool-call') continue;
		const { toolCallId: id = '', toolName: name, input: argumentsDelta } = part;
		// One chunk per call: n8n writes the chunks of all calls to the same place.
		yield { type: 'tool-call-delta', id, name, argumentsDelta };
	}
	yield { type: 'finish', ...end };
}

/**
 * What is supplied to an agent or a chain, so that it is like n8n's own models.
 *
 * @param isJson Whether replies are asked for in JSON: Basic LLM Chain then outputs their fields.
 */
export function adapted(supplied: SupplyData, isJson: boolean): SupplyData {
	const changes = { contentOf: withFiles, change: joinText, whole, estimateTokens };
	const json = isJson && { metadata: { output_format: 'json' } };
	Object.assign(adapt(supplied.response, changes), json);
	return supplied;
}

function toChatMessage(message: SdkMessage): ChatMessage {
	const { role } = message;
	const text = joinedText(partsOfType(message, 'text'));
	if (role === 'system') return { role, content: text };
	if (role === 'user') return userMessage(text, partsOfType(message, 'file').map(imageUrl));
	if (role === 'tool') {
		const { toolCallId, result } = partsOfType(message, 'tool-result')[0]!;
		return { role, tool_call_id: toolCallId, content: shown(result ?? '') };
	}
	const calls = partsOfType(message, 'tool-call').map(({ toolCallId = '', toolName, input }) =>
		toolCall(toolCallId, toolName, input),
	);
	return {
		role,
		content: calls.length > 0 && text === '' ? null : text,
		...(calls.length > 0 && { tool_calls: calls }),
	};
}

function imageUrl({ mediaType, providerMetadata }: SdkFile, index: number): string {
	const { url, filename } = providerMetadata ?? {};
	if (typeof url === 'string' && /^https?:/i.test(url)) return url;
	const [, type = mediaType] = /^data:([^;,]*)/i.exec(shown(url ?? '')) ?? [];
	const name = `${index + 1} (${oneLine(shown(filename ?? type ?? 'of an unknown type'))})`;
	// n8n passes on a PDF without a type.
	const isImage = url !== undefined || type?.startsWith('image/');
	if (isImage) throw new InputError(`Image ${name}`, 'has no URL', URL_ONLY);
	throw new InputError(`File ${name}`, 'cannot be sent', NO_FILES);
}

/** Whether a file is an image without a URL, as an agent passes on those of its item. */
function isPassedImage(part: SdkContent): boolean {
	const url = part.type === 'file' && part.providerMetadata?.url;
	return typeof url === 'string' && isDataUrl(url);
}

/** Whether a message says anything: agents send empty instructions, and empty replies from their memory, which the service rejects. */
function isSaid({ role, content, tool_calls: calls }: ChatMessage): boolean {
	return role === 'user' || role === 'tool' || calls !== undefined || !isBlank(content);
}

/**
 * Converts the messages of n8n's agents and chains to the service's form (spec 2.2, 2.3).
 *
 * @param imageUrls Images to attach to the last user message, in place of those that the agent passes on without a URL.
 * @throws InputError for a file without a URL: the service takes no base64.
 */
export function toChatMessages(
	messages: readonly SdkMessage[],
	imageUrls: readonly string[],
): readonly ChatMessage[] {
	if (imageUrls.length === 0) return messages.map(toChatMessage).filter(isSaid);
	const asked = messages.flatMap((message) => {
		const content = message.content.filter((part) => !isPassedImage(part));
		return content.length === 0 && message.content.length > 0 ? [] : { ...message, content };
	});
	return withMore(asked.map(toChatMessage).filter(isSaid), '', imageUrls);
}

/** Converts a reply of the service to n8n's form, see `imagesAsLinks`. */
export function toSdkResult(
	completion: JudgedReply,
	base: string,
	isKnown?: IsKnown,
	toShown = (text: string) => text,
): SdkReply {
	const { message, finish_reason: reason } = completion.choices[0]!;
	const { content: said, reasoning_content: thought = '' } = message;
	const answer = withoutThought(said ?? '');
	const text = toShown(imagesAsLinks(answer, isKnown) + fileLinks(completion, base));
	const content: SdkContent[] = [];
	if (thought !== '') content.push({ type: 'reasoning', text: thought });
	if (said !== null || text !== '') content.push({ type: 'text', text });
	for (const { id: toolCallId, function: called } of splitCalls(message).asked) {
		const { name: toolName, arguments: input } = called;
		content.push({ type: 'tool-call', toolCallId, toolName, input });
	}
	// n8n has no name for the other reasons of the service (spec 3.2).
	const named = reason === 'stop' ? reason : reason === 'tool_calls' && 'tool-calls';
	const end: SdkEnd = { finishReason: named || 'other' };
	const usage = usageOf(completion);
	if (usage !== undefined) {
		const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = usage;
		end.usage = { promptTokens, completionTokens, totalTokens: usage.total_tokens };
	}
	return { message: { role: 'assistant', content }, ...end };
}

/** What a reply says that only has files without a URL. */
const DATA_ONLY = `(${FILE_ONLY}. Chat Completion can get it, with its option Download Media)`;

/**
 * The files among the parts and in the fields of a reply as Markdown below its text: n8n's agents and chains pass on only
 * text. Files that the service sends themselves, as data: URLs, are left out, but a reply without anything else says so.
 */
export function fileLinks(completion: ChatCompletion, base: string): string {
	const media = structuredMedia(completion, base);
	const links = media
		.filter(({ url }) => !isDataUrl(url))
		.map(({ kind, url }) => `\n\n${kind === 'image' ? '!' : ''}[${kind}](${url})`);
	const { content } = completion.choices[0]!.message;
	const isLost = media.length > 0 && isBlank(withoutThought(content ?? ''));
	return links.length === 0 && isLost ? DATA_ONLY : links.join('');
}
