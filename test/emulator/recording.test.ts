import { readFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { assetPath } from '../../emulator/assets';
import { compareRecording } from '../../emulator/record/compare';
import { startRecorder } from '../../emulator/record/recorder';
import { startEmulator } from '../../emulator/startEmulator';

const KEY = 'a-persons-own-key-4711';
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

/** A service that is not ours: it repeats the key, splits an event, and has a field that the emulator does not know. */
const service: Server = createServer((request, response) => {
	let sent = '';
	request.on('data', (data: Buffer) => (sent += data.toString()));
	request.on('end', () => {
		const body = JSON.parse(sent || '{}') as {
			stream?: boolean;
			messages?: { content: string }[];
		};
		if (request.headers.authorization !== `Bearer ${KEY}`)
			return response.writeHead(401, JSON_TYPE).end('{"error":{"message":"no"}}');
		if (request.url === '/v1/videos/tasks') {
			polls += 1;
			const status = polls < 2 ? 'queued' : 'completed';
			return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ status, key: KEY }));
		}
		if (!body.stream) {
			const content = `You said {{question}}: ${body.messages?.[0]?.content}`;
			const choices = [{ message: { role: 'assistant', content }, risk: { level: 1 } }];
			response.writeHead(200, { ...JSON_TYPE, 'x-request-id': KEY });
			return response.end(JSON.stringify({ choices }));
		}
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		response.write(`data: {"choices":[{"delta":{"content":"${KEY.slice(0, 9)}`);
		setImmediate(() => {
			response.end(`${KEY.slice(9)}灯"}}]}\n\ndata: [DONE]\n\n`);
		});
		return undefined;
	});
});
let polls = 0;
let upstream = '';
const folder = mkdtempSync(join(tmpdir(), 'recording-'));
const file = join(folder, 'recorded.yaml');

beforeAll(async () => {
	await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
	upstream = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(() => {
	service.close();
	rmSync(folder, { recursive: true });
});

const chat = (content: string, more = {}) =>
	[
		'/v1/chat/completions',
		{ model: 'm', messages: [{ role: 'user', content }], ...more },
	] as const;
const TASK = ['/v1/videos/tasks', { task_id: 't-1' }] as const;
const CALLS = [chat('Hello'), chat('Stream', { stream: true }), chat('Hello'), TASK, TASK] as const;

async function ask(url: string, [path, body]: readonly [string, object], key = KEY) {
	const response = await fetch(url + path, {
		method: 'POST',
		headers: { ...JSON_TYPE, authorization: `Bearer ${key}` },
		body: JSON.stringify(body),
	});
	return [response.status, response.headers.get('content-type'), await response.text()];
}

async function askAll(url: string): Promise<unknown[]> {
	const answers: unknown[] = [];
	for (const call of CALLS) answers.push(await ask(url, call));
	return answers;
}

test('records what a service answers without the key, replays it, and reports how the emulator differs', async () => {
	const direct = await askAll(upstream);
	polls = 0;
	const recorder = await startRecorder({
		port: 0,
		host: '127.0.0.1',
		allowedHosts: [],
		upstream,
		file,
	});
	expect(await askAll(recorder.url)).toEqual(direct);
	expect((await ask(recorder.url, chat('Wrong'), 'another-wrong-key'))[0]).toBe(401);
	await recorder.stop();

	const script = readFileSync(file, 'utf8');
	for (const secret of [KEY, 'another-wrong-key', KEY.slice(0, 9)])
		expect(script).not.toContain(secret);
	expect(statSync(file).mode & 0o077).toBe(0);
	await expect(
		startRecorder({ port: 0, host: '127.0.0.1', allowedHosts: [], upstream, file }),
	).rejects.toMatchObject({ code: 'EEXIST' });

	const replay = await startEmulator({
		scripts: [file, assetPath('script', 'unrecorded.yaml')],
		clock: 'virtual',
		chunkMs: 0,
	});
	const pump = setInterval(() => void replay.clock.advance(1_000), 5);
	const masked = JSON.parse(JSON.stringify(direct).replaceAll(KEY, '(key)')) as unknown;
	expect(await askAll(replay.url)).toEqual(masked);
	expect((await ask(replay.url, chat('Never asked')))[0]).toBe(501);
	clearInterval(pump);
	await replay.stop();

	const differences = (await compareRecording(file, { openai: true })).join('\n');
	expect(differences).toMatch(
		/recorded\.yaml:\d+: POST \/v1\/chat\/completions: only there: choices\[\]\.risk\.level: number/,
	);
	expect(differences).toMatch(/POST \/v1\/videos\/tasks: status 200, the emulator's 400/);
	expect(differences).toMatch(/only in the emulator: usage\.total_tokens: number/);
});

test('masks a key also without its app code, and no short value of a name like that of a key', async () => {
	const echo = createServer(({ headers }, response) => {
		const error = { message: `No access for ${headers.authorization?.split(/ |-demo/)[1]}` };
		response.writeHead(403, JSON_TYPE).end(JSON.stringify({ error, limit: 5 }));
	});
	await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
	const { port } = echo.address() as AddressInfo;
	const masked = `${file}.masked`;
	const recorder = await startRecorder({ upstream: `http://127.0.0.1:${port}`, file: masked });
	const [path, body] = chat('Hello');
	const [, , answer] = await ask(recorder.url, [`${path}?max_tokens=5`, body], `${KEY}-demo-app`);
	await recorder.stop();
	echo.close();
	expect(answer).toContain(`No access for ${KEY}"`);
	const script = readFileSync(masked, 'utf8');
	expect(script).toContain('No access for (key)');
	expect(script).toContain('limit: 5');
});

test.each([0, 1, 2])('masks a key within base64, %i bytes after its beginning', async (offset) => {
	const told = Buffer.from(`${'.'.repeat(offset)}Bearer ${KEY}, and more`);
	const echo = createServer(({ url }, response) => {
		const type = url === '/binary' ? { 'content-type': 'application/octet-stream' } : JSON_TYPE;
		response.writeHead(200, type);
		response.end(url === '/binary' ? told : JSON.stringify({ seen: told.toString('base64') }));
	});
	await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
	const { port } = echo.address() as AddressInfo;
	const masked = `${file}.base64.${offset}`;
	const recorder = await startRecorder({ upstream: `http://127.0.0.1:${port}`, file: masked });
	for (const path of ['/binary', '/text']) await ask(recorder.url, [path, {}]);
	await recorder.stop();
	echo.close();
	const found = readFileSync(masked, 'utf8').match(/[\w+/=]{16,}/g) ?? [];
	const read = found.map((text) => Buffer.from(text, 'base64').toString('latin1')).join('');
	expect(read).not.toContain(KEY.slice(4, -4));
});

test('sends no key to another host than that of the service', async () => {
	const elsewhere = `${file}.elsewhere`;
	const recorder = await startRecorder({ upstream, file: elsewhere });
	const { port } = new URL(recorder.url);
	const status = await new Promise((resolve, reject) => {
		const headers = { authorization: `Bearer ${KEY}`, host: `127.0.0.1:${port}` };
		request({ port, host: '127.0.0.1', path: 'http://service.example/v1', headers })
			.on('response', (response) => {
				resolve(response.resume().statusCode);
			})
			.on('error', reject)
			.end();
	});
	await recorder.stop();
	expect(status).toBe(400);
});

test('names the service that cannot be reached', async () => {
	const missing = `${file}.unreachable`;
	const recorder = await startRecorder({ upstream: 'http://127.0.0.1:2', file: missing });
	const [status, , answer] = await ask(recorder.url, chat('Hello'), KEY);
	await recorder.stop();
	expect([status, answer]).toEqual([
		502,
		expect.stringMatching(/http:\/\/127.0.0.1:2 cannot be reached: .+/),
	]);
});
