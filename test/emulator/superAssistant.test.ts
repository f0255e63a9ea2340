import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeEach(async () => {
	service = await startService();
});
afterEach(() => service.stop());

const ask = (content: string, more: Json = {}) =>
	service.chat({ messages: [user(content)], app_code: 'demo-assistant', ...more });

describe('2.7 super assistant', () => {
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

	it('2.7 supports response_format json_object', async () => {
		const response_format = { type: 'json_object' };
		const { body } = await ask('What is 2 + 3? Answer in JSON.', { response_format });
		expect(JSON.parse(body.choices[0]!.message.content!)).toEqual({
			topic: '2 + 3',
			answer: '2 + 3 = 5.',
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
