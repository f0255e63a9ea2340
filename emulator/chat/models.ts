/** A chat model and what it makes of the request's controls (spec 2.1). */
export interface ChatModel {
	readonly code: string;
	/** Whether it thinks when nothing says otherwise. */
	readonly thinks: boolean;
	/** The values of `reasoning_effort` it takes; undefined for a model that ignores the field. */
	readonly efforts?: readonly string[];
}

/** Every chat model. */
export const CHAT_MODELS: readonly ChatModel[] = [
	{ code: 'chat-m1', thinks: true, efforts: ['minimal', 'low', 'medium', 'high'] },
	{ code: 'chat-m2', thinks: false },
];

/** Answers when neither the request nor an application names a model. */
export const DEFAULT_CHAT_MODEL = 'chat-m2';
