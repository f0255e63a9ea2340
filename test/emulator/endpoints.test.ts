/** What holds for every endpoint: methods, keys, hosts and origins; the errors of the service; and the control API. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { ACCOUNTS } from '../../emulator/accounts';
import { FAULTS_SCHEMA } from '../../emulator/addControlRoutes';
import { addHostCheck } from '../../emulator/addHostCheck';
import { APPS } from '../../emulator/chat/apps';
import { EMULATED_CHAT_MODELS } from '../../emulator/chat/models';
import { createClock } from '../../emulator/clock';
import { TRIGGERS } from '../../emulator/triggers';
import {
	errorBody,
	othersForEach,
	sendRaw,
	serviceFor,
	user,
	type Json,
	type TestService,
} from './support/service';

const service = serviceFor('all');
const startOther = othersForEach();

const CHAT = '/v1/chat/completions';
const PATHS = [CHAT, '/v1/videos/generations', '/v1/videos/tasks'];
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
	const { status, headers } = response;
	return { status, headers, body: (await response.json()) as Json };
}

describe('4 endpoints', () => {
	it.each(PATHS)('4 %s accepts POST only', async (path) => {
		for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
			const { status, headers, body } = await send(path, { method });
			expect([status, headers.get('allow'), body]).toEqual([
				...[405, 'POST', errorBody(`${path} accepts POST only`)],
			]);
		}
	});

	it.each(PATHS)('4 %s accepts application/json only', async (path) => {
		const headers = { 'content-type': 'text/plain' };
		const { status, body } = await send(path, { method: 'POST', body: '{}', headers });
		const message = 'Send the body with Content-Type: application/json.';
		expect([status, body]).toEqual([415, errorBody(message)]);
	});

	test('compressed bodies get 415, and messages beyond the context 413', async () => {
		const { status } = await send(CHAT, {
			method: 'POST',
			headers: { 'content-encoding': 'gzip' },
			body: gzipSync(JSON.stringify(HI)),
		});
		expect(status).toBe(415);
		for (const [words, status] of [
			[1_000_001, 413],
			[10_000, 200],
		] as const) {
			const long = await service.chat({ messages: [user('a '.repeat(words))] });
			expect(long.status).toBe(status);
		}
	});

	it('4 the application can be appended to the key', async () => {
		expect((await service.chat(HI, 'demo-key-demo-app')).body).toHaveProperty('knowledge_base');
		expect((await service.chat(HI, 'demo-key-nothing')).status).toBe(402);
		expect((await service.chat(HI, 'demo-key-no-credit-demo-app')).status).toBe(406);
		// `app_code` in the body takes precedence over the key.
		const both = await service.chat({ ...HI, app_code: 'demo-assistant' }, 'demo-key-demo-app');
		expect(both.body).toHaveProperty('session_id');
		// Videos have no application.
		const { body } = await service.createVideo(CAT, 'demo-key-demo-app');
		expect((await service.queryTask(body['task_id'], 'demo-key')).status).toBe(200);
	});
});

describe('5 authentication', () => {
	it.each(PATHS)('5 %s responds with 401 without a valid key', async (path) => {
		const missing = 'Authentication failed: send the header Authorization: Bearer <API_KEY>.';
		const wrong = 'Authentication failed: the API key is wrong.';
		const type = 'authentication_error';
		const without = await fetch(service.url + path, { method: 'POST' });
		expect([without.status, await without.json()]).toEqual([401, errorBody(missing, type)]);
		for (const authorization of [
			...['Bearer nobody', 'Bearer demo-keys', 'demo-key', 'Basic demo-key'],
			'Bearer demo-key-',
		]) {
			const headers = { authorization };
			const { status, body } = await send(path, { method: 'POST', body: '{', headers });
			expect([authorization, status, body]).toEqual([
				...[authorization, 401, errorBody(wrong, type)],
			]);
		}
	});

	it('5 responds with 406 to insufficient credit, except for task queries', async () => {
		const key = 'demo-key-no-credit';
		const message = 'The account credit is insufficient.';
		const expected = [406, errorBody(message, 'insufficient_credit_error')];
		for (const answer of [await service.chat(HI, key), await service.createVideo(CAT, key)])
			expect([answer.status, answer.body]).toEqual(expected);
		expect((await service.queryTask('none', key)).status).toBe(400);
	});

	it('responds with 403 to any other key, by app_code and by the end of the key', async () => {
		const byCode = await service.chat({ ...HI, app_code: 'private-app' });
		const byKey = await service.chat(HI, 'demo-key-private-app');
		expect([byCode.status, byKey.status]).toEqual([403, 403]);
	});
});

describe('7 errors', () => {
	const MODERATED = 'content_moderation_error';
	const ABNORMAL = 'Interface call abnormal. Please retry later.';

	it.each<[number, string, Json, string, string]>([
		[402, 'Hi', { app_code: 'x' }, 'The application x does not exist.', 'not_found_error'],
		[
			...([403, 'Hi', { app_code: 'private-app' }] as const),
			'No access: only its creator can call an unpublished application.',
			'permission_error',
		],
		[409, 'Say forbidden-answer', {}, 'the answer contains', MODERATED],
		[
			...([409, 'Look at forbidden-knowledge', { app_code: 'demo-app' }] as const),
			'the retrieved knowledge contains',
			MODERATED,
		],
		[503, 'broken-service', {}, ABNORMAL, 'service_error'],
	])('7.1 %i: %s %j', async (status, content, more, message, type) => {
		const answer = await service.chat({ messages: [user(content)], ...more });
		const whole = `Content moderation failed: ${message} sensitive words.`;
		const expected = errorBody(type === MODERATED ? whole : message, type);
		expect([answer.status, answer.body]).toEqual([status, expected]);
	});

	it('7.1 responds with 429 and Retry-After, then accepts calls for a minute', async () => {
		const asked = async () => await service.chat({ ...HI, app_code: 'busy-app' });
		const first = await asked();
		const message = 'The call-frequency limit of the application is exceeded. Retry later.';
		expect([first.status, first.headers.get('retry-after'), first.body]).toEqual([
			...[429, '1', errorBody(message, 'rate_limit_error')],
		]);
		for (const [ms, status] of [
			[999, 429],
			[1, 200],
			[59_000, 200],
			[1_000, 429],
		] as const) {
			await service.clock.advance(ms);
			expect((await asked()).status).toBe(status);
		}
	});

	it.each<[number, Json, string, string]>([
		[
			...([402, { model: 'no-such-model' }] as const),
			'The video model no-such-model does not exist, or the account may not use it.',
			'not_found_error',
		],
		[
			...([409, { prompt: 'A forbidden-word' }] as const),
			'Content moderation failed: the prompt contains sensitive words.',
			MODERATED,
		],
		[
			...([409, { images: ['https://example.com/forbidden-word.png'] }] as const),
			'Content moderation failed: a reference resource contains sensitive words.',
			MODERATED,
		],
		[503, { prompt: 'broken-service' }, ABNORMAL, 'service_error'],
	])('7.2 %i %j', async (status, more, message, type) => {
		const { status: given, body } = await service.createVideo({ ...CAT, ...more });
		expect([given, body]).toEqual([status, errorBody(message, type)]);
	});
});

/** Asks an emulator on a loopback address with a Host header of its own, as a browser does that was given a rebound name. */
const askAs = async (host: string, { port }: TestService, path = '/__emulator/journal') =>
	await sendRaw(`http://127.0.0.1:${port}${path}`, {
		headers: { host: host.replace('PORT', String(port)) },
	});

describe('the Host header', () => {
	it.each([
		'attacker.example:PORT',
		'127.0.0.1.attacker.example:PORT',
		'localhost.attacker.example:PORT',
		'10.0.0.7:PORT',
	])('%j is rejected on every path, and leaves no journal entry', async (host) => {
		service.journal.clear();
		for (const path of ['/__emulator/journal', '/__emulator/clock', '/cdn/x.mp4', '/v1/x']) {
			const { status, text } = await askAs(host, service, path);
			expect({ path, status }).toStrictEqual({ path, status: 421 });
			expect(text).toContain('--allow-host');
		}
		expect(service.journal.entries).toStrictEqual([]);
	});

	it.each(['localhost:PORT', 'emulator.localhost:PORT', '127.0.0.1', '[::1]:PORT'])(
		'%j is this machine',
		async (host) => {
			expect(await askAs(host, service)).toMatchObject({ status: 200 });
		},
	);

	it('may be a name that is allowed', async () => {
		const other = await startOther({ allowedHosts: ['host.docker.internal'] });
		for (const host of ['host.docker.internal:PORT', 'Host.Docker.Internal'])
			expect(await askAs(host, other)).toMatchObject({ status: 200 });
		expect(await askAs('attacker.example:PORT', other)).toMatchObject({ status: 421 });
	});

	it('may be the address of the connection', async () => {
		let check!: (request: object) => Promise<void>;
		// No server: the tests listen on loopback addresses alone, which are accepted in any case.
		addHostCheck({ addHook: (_at: string, hook: typeof check) => (check = hook) } as never, []);
		const ask = async (host: string, localAddress: string) => {
			await check({ headers: { host }, socket: { localAddress } });
		};
		await ask('10.0.0.7:80', '::ffff:10.0.0.7');
		await ask('[fd00::7]:80', 'fd00::7');
		await expect(ask('10.0.0.8:80', '10.0.0.7')).rejects.toThrow('Unknown host "10.0.0.8"');
	});
});

test('web pages of the allowed origins may use the emulator, and no others', async () => {
	const page = 'https://app.example.com';
	const open = await startOther({ cors: [page] });
	const preflight = async ({ url }: TestService, origin: string) => {
		const { status, headers } = await fetch(url + CHAT, {
			method: 'OPTIONS',
			headers: {
				origin,
				'access-control-request-method': 'POST',
				'access-control-request-headers': 'authorization',
			},
		});
		const allowed = ['origin', 'headers'].map((each) => `access-control-allow-${each}`);
		return [status, ...allowed.map((each) => headers.get(each))];
	};
	expect(await preflight(open, page)).toEqual([204, page, 'authorization']);
	expect(await preflight(open, 'https://other.example.com')).toEqual([405, null, null]);
	expect(await preflight(service, page)).toEqual([405, null, null]);

	const answer = await fetch(open.url + CHAT, { headers: { origin: page } });
	expect(answer.headers.get('access-control-allow-origin')).toBe(page);
});

describe('control API', () => {
	const service = serviceFor('each');

	const control = async (method: string, path: string, body?: unknown) => {
		const response = await fetch(`${service.url}/__emulator/${path}`, {
			method,
			...(body !== undefined && {
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify(body),
			}),
		});
		return { status: response.status, body: await response.json() };
	};

	it('returns the journal, without keys, and clears it', async () => {
		await service.queryTask('a', 'demo-key-demo-app');
		await service.queryTask('b', 'a-secret');
		await fetch(`${service.url}/nothing?key=x`);
		const { body } = await control('GET', 'journal');
		const time = Date.UTC(2026, 0, 1);
		const query = { time, method: 'POST', path: '/v1/videos/tasks', authorized: true };

		expect(body).toEqual([
			{ ...query, identity: 'demo', body: { task_id: 'a' }, status: 400 },
			{ ...query, identity: 'unknown', status: 401 },
			{
				...{ time, method: 'GET', path: '/nothing' },
				...{ identity: 'none', authorized: false, status: 404 },
			},
		]);
		expect(JSON.stringify(body)).not.toMatch(/demo-key|secret/);
		expect((await control('DELETE', 'journal')).body).toEqual([]);
		expect(service.journal.entries).toEqual([]);
	});

	it('adds one or several faults, lists them and removes them', async () => {
		const one = { kind: 'status', status: 503, path: '/v1/chat' };
		expect((await control('POST', 'faults', one)).body).toEqual([one]);
		const more = [{ kind: 'reset' }, { kind: 'cut', afterEvents: 2, count: 3 }];
		expect((await control('POST', 'faults', more)).body).toEqual([one, ...more]);
		expect((await service.chat(HI)).status).toBe(503);
		expect((await control('GET', 'faults')).body).toEqual(more);
		expect((await control('DELETE', 'faults')).body).toEqual([]);
	});

	it.each<[unknown, string]>([
		[{}, '[0].kind is required'],
		[{ kind: 'explode' }, '[0].kind is missing or unknown'],
		[{ kind: 'delay', ms: 'x' }, '[0].ms must be of type integer'],
		[[{ kind: 'reset' }, { kind: 'reset', speed: 1 }], '[1].speed is unknown'],
		[5, '[0] must be of type object'],
	])('rejects the fault %j', async (fault, message) => {
		const { status, body } = await control('POST', 'faults', fault);
		expect([status, body]).toEqual([400, errorBody(message)]);
	});

	it('advances a virtual clock', async () => {
		const { body } = await service.createVideo(CAT);
		const start = ((await control('GET', 'clock')).body as Json)['nowMs'] as number;
		const advanced = await control('POST', 'clock', { advanceMs: 30_000 });
		expect(advanced.body).toEqual({ nowMs: start + 30_000 });
		expect((await service.queryTask(body['task_id'])).body['status']).toBe('completed');
		// No date is as far as the last one.
		for (const advanceMs of [-1, 1e300])
			expect((await control('POST', 'clock', { advanceMs })).status).toBe(400);
	});
});

test('the clock advances by all that is asked at the same time, and never goes back', async () => {
	const clock = createClock('virtual');
	const start = clock.now();
	const woken: number[] = [];
	for (const ms of [10, 20, 30, 40])
		void clock.sleep(ms).then(() => woken.push(clock.now() - start));
	await Promise.all([clock.advance(30), clock.advance(5), clock.advance(25)]);
	expect([woken, clock.now() - start]).toEqual([[10, 20, 30, 40], 60]);
});

test('emulator/README.md documents every key, application, model, trigger and fault', () => {
	const readme = readFileSync(join(__dirname, '..', '..', 'emulator', 'README.md'), 'utf8');
	const names = [
		...ACCOUNTS.map(({ key }) => key),
		...[...APPS, ...EMULATED_CHAT_MODELS].map(({ code }) => code),
		...Object.values(TRIGGERS),
		...FAULTS_SCHEMA.items.oneOf.map(({ properties }) => properties.kind.const),
	];
	expect(names.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
