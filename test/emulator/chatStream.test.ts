import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
let minimal: TestService;
beforeAll(async () => {
	[service, minimal] = await Promise.all([startService(), startService({ minimal: true })]);
});
afterAll(() => Promise.all([service.stop(), minimal.stop()]));

interface Chunk {
	readonly choices: readonly {
		readonly delta: Json & { readonly content?: string; readonly reasoning_content?: string };
		readonly finish_reason: string | null;
		readonly usage?: Json;
	}[];
	readonly usage?: Json;
}

const SUM = { messages: [user('What is 2 + 2?')], model: 'chat-m2' };

describe('2.5 streamed chat response', () => {
	it('2.5 is an event stream that ends with [DONE]', async () => {
		const response = await fetch(`${service.url}/v1/chat/completions`, {
			method: 'POST',
			headers: { 'content-type': 'application/json', authorization: 'Bearer demo-key' },
			body: JSON.stringify({ ...SUM, stream: true }),
		});
		expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
		expect(await response.text()).toMatch(/^(data: \{.*\}\n\n)+data: \[DONE\]\n\n$/);
	});

	it('2.5 sends role, then content word by word, then an empty delta with stop', async () => {
		const chunks = await service.chunks<Chunk>(SUM);
		expect(chunks.map(({ choices }) => [choices[0]!.delta, choices[0]!.finish_reason])).toEqual(
			[
				[{ role: 'assistant', content: '' }, null],
				[{ content: '2 ' }, null],
				[{ content: '+ ' }, null],
				[{ content: '2 ' }, null],
				[{ content: '= ' }, null],
				[{ content: '4' }, null],
				[{}, 'stop'],
			],
		);
		expect(chunks[0]).toEqual({
			id: expect.stringMatching(/^chatcmpl-/) as string,
			object: 'chat.completion.chunk',
			created: Date.UTC(2026, 0, 1) / 1000,
			model: 'chat-m2',
			session_id: null,
			trace_id: expect.stringMatching(/^trace-/) as string,
			choices: [
				{
					index: 0,
					delta: { role: 'assistant', content: '' },
					logprobs: null,
					finish_reason: null,
				},
			],
		});
	});

	it('2.5 sends no usage without include_usage', async () => {
		for (const stream_options of [undefined, {}, { include_usage: false }]) {
			const last = (await service.chunks<Chunk>({ ...SUM, stream_options })).at(-1)!;
			expect(last.usage ?? last.choices[0]!.usage).toBeUndefined();
		}
	});

	it('2.5 sends the reasoning before the answer', async () => {
		const chunks = await service.chunks<Chunk>({ ...SUM, model: 'chat-m1' });
		const deltas = chunks.map(({ choices }) => choices[0]!.delta);
		const join = (field: 'content' | 'reasoning_content') =>
			deltas.map((delta) => delta[field] ?? '').join('');
		const lastThought = deltas.findLastIndex((delta) => delta.reasoning_content);
		const firstWord = deltas.findIndex((delta) => delta.content);

		expect(join('reasoning_content')).toMatch(/^The user wants something about "2 \+ 2"\. /);
		expect(join('content')).toBe('2 + 2 = 4');
		expect(lastThought).toBeLessThan(firstWord);
	});

	it('2.5 streams tool calls by index, with the arguments in pieces', async () => {
		const parameters = { type: 'object', properties: { city: { type: 'string' } } };
		const chunks = await service.chunks<Chunk>({
			messages: [user('Weather in New York and Rome')],
			tools: [{ type: 'function', function: { name: 'get_weather', parameters } }],
		});
		const deltas = chunks.flatMap(
			({ choices }) => (choices[0]!.delta['tool_calls'] as Json[] | undefined) ?? [],
		);

		expect(deltas).toEqual([
			{
				index: 0,
				id: expect.stringMatching(/^call_/) as string,
				type: 'function',
				function: { name: 'get_weather', arguments: '' },
			},
			{ index: 0, function: { arguments: '{"city":"New ' } },
			{ index: 0, function: { arguments: 'York"}' } },
			expect.objectContaining({ index: 1, function: { name: 'get_weather', arguments: '' } }),
			{ index: 1, function: { arguments: '{"city":"Rome"}' } },
		]);
		expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('tool_calls');
	});
});
