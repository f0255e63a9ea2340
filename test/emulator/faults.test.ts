import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { errorBody, startService, user, type Json, type TestService } from './support/service';

let service: TestService;
beforeEach(async () => {
	service = await startService();
});
afterEach(() => service.stop());

const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer demo-key' };
const SUM = { messages: [user('What is 2 + 2?')], model: 'chat-m2' };

/** Sends a request and reads the response to its end, or to the error code of its connection. */
async function raw(path: string, body: Json) {
	const call = request(service.url + path, { method: 'POST', headers: HEADERS });
	call.end(JSON.stringify(body));
	const [response] = (await once(call, 'response')) as [IncomingMessage];
	let text = '';
	const error = await (async () => {
		for await (const piece of response) text += String(piece);
	})().catch((failure: unknown) => (failure as NodeJS.ErrnoException).code);
	return { status: response.statusCode!, headers: response.headers, text, error };
}

const ask = () => raw('/v1/chat/completions', SUM);
const stream = () => raw('/v1/chat/completions', { ...SUM, stream: true });
const events = (text: string) => text.split('\n\n').filter(Boolean);

describe('response faults', () => {
	it('status: default error body, custom body, text and headers', async () => {
		service.faults.add(
			{ kind: 'status', status: 503 },
			{ kind: 'status', status: 418, body: { a: 1 }, headers: { 'x-mark': 'yes' } },
			{ kind: 'status', status: 500, body: 'Oh' },
			{ kind: 'status', status: 200, body: 'null' },
		);
		const answers = [await ask(), await ask(), await ask(), await ask()];
		expect(answers.map(({ status, text }) => [status, text])).toEqual([
			[503, JSON.stringify(errorBody('Fault: 503', 'service_error'))],
			[418, '{"a":1}'],
			[500, 'Oh'],
			[200, 'null'],
		]);
		expect(answers[1]!.headers['x-mark']).toBe('yes');
		expect(answers[2]!.headers['content-type']).toBe('text/plain; charset=utf-8');
	});
});

describe('body faults', () => {
	it('cut: connection closed after a number of events or bytes', async () => {
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
		expect(events(first.text)).toHaveLength(3);
		expect([second.text.length, third.text, json.text.length]).toEqual([10, '', 20]);
	});

	it('set: overwritten fields of a JSON body, such as an unknown status', async () => {
		const { body } = await service.createVideo({ prompt: 'A cat', model: 'video-m1' });
		service.faults.add({ kind: 'set', fields: { status: 'paused', extra: null } });
		expect((await service.queryTask(body['task_id'])).body).toEqual({
			task_id: body['task_id'],
			status: 'paused',
			model: 'video-m1',
			extra: null,
		});
	});
});
