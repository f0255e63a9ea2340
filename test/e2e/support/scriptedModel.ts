import type { ChatMessage, ToolCall } from '../../../nodes/client/chat/types';
import { events, json, startScriptedServer } from '../../support/scriptedServer';

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** What the model says to the messages so far: a text, calls for tools, or nothing but status 503. */
export type Model = (messages: readonly ChatMessage[]) => string | ToolCall[] | undefined;

export interface ModelRequest {
	readonly messages: ChatMessage[];
	readonly stream: boolean;
}

export interface ScriptedModel {
	readonly url: string;
	/** The bodies of all requests. */
	readonly requests: ModelRequest[];
	/** Sets what the model says from here on, and forgets what was asked. */
	says(model: Model): void;
	stop(): Promise<void>;
}

/** A chat service whose every word the test decides, streamed or not. `GET /json/…` gives the last part of the path. */
export async function startScriptedModel(): Promise<ScriptedModel> {
	let model: Model = () => 'Hello';
	const requests: ModelRequest[] = [];
	const server = await startScriptedServer((response, { body, path }) => {
		if (path.startsWith('/json/')) {
			json(response, 200, { found: path.slice('/json/'.length) });
			return;
		}
		if (!path.startsWith('/v1/')) {
			json(response, 404, { message: 'no such place' });
			return;
		}
		const request = body as ModelRequest;
		requests.push(request);
		const said = model(request.messages);
		if (said === undefined) {
			json(response, 503, { error: { message: 'down', type: 'service_error' } });
			return;
		}
		const isText = typeof said === 'string';
		const finish_reason = isText ? 'stop' : 'tool_calls';
		if (request.stream) {
			events(response, [
				...deltas(said).map((each) => chunk(each)),
				chunk({}, { finish_reason, usage: USAGE }),
				'[DONE]',
			]);
			return;
		}
		const message = isText
			? { role: 'assistant', content: said }
			: { role: 'assistant', content: null, reasoning_content: 'A tool.', tool_calls: said };
		json(response, 200, { choices: [{ index: 0, message, finish_reason }], usage: USAGE });
	});
	return {
		url: server.url,
		requests,
		says: (next) => {
			model = next;
			requests.length = 0;
		},
		stop: server.stop,
	};
}

/** A call for a tool. */
export function call(id: string, name: string, args: object): ToolCall {
	return { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
}

/** The tool messages among messages. */
export function results(messages: readonly ChatMessage[]): ChatMessage[] {
	return messages.filter(({ role }) => role === 'tool');
}

function deltas(said: string | ToolCall[]): object[] {
	if (typeof said === 'string') return said.split(/(?<= )/).map((content) => ({ content }));
	return [
		{ reasoning_content: 'A tool.' },
		{ tool_calls: said.map((each, index) => ({ index, ...each })) },
	];
}

function chunk(delta: object, more: object = {}): object {
	return { choices: [{ index: 0, delta, ...more }] };
}
