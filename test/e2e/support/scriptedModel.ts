import type { ChatMessage, ToolCall, ToolDeclaration } from '../../../nodes/client/chat/types';
import { events, json, startScriptedServer } from '../../support/scriptedServer';

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** The model's reply to the messages so far, with these tools: a text, tool calls, or undefined for status 503. */
export type Model = (
	messages: readonly ChatMessage[],
	tools: readonly ToolDeclaration[],
) => string | ToolCall[] | undefined;

export interface ModelRequest {
	readonly messages: ChatMessage[];
	readonly tools?: readonly ToolDeclaration[];
	readonly stream: boolean;
}

export interface ScriptedModel {
	readonly url: string;
	/** The bodies of all requests. */
	readonly requests: ModelRequest[];
	/** Sets the model's replies from now on and clears `requests`. */
	replyWith(model: Model): void;
	stop(): Promise<void>;
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
		const isText = typeof reply === 'string';
		const finish_reason = isText ? 'stop' : 'tool_calls';
		if (request.stream) {
			events(response, [
				...deltas(reply).map((each) => chunk(each)),
				chunk({}, { finish_reason, usage: USAGE }),
				'[DONE]',
			]);
			return;
		}
		const message = isText
			? { role: 'assistant', content: reply }
			: { role: 'assistant', content: null, reasoning_content: 'A tool.', tool_calls: reply };
		json(response, 200, { choices: [{ index: 0, message, finish_reason }], usage: USAGE });
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

/** Builds a tool call. */
export function call(id: string, name: string, args: object): ToolCall {
	return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

/** Selects the tool messages. */
export function results(messages: readonly ChatMessage[]): ChatMessage[] {
	return messages.filter(({ role }) => role === 'tool');
}

function deltas(reply: string | ToolCall[]): object[] {
	if (typeof reply === 'string') return reply.split(/(?<= )/).map((content) => ({ content }));
	return [
		{ reasoning_content: 'A tool.' },
		{ tool_calls: reply.map((each, index) => ({ index, ...each })) },
	];
}

function chunk(delta: object, more: object = {}): object {
	return { choices: [{ index: 0, delta, ...more }] };
}
