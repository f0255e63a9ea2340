/** Text part of a multimodal message (spec 2.2). */
export interface TextPart {
	readonly type: 'text';
	readonly text: string;
}

/** Image part of a multimodal message (spec 2.2). */
export interface ImagePart {
	readonly type: 'image_url';
	readonly image_url: { readonly url: string };
}

/** Tool call of an assistant message (spec 2.3). */
export interface MessageToolCall {
	readonly id: string;
	readonly type: 'function';
	readonly function: { readonly name: string; readonly arguments: string };
}

/** Message of a chat request (spec 2.2). */
export interface Message {
	readonly role: 'system' | 'user' | 'assistant' | 'tool';
	readonly content?: string | null | readonly (TextPart | ImagePart)[];
	readonly tool_calls?: readonly MessageToolCall[] | null;
	readonly tool_call_id?: string | null;
}

/** Text of a message: its string content, or its text parts joined by newlines. */
export function textOf({ content }: Message): string {
	if (typeof content === 'string') return content;
	return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** Image URLs of a message. */
export function imagesOf({ content }: Message): readonly string[] {
	if (typeof content === 'string') return [];
	return (content ?? []).flatMap((part) =>
		part.type === 'image_url' ? [part.image_url.url] : [],
	);
}
