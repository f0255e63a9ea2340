/** Capabilities of a chat model (spec 2.1). */
export interface EmulatedChatModel {
	readonly code: string;
	/** Whether it thinks unless the request or the application configures it. */
	readonly thinksByDefault: boolean;
	/** Supported values of `reasoning_effort`; undefined if the model ignores the field. */
	readonly efforts?: readonly string[];
	/** Whether it ignores tools: support for function calling differs per model (spec 4). */
	readonly ignoresTools?: boolean;
}

/** All chat models. */
export const EMULATED_CHAT_MODELS: readonly EmulatedChatModel[] = [
	{ code: 'chat-m1', thinksByDefault: true, efforts: ['minimal', 'low', 'medium', 'high'] },
	{ code: 'chat-m2', thinksByDefault: false },
	{ code: 'chat-m3', thinksByDefault: false, ignoresTools: true },
];

/** Model of requests that name neither a model nor an application. */
export const DEFAULT_CHAT_MODEL = 'chat-m2';
