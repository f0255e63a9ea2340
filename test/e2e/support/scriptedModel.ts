import type { ServerResponse } from 'node:http';

import type { ChatMessage, ToolCall, ToolDeclaration } from '../../../nodes/client/chat/types';
import { events, json, startScriptedServer } from '../../support/scriptedServer';

/** The model's reply to the messages so far, with these tools: a text, tool calls, or undefined for status 503. */
export type Model = (
	messages: readonly ChatMessage[],
	tools: readonly ToolDeclaration[],
) => string | ToolCall[] | undefined;

export interface ModelRequest {
	readonly messages: ChatMessage[];
	readonly tools?: readonly ToolDeclaration[];
	readonly stream: boolean;
	readonly [field: string]: unknown;
}

export interface ScriptedModel {
	readonly url: string;
	/** The bodies of all requests. */
	readonly requests: ModelRequest[];
	/** Sets the model's replies from now on and clears `requests`. */
	replyWith(model: Model): void;
	stop(): Promise<void>;
}

/** The message of a reply. */
interface Said {
	readonly content: string | null;
	readonly tool_calls?: readonly object[];
	readonly [field: string]: unknown;
}

/** Starts a chat service with scripted replies, streamed or not. `GET /json/…` returns the last part of the path. */
export async function startScriptedModel(): Promise<ScriptedModel> {
	let model: Model = () => 'Hello';
	const requests: ModelRequest[] = [];
	const server = await startScriptedServer((response, { body, path }) => {
		if (path.startsWith('/json/')) {
			json(response, 200, { found: path.slice('/json/'.length) });
			return;
		}
		if (!path.startsWith('/v1/')) {
			json(response, 404, { message: 'not found' });
			return;
		}
		const request = body as ModelRequest;
		requests.push(request);
		const reply = model(request.messages, request.tools ?? []);
		if (reply === undefined) {
			json(response, 503, { error: { message: 'down', type: 'service_error' } });
			return;
		}
		const message: Said =
			typeof reply === 'string'
				? { content: reply }
				: { content: null, reasoning_content: 'A tool.', tool_calls: reply };
		const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
		sendReply(response, request, message, { usage });
	});
	return {
		url: server.url,
		requests,
		replyWith: (next) => {
			model = next;
			requests.length = 0;
		},
		stop: server.stop,
	};
}

/** What a reply has beside its message. */
interface MoreOfReply {
	/** A tool that a super assistant has run. */
	readonly ran?: { readonly name: string; readonly result: string };
	/** Fields beside the choices; at the end of a stream. */
	readonly [field: string]: unknown;
}

/** Sends a reply in the form that was asked for: a body, or a stream in which each word has a chunk. */
export function sendReply(
	response: ServerResponse,
	{ stream }: { readonly stream?: boolean | undefined },
	message: Said,
	{ ran, ...more }: MoreOfReply = {},
): void {
	const { content, tool_calls: calls, ...rest } = message;
	const finish_reason = calls ? 'tool_calls' : 'stop';
	if (stream !== true) {
		const done = ran && {
			tool_calls: [call('r1', ran.name, {})],
			tool_results: [{ tool_call_id: 'r1', content: ran.result }],
		};
		const said = { role: 'assistant', ...message, ...done };
		json(response, 200, { ...more, choices: [{ index: 0, message: said, finish_reason }] });
		return;
	}
	const runs = [{ ...ran, arguments: {}, status: 'success' }];
	events(response, [
		...(ran ? [{ extension: { type: 'tool_calls', data: { tool_calls: runs } } }] : []),
		chunk(rest),
		...(content?.split(/(?<= )/) ?? []).map((word) => chunk({ content: word })),
		...(calls ? [chunk({ tool_calls: calls.map((each, index) => ({ index, ...each })) })] : []),
		{ ...more, ...chunk({}, { finish_reason }) },
		'[DONE]',
	]);
}

/** Builds a tool call. */
export function call(id: string, name: string, args: object): ToolCall {
	return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

/** Selects the tool messages. */
export function results(messages: readonly ChatMessage[]): ChatMessage[] {
	return messages.filter(({ role }) => role === 'tool');
}

/** A chunk of a streamed reply. */
export function chunk(delta: object, more: object = {}): object {
	return { choices: [{ index: 0, delta, ...more }] };
}
