/**
 * Reads answers at once that are far larger than they look, and others meanwhile; prints what came of them: three bodies of the
 * service at a URL, or without one streams whose few bytes are millions of values.
 */
import { completeChat } from '../../nodes/client/chat/completeChat';
import { askAssistant } from '../../nodes/client/chat/sendChat';
import type { ServiceError } from '../../nodes/client/errors';
import type { HttpPort } from '../../nodes/client/ports';
import { queryTask } from '../../nodes/client/video/tasks';
import { axiosHttp } from '../support/axiosHttp';
import { delta } from '../support/chatPieces';
import { eventsOf } from '../support/scriptedServer';

const [, , url] = process.argv;
const REQUEST = { model: 'm', messages: [{ role: 'user', content: 'Hi' } as const] };
const at = (path: string) => axiosHttp(`${url}/${path}`, 'k');
const ask = async (path: string) =>
	await completeChat(at(path), REQUEST, { stream: false, idleTimeoutMs: 60_000 });

const WIDE = 100_000;
const zeros = Array.from({ length: WIDE }, () => 0);
/** Objects count twice: themselves, and what they have. */
const fewer = zeros.slice(0, 40_000);
const fields = () => Object.fromEntries(zeros.map((zero, place) => [`k${place}`, zero]));
const tools = (type: string, data: unknown) => ({ extension: { type, data } });

/** The chunks of each stream, by what they fill. */
const STREAMS: Readonly<Record<string, (nth: number) => object>> = {
	'tool progress': () =>
		tools('tool_calls', { tool_calls: [{ name: 'f', arguments: fields() }] }),
	'tools of another type': () => tools('chart', zeros),
	'a list of a message': () => delta({ reasoning_details: zeros }),
	'fields of a message': (nth) => delta({ [`field${nth}`]: fields() }),
	'fields of a body': (nth) => ({ [`field${nth}`]: zeros, model: 'm' }),
	'parts of the content': () => delta({ content: fewer.map(() => ({})) }),
	'tool calls': (nth) =>
		delta({ tool_calls: fewer.map((_zero, index) => ({ index: nth * WIDE + index })) }),
	choices: (nth) => ({ choices: fewer.map((_zero, index) => ({ index: nth * WIDE + index })) }),
};

function* repeated(chunk: (nth: number) => object): Generator<object> {
	for (let nth = 0; nth < 100; nth++) yield chunk(nth);
	yield delta({ content: 'all' }, { finish_reason: 'stop' });
}

async function readStream(chunks: Iterable<object>) {
	const http: HttpPort = async () =>
		await Promise.resolve({
			status: 200,
			headers: { 'content-type': 'text/event-stream' },
			body: (async function* () {
				for (const chunk of chunks) {
					await new Promise(setImmediate);
					yield Buffer.from(eventsOf([chunk]));
				}
			})(),
		});
	return await askAssistant(http, REQUEST, { stream: true, idleTimeoutMs: 60_000 }, Date);
}

const LARGE: readonly (() => Promise<unknown>)[] =
	url === undefined
		? Object.values(STREAMS).map((chunk) => async () => await readStream(repeated(chunk)))
		: [
				async () => await ask('chat'),
				async () => await queryTask(at('video'), 't', 60_000),
				async () => await ask('error'),
			];
const askOrdinary = async () =>
	url === undefined
		? await readStream([delta({ content: 'Hi' }, { finish_reason: 'stop' })])
		: await ask('ordinary');

let served = 0;
let isOver = false;
async function askOthers(): Promise<void> {
	while (!isOver) {
		const { choices } = await askOrdinary();
		if (choices[0]!.message.content === 'Hi') served += 1;
	}
}

async function main(): Promise<void> {
	const others = [askOthers(), askOthers()];
	const ended = await Promise.allSettled(LARGE.map(async (read) => await read()));
	isOver = true;
	await Promise.all(others);
	const outcomes = ended.map((each) => {
		if (each.status === 'fulfilled') return 'read';
		const { message, kind, details } = each.reason as ServiceError;
		return [message, kind, details.status];
	});
	process.stdout.write(JSON.stringify({ outcomes, served: served > 1 }));
}

void main();
