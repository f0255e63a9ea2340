import type { Fault } from '../faults/fault';

/** The parts of a request that replies are chosen by; `text` is the last user message, or the prompt of a video. */
export interface ScriptTarget extends Readonly<
	Record<'method' | 'path' | 'text' | 'model' | 'app' | 'lastRole', string>
> {
	readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
	readonly stream: boolean;
	readonly body: unknown;
	/** Whether the emulator would call a tool. */
	readonly callsTool: () => boolean;
}

/** Conditions of a reply; all of them must hold. `script.schema.json` describes each field of a script. */
export interface When extends Partial<Omit<ScriptTarget, 'headers' | 'body' | 'callsTool'>> {
	readonly pattern?: string;
	readonly headers?: Readonly<Record<string, string>>;
	readonly contains?: string;
	readonly callsTool?: boolean;
	readonly call?: number | readonly number[];
}

/** Piece of a response body, with the delay before it. */
export interface ScriptedEvent {
	readonly data?: unknown;
	readonly raw?: string;
	readonly base64?: string;
	readonly repeat?: 'answer' | 'reasoning';
	readonly delayMs?: number;
}

/** Answer in the service's form: the emulator writes the body or the stream. */
export interface ScriptedAnswer {
	readonly text?: string;
	readonly chunks?: readonly (string | { readonly text: string; readonly delayMs?: number })[];
	readonly reasoning?: string;
	readonly toolCalls?: readonly {
		readonly id?: string;
		readonly name: string;
		readonly arguments?: string | object;
	}[];
	readonly usage?: Readonly<Record<string, number>>;
	readonly finishReason?: string;
}

/** Response as it is, in any form; it needs no key. */
export interface ScriptedResponse {
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: unknown;
	readonly base64?: string;
	readonly events?: readonly ScriptedEvent[];
}

/** What becomes of a video task. */
export interface ScriptedTask {
	readonly seconds?: number;
	readonly error?: string;
	readonly stages?: readonly { readonly status: string; readonly seconds: number }[];
	/** Path of the finished file; absolute once the script is parsed. */
	readonly file?: string;
	readonly fields?: Readonly<Record<string, unknown>>;
}

/** One reply of a script: its conditions, and one kind of answer. */
export interface ScriptedReply extends ScriptedAnswer, ScriptedResponse {
	readonly when?: When;
	/** The request that the answer was recorded for. */
	readonly request?: Pick<ScriptTarget, 'method' | 'path'> & { readonly body?: unknown };
	readonly delayMs?: number;
	readonly task?: ScriptedTask;
	readonly fault?: Fault;
}

/** Scripted answers. */
export interface Script {
	readonly name?: string;
	readonly paths?: readonly string[];
	readonly replies: readonly ScriptedReply[];
}

/** Kind of a reply, by its fields. `text` beside `status` is the message of an error. */
export const REPLY_KINDS = {
	response: ['status', 'headers', 'body', 'base64', 'events'],
	task: ['task'],
	fault: ['fault'],
	answer: ['text', 'chunks', 'reasoning', 'toolCalls', 'usage', 'finishReason'],
} as const satisfies Readonly<Record<string, readonly (keyof ScriptedReply)[]>>;

export type ReplyKind = keyof typeof REPLY_KINDS;

/** The kinds of answer that a reply has; a valid reply has one. */
export function kindsOf(reply: object): readonly ReplyKind[] {
	const names = Object.keys(reply).filter((name) => name !== 'text' || !('status' in reply));
	return (Object.keys(REPLY_KINDS) as ReplyKind[]).filter((kind) =>
		REPLY_KINDS[kind].some((name) => names.includes(name)),
	);
}
