import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { behaviorOf, type Behavior } from './behavior';

export interface ChatBody {
	readonly model: string;
	readonly stream?: boolean;
	readonly messages: readonly { readonly role: string }[];
	readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

const USAGE = { prompt_tokens: 20, completion_tokens: 80, total_tokens: 100 };
/** Some sixty words, as in a short reply. */
const TEXT = 'A lighthouse stands at dawn while the sea is calm. '.repeat(6);

/** Current time in milliseconds since 1970, with fractions: comparable between the processes of this machine. */
export function nowMs(): number {
	return performance.timeOrigin + performance.now();
}

/** Answers a chat request with the behavior that the model name encodes. The text of a streamed chunk is its send time. */
export async function answerChat(body: ChatBody, response: ServerResponse): Promise<void> {
	const behavior = behaviorOf(body.model);
	if (behavior.delayMs > 0) await sleep(behavior.delayMs);
	const calls = toolCalls(body, behavior);
	if (body.stream === true) {
		await stream(response, body.model, behavior, calls);
		return;
	}
	const message =
		calls.length > 0
			? { role: 'assistant', content: null, tool_calls: calls }
			: { role: 'assistant', content: TEXT };
	response.writeHead(200, { 'content-type': 'application/json' });
	response.end(
		JSON.stringify({
			...envelope(body.model, 'chat.completion'),
			choices: [
				{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' },
			],
			usage: USAGE,
		}),
	);
}

async function stream(
	response: ServerResponse,
	model: string,
	{ chunks, gapMs }: Behavior,
	calls: readonly object[],
): Promise<void> {
	const send = (choice: object, more: object = {}) => {
		const chunk = {
			...envelope(model, 'chat.completion.chunk'),
			choices: [{ index: 0, finish_reason: null, ...choice }],
			...more,
		};
		response.write(`data: ${JSON.stringify(chunk)}\n\n`);
	};
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	if (calls.length > 0) {
		const tool_calls = calls.map((call, index) => ({ index, ...call }));
		send({ delta: { role: 'assistant', tool_calls } });
	} else {
		for (let index = 0; index < chunks; index++) {
			if (index > 0 && gapMs > 0) await sleep(gapMs);
			const role = index === 0 ? { role: 'assistant' } : {};
			send({ delta: { ...role, content: `${nowMs().toFixed(3)} ` } });
		}
	}
	const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
	send({ delta: {}, finish_reason }, { usage: USAGE });
	response.end('data: [DONE]\n\n');
}

/** The tool calls of this round; none after the last round. */
function toolCalls({ messages, tools = [] }: ChatBody, { rounds, calls }: Behavior): object[] {
	const round = messages.filter(({ role }) => role === 'tool').length / calls;
	const name = tools[0]?.function.name;
	if (name === undefined || round >= rounds) return [];
	return Array.from({ length: calls }, (_, index) => ({
		id: `call-${round}-${index}`,
		type: 'function',
		function: { name, arguments: JSON.stringify({ input: `${round} + ${index}` }) },
	}));
}

function envelope(model: string, object: string) {
	return { id: 'bench', object, created: 1_800_000_000, model };
}
