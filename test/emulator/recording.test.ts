import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import {
	createServer,
	request,
	type IncomingHttpHeaders,
	type Server,
	type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { assetPath } from '../../emulator/assets';
import { compareRecording } from '../../emulator/record/compare';
import { startRecorder, type RecorderOptions } from '../../emulator/record/recorder';
import { parseScript } from '../../emulator/script/parseScript';
import { startEmulator } from '../../emulator/startEmulator';

/** What a test started, also one that failed. */
const started: (() => unknown)[] = [];
afterEach(() => Promise.all(started.splice(0).map((stop) => stop())));

async function record(options: RecorderOptions) {
	const recorder = await startRecorder(options);
	started.push(recorder.stop);
	return recorder;
}

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
	const masked = JSON.parse(JSON.stringify(direct).replaceAll(KEY, '[masked: key]')) as unknown;
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

/** A service of the test, by its answer; `asked` is what it received. */
async function startUpstream(
	answer: (
		asked: { headers: IncomingHttpHeaders; body: string },
		response: ServerResponse,
	) => void,
) {
	const server = createServer((request, response) => {
		let body = '';
		request.on('data', (data: Buffer) => (body += data.toString()));
		request.on('end', () => {
			answer({ headers: request.headers, body }, response);
		});
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	started.push(() => server.close());
	return { url: `http://127.0.0.1:${port}` };
}

const SECRET = 'pass/word+of&somebody=4711-x';
const base64 = (text: string) => Buffer.from(text).toString('base64');
const told = (text: string) => JSON.stringify({ error: { message: `Refused: ${text}.` } });
const delta = (content: string) =>
	`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const bearer = { authorization: `Bearer ${SECRET}` };
interface Form {
	readonly headers?: Record<string, string>;
	readonly path?: string;
	readonly body?: object;
	readonly answer: string;
	readonly answerHeaders?: Record<string, string>;
	/** What the file must not have; by default the secret. */
	readonly hidden?: readonly string[];
}
const SIGNED = '0f1e2d3c4b5a69788796a5b4';

it.each<[string, Form]>([
	['as it is', { headers: bearer, answer: told(SECRET) }],
	[
		'URL-encoded',
		{
			headers: bearer,
			answer: told(encodeURIComponent(SECRET)),
			hidden: [encodeURIComponent(SECRET).slice(0, 12)],
		},
	],
	[
		'in base64',
		{
			headers: bearer,
			answer: told(base64(`Bearer ${SECRET}`)),
			hidden: [base64(SECRET).slice(4, 20), base64(`Bearer ${SECRET}`).slice(12, 32)],
		},
	],
	[
		'split over events',
		{
			headers: bearer,
			answer: Array.from(SECRET, delta).join(''),
			answerHeaders: { 'content-type': 'text/event-stream' },
		},
	],
	[
		'without its app code',
		{ headers: { authorization: `Bearer ${KEY}-demo-app` }, answer: told(KEY), hidden: [KEY] },
	],
	[
		'in Location',
		{
			headers: bearer,
			answer: '',
			answerHeaders: {
				location: `https://login.example.com/?next=1&key=${encodeURIComponent(SECRET)}`,
			},
			hidden: ['word%2Bof'],
		},
	],
	[
		'of a person in a URL',
		{ answer: told(`https://ann:${SIGNED}@files.example.com/a`), hidden: [SIGNED] },
	],
	[
		'in a parameter',
		{ path: `/v1/models?api_key=${encodeURIComponent(SECRET)}`, answer: told(SECRET) },
	],
	[
		'a secret that the service gives',
		{
			answer: JSON.stringify({ clientSecret: SIGNED, tokens: 5, author: 'Ann' }),
			hidden: [SIGNED],
		},
	],
	[
		'of another person, by its form',
		{ answer: told('sk-0123456789abcdef'), hidden: ['sk-0123456789abcdef'] },
	],
])('hides a secret %s', async (name, form) => {
	const { headers = {}, path = '/v1/chat/completions', body = {}, answer, answerHeaders } = form;
	const other = await startUpstream((_asked, response) => {
		response.writeHead(200, { ...JSON_TYPE, ...answerHeaders }).end(answer);
	});
	const masked = join(folder, `${name.replaceAll(/\W/g, '-')}.yaml`);
	const recorder = await record({ upstream: other.url, file: masked });
	const response = await fetch(recorder.url + path, {
		method: 'POST',
		redirect: 'manual',
		headers: { ...JSON_TYPE, ...headers },
		body: JSON.stringify({ text: 'An ordinary question', ...body }),
	});
	expect(Buffer.from(await response.arrayBuffer()).toString()).toBe(answer);
	await recorder.stop();
	const script = readFileSync(masked, 'utf8');
	for (const secret of form.hidden ?? [SECRET]) expect(script).not.toContain(secret);
	expect(script).toContain('An ordinary question');
	const { replies } = parseScript(script, masked);
	expect(replies).toHaveLength(1);
	const content = [...JSON.stringify(replies).matchAll(/content\\":\\"(.*?)\\"/g)];
	expect(content.map(([, text]) => text).join('')).not.toContain(SECRET);
});

test('sends no key to another host than that of the service', async () => {
	const elsewhere = `${file}.elsewhere`;
	const recorder = await record({ upstream, file: elsewhere });
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
