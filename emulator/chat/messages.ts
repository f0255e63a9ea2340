/** Part of a multimodal message (spec 2.2). */
type Part =
	| { readonly type: 'text'; readonly text: string }
	| { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** Tool call of an assistant message (spec 2.3). */
export interface MessageToolCall {
	readonly id: string;
	readonly type: 'function';
	readonly function: { readonly name: string; readonly arguments: string };
}

/** Message of a chat request (spec 2.2). */
export interface Message {
	readonly role: 'system' | 'user' | 'assistant' | 'tool';
	readonly content?: string | null | readonly Part[];
	readonly tool_calls?: readonly MessageToolCall[] | null;
	readonly tool_call_id?: string | null;
}

/** Parts of a message; a string is one part. */
export const partsOf = ({ content }: Message): readonly Part[] =>
	typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);

/** Text of a message: its string content, or its text parts joined by newlines. */
export const textOf = (message: Message): string =>
	partsOf(message)
		.flatMap((part) => (part.type === 'text' ? [part.text] : []))
		.join('\n');

/** Image URLs of a message. */
export const imagesOf = (message: Message): readonly string[] =>
	partsOf(message).flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
