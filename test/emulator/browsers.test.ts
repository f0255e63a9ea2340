import { gzipSync } from 'node:zlib';

import { startService, user } from './support/service';

const PAGE = 'https://app.example.com';

test('web pages of the allowed origins may use the emulator, and no others', async () => {
	const open = await startService({ cors: [PAGE] });
	const closed = await startService();
	const preflight = async (url: string, origin: string) => {
		const { status, headers } = await fetch(`${url}/v1/chat/completions`, {
			method: 'OPTIONS',
			headers: {
				origin,
				'access-control-request-method': 'POST',
				'access-control-request-headers': 'authorization',
			},
		});
		return [
			status,
			headers.get('access-control-allow-origin'),
			headers.get('access-control-allow-headers'),
		];
	};
	expect(await preflight(open.url, PAGE)).toEqual([204, PAGE, 'authorization']);
	expect(await preflight(open.url, 'https://other.example.com')).toEqual([405, null, null]);
	expect(await preflight(closed.url, PAGE)).toEqual([405, null, null]);

	const answer = await fetch(`${open.url}/v1/chat/completions`, { headers: { origin: PAGE } });
	expect(answer.headers.get('access-control-allow-origin')).toBe(PAGE);
	await Promise.all([open.stop(), closed.stop()]);
});

test('compressed bodies get 415, and messages beyond the context 413', async () => {
	const service = await startService();
	const body = JSON.stringify({ messages: [user('What is 2 + 2?')] });
	const { status } = await fetch(`${service.url}/v1/chat/completions`, {
		method: 'POST',
		headers: {
			'content-type': 'application/json',
			'content-encoding': 'gzip',
			authorization: 'Bearer demo-key',
		},
		body: gzipSync(body),
	});
	expect(status).toBe(415);
	const long = await service.chat({ messages: [user('a '.repeat(1_000_001))] });
	expect(long.status).toBe(413);
	const fitting = await service.chat({ messages: [user('a '.repeat(10_000))] });
	expect(fitting.status).toBe(200);
	await service.stop();
});
