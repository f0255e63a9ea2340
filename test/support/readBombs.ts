/**
 * A program that reads streams at once whose short compressed bytes are millions of values, and beside them an ordinary one.
 * Prints as JSON what becomes of each. Run it with a small heap.
 */
import { askAssistant } from '../../nodes/client/chat/sendChat';
import type { HttpPort } from '../../nodes/client/ports';

const WIDE = 100_000;
const EVENTS = 100;
const zeros = Array.from({ length: WIDE }, () => 0);
/** Objects count twice: themselves, and what they have. */
const fewer = zeros.slice(0, 40_000);
const fields = () => Object.fromEntries(zeros.map((zero, at) => [`k${at}`, zero]));

const tools = (type: string, data: unknown) => ({ extension: { type, data } });
const says = (delta: object, finish_reason: string | null = null) => ({
	choices: [{ index: 0, delta, finish_reason }],
});

/** The chunks of each stream, by what they fill. */
const STREAMS: Readonly<Record<string, (at: number) => object>> = {
	'tool progress': () =>
		tools('tool_calls', { tool_calls: [{ name: 'f', arguments: fields() }] }),
	'tools of another type': () => tools('chart', zeros),
	'a list of a message': () => says({ reasoning_details: zeros }),
	'fields of a message': (at) => says({ [`field${at}`]: fields() }),
	'fields of a body': (at) => ({ [`field${at}`]: zeros, model: 'm' }),
	'parts of the content': () => says({ content: fewer.map(() => ({})) }),
	'tool calls': (at) =>
		says({ tool_calls: fewer.map((_zero, index) => ({ index: at * WIDE + index })) }),
	choices: (at) => ({ choices: fewer.map((_zero, index) => ({ index: at * WIDE + index })) }),
};

const portOf =
	(chunks: Iterable<object>): HttpPort =>
	async () =>
		await Promise.resolve({
			status: 200,
			headers: { 'content-type': 'text/event-stream' },
			body: (async function* () {
				for (const chunk of chunks) {
					await new Promise(setImmediate);
					yield Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
				}
			})(),
		});

async function outcome(chunks: Iterable<object>): Promise<string> {
	const request = { messages: [{ role: 'user', content: 'Hi' } as const] };
	const options = { stream: true, idleTimeoutMs: 60_000 };
	return await askAssistant(portOf(chunks), request, options, Date).then(
		({ choices }) => choices[0]!.message.content ?? '',
		(error: unknown) => (error as Error).message,
	);
}

function* repeated(chunk: (at: number) => object): Generator<object> {
	for (let at = 0; at < EVENTS; at++) yield chunk(at);
	yield says({ content: 'all' }, 'stop');
}

void (async () => {
	const read = Object.entries(STREAMS).map(
		async ([name, chunk]) => [name, await outcome(repeated(chunk))] as const,
	);
	const ordinary = await outcome([says({ content: 'Hi' }), says({}, 'stop')]);
	const all = { ordinary, ...Object.fromEntries(await Promise.all(read)) };
	process.stdout.write(JSON.stringify(all));
})();
