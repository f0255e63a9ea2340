export interface TextPart {
	readonly type: 'text';
	readonly text: string;
}

export interface ImagePart {
	readonly type: 'image_url';
	readonly image_url: { readonly url: string };
}

export interface ToolCall {
	readonly id: string;
	readonly type: 'function';
	readonly function: { readonly name: string; readonly arguments: string };
}

/** A message of a chat request (spec 2.2). */
export interface Message {
	readonly role: 'system' | 'user' | 'assistant' | 'tool';
	readonly content?: string | null | readonly (TextPart | ImagePart)[];
	readonly tool_calls?: readonly ToolCall[] | null;
	readonly tool_call_id?: string | null;
}

/** The text of a message: its string, or its text parts line by line. */
export function textOf({ content }: Message): string {
	if (typeof content === 'string') return content;
	return (content ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** The addresses of a message's images. */
export function imagesOf({ content }: Message): readonly string[] {
	if (typeof content === 'string') return [];
	return (content ?? []).flatMap((part) =>
		part.type === 'image_url' ? [part.image_url.url] : [],
	);
}
