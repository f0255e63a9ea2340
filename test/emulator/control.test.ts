import { createClock } from '../../emulator/clock';
import { startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeEach(async () => {
	service = await startService();
});
afterEach(() => service.stop());

async function control(method: string, path: string, body?: unknown, url = service.url) {
	const response = await fetch(`${url}/__emulator/${path}`, {
		method,
		...(body !== undefined && {
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
		}),
	});
	return { status: response.status, body: await response.json() };
}

describe('control API', () => {
	it('returns the journal, without keys, and clears it', async () => {
		await service.queryTask('a', 'demo-key-demo-app');
		await service.queryTask('b', 'a-secret');
		await fetch(`${service.url}/nothing?key=x`);
		const { body } = await control('GET', 'journal');

		expect(body).toEqual([
			{
				time: Date.UTC(2026, 0, 1),
				method: 'POST',
				path: '/v1/videos/tasks',
				identity: 'demo',
				authorized: true,
				body: { task_id: 'a' },
				status: 400,
			},
			{
				time: Date.UTC(2026, 0, 1),
				method: 'POST',
				path: '/v1/videos/tasks',
				identity: 'unknown',
				authorized: true,
				status: 401,
			},
			{
				time: Date.UTC(2026, 0, 1),
				method: 'GET',
				path: '/nothing',
				identity: 'none',
				authorized: false,
				status: 404,
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
		expect((await service.chat({ messages: [user('Hi')] })).status).toBe(503);
		expect((await control('GET', 'faults')).body).toEqual(more);
		expect((await control('DELETE', 'faults')).body).toEqual([]);
	});

	it.each<[unknown, string]>([
		[{}, '[0].kind is required'],
		[{ kind: 'explode' }, '[0].kind is missing or unknown'],
		[{ kind: 'delay' }, '[0].ms is required'],
		[{ kind: 'delay', ms: 'x' }, '[0].ms must be of type integer'],
		[[{ kind: 'reset' }, { kind: 'reset', speed: 1 }], '[1].speed is unknown'],
		[5, '[0] must be of type object'],
	])('rejects the fault %j', async (fault, message) => {
		const { status, body } = await control('POST', 'faults', fault);
		expect([status, body]).toEqual([
			400,
			{ error: { message, type: 'invalid_request_error' } },
		]);
	});

	it('advances a virtual clock', async () => {
		const { body } = await service.createVideo({ prompt: 'A cat', model: 'video-m1' });
		const start = ((await control('GET', 'clock')).body as Json)['nowMs'] as number;
		expect((await control('POST', 'clock', { advanceMs: 30_000 })).body).toEqual({
			nowMs: start + 30_000,
		});
		expect((await service.queryTask(body['task_id'])).body['status']).toBe('completed');
		expect((await control('POST', 'clock', { advanceMs: -1 })).status).toBe(400);
		// No date is that far.
		expect((await control('POST', 'clock', { advanceMs: 1e300 })).status).toBe(400);
	});
});

describe('clock', () => {
	it('advances by all that is asked at the same time, and never goes back', async () => {
		const clock = createClock('virtual');
		const start = clock.now();
		const woken: number[] = [];
		for (const ms of [10, 20, 30, 40])
			void clock.sleep(ms).then(() => woken.push(clock.now() - start));
		await Promise.all([clock.advance(30), clock.advance(5), clock.advance(25)]);
		expect([woken, clock.now() - start]).toEqual([[10, 20, 30, 40], 60]);
	});
});
