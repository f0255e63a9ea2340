import { errorBody, sendRaw, serviceFor, user, type Json } from './support/service';

const service = serviceFor('each');

const HEADERS = { 'content-type': 'application/json', authorization: 'Bearer demo-key' };
const SUM = { messages: [user('What is 2 + 2?')], model: 'chat-m2' };

const ask = async (more: Json = {}) =>
	await sendRaw(
		`${service.url}/v1/chat/completions`,
		{ method: 'POST', headers: HEADERS },
		JSON.stringify({ ...SUM, ...more }),
	);
const stream = async () => await ask({ stream: true });
const events = (text: string) => text.split('\n\n').filter(Boolean);

test('status: default error body, custom body, text and headers', async () => {
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

test('cut: connection closed after a number of events or bytes', async () => {
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

test('set: overwritten fields of a JSON body, such as an unknown status', async () => {
	const { body } = await service.createVideo({ prompt: 'A cat', model: 'video-m1' });
	service.faults.add({ kind: 'set', fields: { status: 'paused', extra: null } });
	expect((await service.queryTask(body['task_id'])).body).toEqual({
		task_id: body['task_id'],
		status: 'paused',
		model: 'video-m1',
		extra: null,
	});
});
