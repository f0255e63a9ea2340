import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeEach(async () => {
	service = await startService();
});
afterEach(() => service.stop());

const ask = (content: string, more: Json = {}) =>
	service.chat({ messages: [user(content)], app_code: 'demo-assistant', ...more });

describe('2.7 super assistant', () => {
	it('2.7 keeps the context of a session', async () => {
		const first = (await ask('My name is Ada.')).body;
		const { session_id } = first;
		const second = (await ask('What is my name?', { session_id })).body;
		const stranger = (await ask('What is my name?')).body;

		expect(session_id).toMatch(/^session-\w+$/);
		expect(second.session_id).toBe(session_id);
		expect(second.choices[0]!.message.content).toBe('Your name is Ada.');
		expect(stranger.session_id).not.toBe(session_id);
		expect(stranger.choices[0]!.message.content).toBe('You have not told me that yet.');
	});

	it('2.7 a new session_id starts a session; other applications ignore session_id', async () => {
		await ask('Remember that the key is under the mat.', { session_id: 'mine' });
		const { body } = await ask('What should you remember?', { session_id: 'mine' });
		const other = await service.chat({
			messages: [user('What should you remember?')],
			app_code: 'demo-app',
			session_id: 'mine',
		});

		expect(body.choices[0]!.message.content).toBe(
			'You asked me to remember: the key is under the mat.',
		);
		expect(other.body).not.toHaveProperty('session_id');
		expect(other.body.choices[0]!.message.content).toBe('You have not told me that yet.');
	});

	it('2.7 uses the last user message only', async () => {
		const { body } = await service.chat({
			messages: [
				user('My name is Bob.'),
				{ role: 'assistant', content: 'Hi' },
				user('What is my name?'),
			],
			app_code: 'demo-assistant',
		});
		expect(body.choices[0]!.message.content).toBe('You have not told me that yet.');
		const none = await service.chat({
			messages: [{ role: 'system', content: 'Hi' }],
			app_code: 'demo-assistant',
		});
		expect(none.body).toMatchObject({
			error: { message: 'messages must contain a user message' },
		});
	});

	it('2.4 returns completed tools in tool_calls and tool_results, with finish_reason stop', async () => {
		const { body } = await ask('Search the web for tea, and what is 2 + 3?');
		const { message, finish_reason } = body.choices[0]!;
		const [sum, search] = message.tool_calls!;

		expect(finish_reason).toBe('stop');
		expect(body.model).toBe('chat-m1');
		expect([sum!.function, search!.function.name]).toEqual([
			{ name: 'calculator', arguments: '{"expression":"2 + 3"}' },
			'web_search',
		]);
		expect(message.tool_results).toEqual([
			{ tool_call_id: sum!.id, content: '2 + 3 = 5' },
			{
				tool_call_id: search!.id,
				content: expect.stringMatching(/^3 pages about tea/) as string,
			},
		]);
		expect(message.content).toMatch(/^2 \+ 3 = 5\.\n\nI searched for tea/);
	});

	it('2.7 supports response_format json_object', async () => {
		const response_format = { type: 'json_object' };
		const { body } = await ask('What is 2 + 3? Answer in JSON.', { response_format });
		expect(JSON.parse(body.choices[0]!.message.content!)).toEqual({
			topic: '2 + 3',
			answer: '2 + 3 = 5.',
		});
	});

	it('2.7 streams the progress of its tools in extension', async () => {
		const chunks = await service.chunks<Json & { extension?: Json; model: string }>({
			messages: [user('What is 2 + 3?')],
			app_code: 'demo-assistant',
		});
		expect(chunks.flatMap(({ extension }) => extension ?? [])).toEqual([
			{
				type: 'tool_start',
				data: { tool: 'calculator', arguments: { expression: '2 + 3' } },
			},
			{
				type: 'tool_calls',
				data: {
					tool_calls: [
						{
							name: 'calculator',
							arguments: { expression: '2 + 3' },
							result: '2 + 3 = 5',
							status: 'success',
							elapsed: '0.0s',
						},
					],
				},
			},
		]);
		for (const chunk of chunks) {
			expect(chunk).toMatchObject({
				choices: [{ delta: expect.any(Object) as object }],
				model: 'chat-m1',
				session_id: expect.stringMatching(/^session-/) as string,
			});
		}
	});

	it('2.7 sends no choices in extension chunks with the minimal setting', async () => {
		const minimal = await startService({ minimal: true });
		const chunks = await minimal.chunks({
			messages: [user('What is 2 + 3?')],
			app_code: 'demo-assistant',
		});
		await minimal.stop();
		expect(Object.keys(chunks[0]!).sort()).toEqual(['extension', 'model', 'session_id']);
		expect(chunks.at(-1)).toEqual({
			model: 'chat-m1',
			session_id: expect.any(String) as string,
			choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
		});
	});

	/** Advances the clock, and returns whether the response has arrived. */
	async function settledAfter(answer: Promise<unknown>, ms: number): Promise<boolean> {
		let isSettled = false;
		void answer.then(() => (isSettled = true));
		await service.clock.advance(ms);
		// One more round trip, so that a response already sent arrives first.
		await service.say('Hello');
		return isSettled;
	}

	async function asked(content: string) {
		const answer = ask(content);
		while (service.journal.of('/v1/chat/completions').length === 0)
			await service.queryTask('none');
		return answer;
	}

	it('2.7 a long call takes as long as its skill', async () => {
		const answer = asked('Take your time, slow-120');
		await service.queryTask('none');
		expect(await settledAfter(answer, 119_000)).toBe(false);
		expect(await settledAfter(answer, 1_000)).toBe(true);
		expect((await answer).body.choices[0]!.message.content).toBe(
			'The research took 120 seconds and is finished.',
		);
	});

	it('2.7 a single call ends after 600 seconds', async () => {
		const answer = asked('Take your time, slow-900');
		await service.queryTask('none');
		expect(await settledAfter(answer, 599_000)).toBe(false);
		expect(await settledAfter(answer, 1_000)).toBe(true);
		expect((await answer).body.choices[0]!.message.content).toBe(
			'Stopped: the call reached its limit of 600 seconds.',
		);
	});
});
