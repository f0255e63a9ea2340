import { errorBody, startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeAll(async () => {
	service = await startService();
});
afterAll(() => service.stop());

const CHAT = '/v1/chat/completions';
const CREATE = '/v1/videos/generations';
const QUERY = '/v1/videos/tasks';
const PATHS = [CHAT, CREATE, QUERY];
const HI = { messages: [user('Hi')] };
const CAT = { prompt: 'A cat', model: 'video-m1' };

async function send(path: string, init: RequestInit) {
	const response = await fetch(service.url + path, {
		...init,
		headers: {
			authorization: 'Bearer demo-key',
			'content-type': 'application/json',
			...(init.headers as Record<string, string>),
		},
	});
	return {
		status: response.status,
		headers: response.headers,
		body: (await response.json()) as Json,
	};
}

describe('4 endpoints', () => {
	it.each(PATHS)('4 %s accepts POST only', async (path) => {
		for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
			const { status, headers, body } = await send(path, { method });
			expect([status, headers.get('allow'), body]).toEqual([
				405,
				'POST',
				errorBody(`${path} accepts POST only`),
			]);
		}
	});

	it.each(PATHS)('4 %s accepts application/json only', async (path) => {
		const headers = { 'content-type': 'text/plain' };
		const { status, body } = await send(path, { method: 'POST', body: '{}', headers });
		expect([status, body]).toEqual([
			415,
			errorBody('Send the body with Content-Type: application/json.'),
		]);
	});

	it('4 the application can be appended to the key', async () => {
		expect((await service.chat(HI, 'demo-key-demo-app')).body).toHaveProperty('knowledge_base');
		expect((await service.chat(HI, 'demo-key-nothing')).status).toBe(402);
		expect((await service.chat(HI, 'demo-key-private-app')).status).toBe(403);
		expect((await service.chat(HI, 'demo-key-no-credit-demo-app')).status).toBe(406);
		// `app_code` in the body takes precedence over the key.
		const both = await service.chat({ ...HI, app_code: 'demo-assistant' }, 'demo-key-demo-app');
		expect(both.body).toHaveProperty('session_id');
	});
});

describe('5 authentication', () => {
	it.each(PATHS)('5 %s responds with 401 without a valid key', async (path) => {
		const missing = 'Authentication failed: send the header Authorization: Bearer <API_KEY>.';
		const wrong = 'Authentication failed: the API key is wrong.';
		const without = await fetch(service.url + path, { method: 'POST' });
		expect([without.status, await without.json()]).toEqual([
			401,
			errorBody(missing, 'authentication_error'),
		]);
		for (const authorization of [
			'Bearer nobody',
			'Bearer demo-keys',
			'demo-key',
			'Basic demo-key',
			'Bearer demo-key-',
		]) {
			const { status, body } = await send(path, {
				method: 'POST',
				body: '{',
				headers: { authorization },
			});
			expect([authorization, status, body]).toEqual([
				authorization,
				401,
				errorBody(wrong, 'authentication_error'),
			]);
		}
	});

	it('5 responds with 406 to insufficient credit, except for task queries', async () => {
		const key = 'demo-key-no-credit';
		const expected = [
			406,
			errorBody('The account credit is insufficient.', 'insufficient_credit_error'),
		];
		const chat = await service.chat(HI, key);
		const video = await service.createVideo(CAT, key);
		expect([chat.status, chat.body]).toEqual(expected);
		expect([video.status, video.body]).toEqual(expected);
		expect((await service.queryTask('none', key)).status).toBe(400);
	});
});

describe('7.1 chat errors', () => {
	const ask = (content: string, more: Json = {}) =>
		service.chat({ messages: [user(content)], ...more });
	const moderated = (what: string) =>
		errorBody(
			`Content moderation failed: ${what} sensitive words.`,
			'content_moderation_error',
		);

	it.each<[number, string, Json, Json]>([
		[
			402,
			'Hi',
			{ app_code: 'nothing' },
			errorBody('The application nothing does not exist.', 'not_found_error'),
		],
		[
			403,
			'Hi',
			{ app_code: 'private-app' },
			errorBody(
				'No access: only its creator can call an unpublished application.',
				'permission_error',
			),
		],
		[409, 'Say Forbidden-Word', {}, moderated('the question contains')],
		[409, 'Say forbidden-answer', {}, moderated('the answer contains')],
		[
			409,
			'Look at forbidden-knowledge',
			{ app_code: 'demo-app' },
			moderated('the retrieved knowledge contains'),
		],
		[
			503,
			'broken-service',
			{},
			errorBody('Interface call abnormal. Please retry later.', 'service_error'),
		],
	])('7.1 %i: %s %j', async (status, content, more, body) => {
		const answer = await ask(content, more);
		expect([answer.status, answer.body]).toEqual([status, body]);
	});

	it('7.1 responds with 429 and Retry-After, then accepts calls for a minute', async () => {
		const app_code = 'busy-app';
		const first = await ask('Hi', { app_code });
		expect([first.status, first.headers.get('retry-after'), first.body]).toEqual([
			429,
			'1',
			errorBody(
				'The call-frequency limit of the application is exceeded. Retry later.',
				'rate_limit_error',
			),
		]);
		await service.clock.advance(999);
		expect((await ask('Hi', { app_code })).status).toBe(429);
		await service.clock.advance(1);
		expect((await ask('Hi', { app_code })).status).toBe(200);
		await service.clock.advance(59_000);
		expect((await ask('Hi', { app_code })).status).toBe(200);
		await service.clock.advance(1_000);
		expect((await ask('Hi', { app_code })).status).toBe(429);
	});
});

describe('7.2 video errors', () => {
	it.each<[number, Json, string, string]>([
		[400, { prompt: '' }, 'prompt must not be empty', 'invalid_request_error'],
		[
			400,
			{ images: ['https://x.invalid/a.png'] },
			'images[0] cannot be reached: x.invalid',
			'invalid_request_error',
		],
		[
			402,
			{ model: 'no-such-model' },
			'The video model no-such-model does not exist, or the account may not use it.',
			'not_found_error',
		],
		[
			409,
			{ prompt: 'A forbidden-word' },
			'Content moderation failed: the prompt contains sensitive words.',
			'content_moderation_error',
		],
		[
			409,
			{ images: ['https://example.com/forbidden-word.png'] },
			'Content moderation failed: a reference resource contains sensitive words.',
			'content_moderation_error',
		],
		[
			503,
			{ prompt: 'broken-service' },
			'Interface call abnormal. Please retry later.',
			'service_error',
		],
	])('7.2 %i %j', async (status, more, message, type) => {
		const { status: given, body } = await service.createVideo({ ...CAT, ...more });
		expect([given, body]).toEqual([status, errorBody(message, type)]);
	});
});
