import { request } from 'node:http';
import type { Fault } from '../../emulator/faults/fault';
import { refusal, startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeEach(async () => {
	service = await startService();
});
afterEach(() => service.stop());

const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer demo-key' };
const SUM = { messages: [user('What is 2 + 2?')], model: 'chat-m2' };

interface Raw {
	readonly status: number;
	readonly headers: Readonly<Record<string, unknown>>;
	/** The pieces of the body as they came in. */
	readonly pieces: readonly Buffer[];
	readonly text: string;
	/** How the connection broke, if it did. */
	readonly error?: string;
}

/** Sends a request and takes what comes, to the bitter end or for as long as `until` says. */
function raw(path: string, body: Json, until?: (text: string) => boolean): Promise<Raw> {
	return new Promise((resolve) => {
		const pieces: Buffer[] = [];
		let head = { status: 0, headers: {} };
		const finish = (error?: string) => {
			const text = Buffer.concat(pieces).toString();
			resolve({ ...head, pieces, text, ...(error !== undefined && { error }) });
		};
		const call = request(
			service.url + path,
			{ method: 'POST', headers: HEADERS },
			(response) => {
				head = { status: response.statusCode!, headers: response.headers };
				const stopIfSeen = () => {
					if (!until?.(Buffer.concat(pieces).toString())) return;
					finish('still open');
					call.destroy();
				};
				response.on('data', (piece: Buffer) => {
					pieces.push(piece);
					stopIfSeen();
				});
				response.on('end', () => {
					finish();
				});
				response.on('error', (error: NodeJS.ErrnoException) => {
					finish(error.code ?? error.message);
				});
				stopIfSeen();
			},
		);
		call.on('error', (error: NodeJS.ErrnoException) => {
			finish(error.code ?? error.message);
		});
		call.end(JSON.stringify(body));
	});
}

const ask = (until?: (text: string) => boolean) => raw('/v1/chat/completions', SUM, until);
const stream = (until?: (text: string) => boolean) =>
	raw('/v1/chat/completions', { ...SUM, stream: true }, until);
const events = ({ text }: Raw) => text.split('\n\n').filter(Boolean);
const WHOLE = 8;

describe('faults instead of an answer', () => {
	it("status: with our error body, a body of one's own, a text, and headers", async () => {
		service.faults.add(
			{ kind: 'status', status: 503 },
			{ kind: 'status', status: 418, body: { a: 1 }, headers: { 'x-mark': 'yes' } },
			{ kind: 'status', status: 500, body: 'Oh' },
			{ kind: 'status', status: 200, body: 'null' },
		);
		const answers = [await ask(), await ask(), await ask(), await ask()];
		expect(answers.map(({ status, text }) => [status, text])).toEqual([
			[503, JSON.stringify(refusal('Fault: 503', 'service_error'))],
			[418, '{"a":1}'],
			[500, 'Oh'],
			[200, 'null'],
		]);
		expect(answers[1]!.headers['x-mark']).toBe('yes');
		expect(answers[2]!.headers['content-type']).toBe('text/plain; charset=utf-8');
	});

	it('rateLimit: Retry-After in seconds or as a date', async () => {
		service.faults.add(
			{ kind: 'rateLimit', retryAfterSeconds: 3 },
			{ kind: 'rateLimit', retryAfterSeconds: 60, asDate: true },
		);
		const [first, second] = [await ask(), await ask()];
		expect([first.status, first.headers['retry-after']]).toEqual([429, '3']);
		expect(second.headers['retry-after']).toBe('Thu, 01 Jan 2026 00:01:00 GMT');
	});

	it('html: the error page of a gateway', async () => {
		service.faults.add({ kind: 'html' });
		const { status, headers, text } = await ask();
		expect([status, headers['content-type']]).toEqual([502, 'text/html; charset=utf-8']);
		expect(text).toMatch(/^<!DOCTYPE html>\n<html>/);
	});

	it('redirect', async () => {
		service.faults.add({ kind: 'redirect', location: 'http://127.0.0.1:9/x', status: 307 });
		const { status, headers } = await ask();
		expect([status, headers['location']]).toEqual([307, 'http://127.0.0.1:9/x']);
	});

	it('reset: the connection breaks before any header', async () => {
		service.faults.add({ kind: 'reset' });
		expect(await ask()).toMatchObject({ status: 0, error: 'ECONNRESET' });
		expect(service.journal.entries.at(-1)).toMatchObject({ fault: 'reset' });
		expect(service.journal.entries.at(-1)).not.toHaveProperty('status');
	});

	it('delay: answers as usual once the time is over', async () => {
		service.faults.add({ kind: 'delay', ms: 5_000 });
		let isAnswered = false;
		const answer = ask().then((result) => {
			isAnswered = true;
			return result;
		});
		while (service.faults.pending.length > 0) await service.say('Hello');
		await service.clock.advance(4_999);
		await service.say('Hello');
		expect(isAnswered).toBe(false);
		await service.clock.advance(1);
		expect((await answer).status).toBe(200);
	});

	it('stall: nothing ever comes, and stopping the emulator ends it', async () => {
		service.faults.add({ kind: 'stall' });
		const answer = ask();
		while (service.faults.pending.length > 0) await service.say('Hello');
		await service.stop();
		expect(await answer).toMatchObject({ status: 0, error: 'ECONNRESET' });
	});
});

describe('faults in the body', () => {
	it('cut: after so many events, or after so many bytes', async () => {
		service.faults.add(
			{ kind: 'cut', afterEvents: 3 },
			{ kind: 'cut', afterBytes: 10 },
			{ kind: 'cut' },
			{ kind: 'cut', afterBytes: 20 },
		);
		const [first, second, third, json] = [
			await stream(),
			await stream(),
			await stream(),
			await ask(),
		];
		expect([first, second, third, json].map(({ status, error }) => [status, error])).toEqual(
			Array(4).fill([200, 'ECONNRESET']),
		);
		expect(events(first)).toHaveLength(3);
		expect([second.text.length, third.text, json.text.length]).toEqual([10, '', 20]);
	});

	it('resetBody: the headers arrive, then the connection breaks', async () => {
		service.faults.add({ kind: 'resetBody' }, { kind: 'resetBody', afterEvents: 2 });
		expect(await stream()).toMatchObject({ status: 200, text: '', error: 'ECONNRESET' });
		expect(events(await stream())).toHaveLength(2);
	});

	it('stallBody: part of it, and then nothing more', async () => {
		service.faults.add({ kind: 'stallBody', afterEvents: 2 }, { kind: 'stallBody' });
		const part = await stream((text) => text.split('\n\n').length === 3);
		const none = await stream((text) => text === '');
		expect([part.error, events(part).length]).toEqual(['still open', 2]);
		expect([none.error, none.status]).toEqual(['still open', 200]);
	});

	it('split: piece by piece, and whole in the end', async () => {
		service.faults.add({ kind: 'split' }, { kind: 'split', bytes: 100 });
		const [bytewise, coarse] = [await stream(), await ask()];
		expect(new Set(bytewise.pieces.map(({ length }) => length))).toEqual(new Set([1]));
		expect(events(bytewise)).toHaveLength(WHOLE);
		expect(coarse.pieces.slice(0, -1).map(({ length }) => length)).toEqual([100, 100, 100]);
		expect(JSON.parse(coarse.text)).toHaveProperty('choices');
	});

	it('garbage and insert: something else in the middle', async () => {
		service.faults.add(
			{ kind: 'garbage', afterEvents: 1 },
			{ kind: 'insert', text: ': keep-alive\n\n', afterEvents: 2 },
			{ kind: 'insert', text: 'x', afterBytes: 5 },
			{ kind: 'insert', text: 'end', afterEvents: 99 },
		);
		const [garbage, comment, early, late] = [
			await stream(),
			await stream(),
			await stream(),
			await stream(),
		];
		expect(Buffer.concat([...garbage.pieces]).includes(Buffer.from([0xff, 0xfe, 0x00]))).toBe(
			true,
		);
		expect(events(comment)[2]).toBe(': keep-alive');
		expect(events(comment)).toHaveLength(WHOLE + 1);
		expect(early.text.slice(0, 8)).toBe('data:x {');
		expect(late.text.endsWith('data: [DONE]\n\nend')).toBe(true);
	});

	it('errorEvent: the stream ends with an error', async () => {
		service.faults.add({ kind: 'errorEvent', afterEvents: 2, message: 'Too busy' });
		const seen = events(await stream());
		expect(seen).toHaveLength(3);
		expect(seen[2]).toBe(`data: ${JSON.stringify(refusal('Too busy', 'service_error'))}`);
	});

	it('missingDone and duplicate', async () => {
		service.faults.add({ kind: 'missingDone' }, { kind: 'duplicate', event: 2 });
		const [open, twice] = [events(await stream()), events(await stream())];
		expect(open).toHaveLength(WHOLE - 1);
		expect(open.at(-1)).toContain('"finish_reason":"stop"');
		expect(twice).toHaveLength(WHOLE + 1);
		expect(twice[2]).toBe(twice[1]);
	});

	it('set: other values in a JSON body, such as an unknown state', async () => {
		const { body } = await service.createVideo({ prompt: 'A cat', model: 'video-m1' });
		service.faults.add({ kind: 'set', fields: { status: 'paused', extra: null } });
		expect((await service.queryTask(body['task_id'])).body).toEqual({
			task_id: body['task_id'],
			status: 'paused',
			model: 'video-m1',
			extra: null,
		});
	});

	it('contentType', async () => {
		service.faults.add({ kind: 'contentType', type: 'text/html' });
		expect((await ask()).headers['content-type']).toBe('text/html');
	});

	it('strike files too', async () => {
		service.faults.add({ kind: 'cut', path: '/cdn/', afterBytes: 100 });
		const url = `${service.url}/cdn/videos/x_720P_16x9_5s.mp4`;
		await expect(fetch(url).then((response) => response.arrayBuffer())).rejects.toThrow(
			'terminated',
		);
		expect((await fetch(url)).status).toBe(200);
	});
});

describe('which requests a fault meets', () => {
	const statuses = async (count: number) => {
		const seen: number[] = [];
		for (let index = 0; index < count; index++) seen.push((await ask()).status);
		return seen;
	};

	it('one by default, as many as count says, after as many as skip says', async () => {
		service.faults.add({ kind: 'status', status: 503, skip: 1, count: 2 });
		expect(await statuses(5)).toEqual([200, 503, 503, 200, 200]);
		expect(service.faults.pending).toEqual([]);
	});

	it('the first of several, in their order', async () => {
		const fault = (status: number): Fault => ({ kind: 'status', status });
		service.faults.add(fault(500), fault(501), fault(502));
		expect(await statuses(4)).toEqual([500, 501, 502, 200]);
	});

	it('by path, method and what the body holds', async () => {
		const status = (code: number) => ({ kind: 'status', status: code }) as const;
		service.faults.add(
			{ ...status(500), path: '/v1/videos/' },
			{ ...status(501), method: 'get' },
			{ ...status(502), contains: '2 + 2' },
		);
		expect((await service.chat({ messages: [user('Hi')] })).status).toBe(200);
		expect((await ask()).status).toBe(502);
		expect((await fetch(`${service.url}/cdn/images/a.jpg`)).status).toBe(501);
		expect((await service.queryTask('x')).status).toBe(500);
	});

	it('none after clear', async () => {
		service.faults.add({ kind: 'status', status: 503 });
		service.faults.clear();
		expect(await statuses(1)).toEqual([200]);
	});
});
