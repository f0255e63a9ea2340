/** Scripted answers: written by a person, or recorded from a service and replayed. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { assetPath } from '../../emulator/assets';
import { compareRecording } from '../../emulator/record/compare';
import { startRecorder, type RecorderOptions } from '../../emulator/record/recorder';
import { parseScript } from '../../emulator/script/parseScript';
import { startScriptedServer, type Script } from '../support/scriptedServer';
import { sendRaw, startService, user, type Json } from './support/service';

const folder = mkdtempSync(join(tmpdir(), 'script-'));
/** What a test started, also one that failed. */
const started: { stop: () => unknown }[] = [];
let files = 0;
const keep = <T extends (typeof started)[number]>(each: T): T => {
	started.push(each);
	return each;
};
afterEach(async () => {
	await Promise.all(started.splice(0).map((each) => each.stop()));
});
afterAll(() => {
	rmSync(folder, { recursive: true });
});

function write(script: string): string {
	const file = join(folder, `answers-${++files}.yaml`);
	writeFileSync(file, script);
	return file;
}

const withScript = async (script: string) => keep(await startService({ scripts: [write(script)] }));

const replies = (...lines: readonly string[]) =>
	['replies:', ...lines.map((line) => `  - ${line}`)].join('\n');

describe('answers', () => {
	it('replaces the text of the first reply whose conditions hold, and writes the rest itself', async () => {
		const service = await withScript(
			replies(
				'{ when: { model: chat-m1 }, text: First }',
				'{ when: { text: WEATHER }, text: Sunny }',
				'{ when: { pattern: "my (cat|dog)" }, text: "Your {{1}} is fine." }',
				'{ when: { app: demo-app }, text: An app }',
				'{ when: { headers: { x-test: yes } }, text: Never }',
			),
		);
		expect(await service.say('The weather?', { model: 'chat-m1' })).toMatchObject({
			content: 'First',
		});
		expect(await service.say('The weather?')).toMatchObject({ content: 'Sunny' });
		expect(await service.say('How is my Dog?')).toMatchObject({ content: 'Your Dog is fine.' });
		expect(await service.say('Hi', { app_code: 'demo-app' })).toMatchObject({
			content: 'An app',
		});
		expect(await service.say('What is 2 + 2?')).toMatchObject({ content: '2 + 2 = 4' });
		expect((await service.chat({ messages: [user('weather')] }, 'wrong')).status).toBe(401);
	});

	it('has tool calls, reasoning, usage and finish reason in both forms', async () => {
		const service = await withScript(
			replies(
				'{ text: Hm, reasoning: I think, toolCalls: [{ name: run, arguments: { a: 1 } }], usage: { prompt_tokens: 7 }, finishReason: length }',
			),
		);
		const { body } = await service.chat({ messages: [user('Go')] });
		const [{ message, finish_reason }] = body.choices as unknown as [
			{ message: Json; finish_reason: string },
		];
		expect(message).toMatchObject({ content: 'Hm', reasoning_content: 'I think' });
		expect(message['tool_calls']).toMatchObject([
			{ function: { name: 'run', arguments: '{"a":1}' } },
		]);
		expect([finish_reason, body.usage.prompt_tokens]).toEqual(['length', 7]);

		const events = await service.stream({ messages: [user('Go')] });
		expect(events.join('\n')).toMatch(
			/"reasoning_content":"I .*"content":"Hm".*"name":"run".*"finish_reason":"length"/s,
		);
	});

	it('streams the given chunks with their delays', async () => {
		const service = await withScript(
			replies('chunks: [Hel, { text: lo, delayMs: 5000 }, " you"]'),
		);
		const streamed = service.chunks<{ choices: [{ delta: Json }] }>({ messages: [user('Go')] });
		let ended = false;
		void streamed.then(() => (ended = true));
		await service.queryTask('none');
		await service.clock.advance(4_999);
		await service.queryTask('none');
		expect(ended).toBe(false);
		await service.clock.advance(1);
		const texts = (await streamed).map(({ choices: [{ delta }] }) => delta['content']);
		expect(texts.filter(Boolean)).toEqual(['Hel', 'lo', ' you']);
	});
});

test('sends status, headers and body as they are, on any path and with any key', async () => {
	const service = await withScript(
		replies(
			'{ when: { path: /v2/models }, headers: { x-a: b }, body: { data: ["{{now}}", 1] } }',
			'{ when: { path: /text }, status: 418, body: teapot }',
			'{ when: { path: /bytes }, base64: AAH/ }',
		),
	);
	const json = await fetch(`${service.url}/v2/models`);
	expect([json.headers.get('x-a'), await json.json()]).toEqual([
		'b',
		{ data: [Date.UTC(2026, 0, 1) / 1000, 1] },
	]);
	const teapot = await fetch(`${service.url}/text`);
	expect([teapot.status, await teapot.text()]).toEqual([418, 'teapot']);
	const bytes = await (await fetch(`${service.url}/bytes`)).arrayBuffer();
	expect([...new Uint8Array(bytes)]).toEqual([0, 1, 255]);
	expect((await fetch(`${service.url}/v3/models`)).status).toBe(404);
	expect(service.journal.of('/text')[0]!.script).toMatch(/answers-\d+\.yaml:3$/);
});

test('a video task fails after the given time, passes through the given statuses, and has the given fields', async () => {
	const service = await withScript(
		replies(
			'{ when: { text: bad }, task: { seconds: 3, error: No } }',
			'{ when: { text: odd }, task: { stages: [{ seconds: 0, status: paused }, { seconds: 9, status: completed }], fields: { cost: 2 } } }',
		),
	);
	const [bad, odd] = await Promise.all(
		['bad', 'odd'].map(async (prompt) => {
			const { body } = await service.createVideo({ model: 'video-m1', prompt });
			return body['task_id'];
		}),
	);
	expect((await service.queryTask(odd)).body['status']).toBe('paused');
	await service.clock.advance(3_000);
	expect((await service.queryTask(bad)).body).toMatchObject({
		status: 'failed',
		error_message: 'No',
	});
	await service.clock.advance(6_000);
	expect((await service.queryTask(odd)).body).toMatchObject({
		status: 'completed',
		cost: 2,
		video_url: expect.stringContaining('.mp4') as string,
	});
});

describe('the file', () => {
	it('is read again when it has changed; one with an error is reported and not used', async () => {
		const file = write('replies: [{ text: Old }]');
		const lines: string[] = [];
		const log = (line: string) => lines.push(line);
		const service = keep(await startService({ scripts: [file], log }));
		const said = async () => (await service.say('Hi')).content;

		expect(await said()).toBe('Old');
		writeFileSync(file, 'replies: [{ text: New }]');
		expect(await said()).toBe('New');
		writeFileSync(file, 'replies: [{ txt: New }]');
		expect(await said()).toBe('New');
		expect(lines.join('\n')).toContain(`${file}:1:13: replies[0].txt is unknown`);
	});

	it.each([
		['replies:\n  - text: [', /^\S+\/answers-\d+\.yaml:2:\d+: /],
		['replies:\n  - txt: Hi', /:2:5: replies\[0\]\.txt is unknown$/m],
		['replies:\n  - text: 5', /:2:11: replies\[0\]\.text must be of type string$/],
		['replies:\n  - when: {}', /:2:5: replies\[0\] needs an answer/],
		['replies:\n  - text: Hi\n    body: {}', /:2:5: replies\[0\] mixes kinds of answer/],
	])('has errors with line and column: %j', async (script, message) => {
		await expect(withScript(script)).rejects.toThrow(message);
	});

	it('must exist', async () => {
		await expect(startService({ scripts: ['no-such-script'] })).rejects.toThrow(
			/no script no-such-script\..*ark, dashscope/,
		);
	});
});

describe('a recording', () => {
	const KEY = 'a-persons-own-key-4711';
	const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

	/** A service of the test, by its answer. */
	const startUpstream = async (script: Script) => keep(await startScriptedServer(script)).url;
	const record = async (options: RecorderOptions) => keep(await startRecorder(options));

	/** Starts a service that is not ours: it repeats the key, splits an event, and has a field that the emulator does not know. */
	async function startOther(): Promise<string> {
		let polls = 0;
		return await startUpstream((response, { headers, path, body }) => {
			const { stream, messages = [] } = body as {
				stream?: boolean;
				messages?: { content: string }[];
			};
			if (headers.authorization !== `Bearer ${KEY}`) {
				response.writeHead(401, JSON_TYPE).end('{"error":{"message":"no"}}');
			} else if (path === '/v1/videos/tasks') {
				polls += 1;
				const status = polls % 2 === 1 ? 'queued' : 'completed';
				response.writeHead(200, JSON_TYPE).end(JSON.stringify({ status, key: KEY }));
			} else if (!stream) {
				const content = `You said {{question}}: ${messages[0]?.content}`;
				const choices = [{ message: { role: 'assistant', content }, risk: { level: 1 } }];
				response.writeHead(200, { ...JSON_TYPE, 'x-request-id': KEY });
				response.end(JSON.stringify({ choices }));
			} else {
				response.writeHead(200, { 'content-type': 'text/event-stream' });
				response.write(`data: {"choices":[{"delta":{"content":"${KEY.slice(0, 9)}`);
				setImmediate(() => {
					response.end(`${KEY.slice(9)}灯"}}]}\n\ndata: [DONE]\n\n`);
				});
			}
		});
	}

	const chat = (content: string, more = {}) =>
		[
			'/v1/chat/completions',
			{ model: 'm', messages: [{ role: 'user', content }], ...more },
		] as const;
	const TASK = ['/v1/videos/tasks', { task_id: 't-1' }] as const;

	/** Asks with a key, or with none. */
	async function ask(
		url: string,
		[path, body]: readonly [string, object],
		key: string | null = KEY,
	) {
		const response = await fetch(url + path, {
			method: 'POST',
			headers: { ...JSON_TYPE, ...(key !== null && { authorization: `Bearer ${key}` }) },
			body: JSON.stringify(body),
		});
		return [response.status, response.headers.get('content-type'), await response.text()];
	}

	async function askAll(url: string): Promise<unknown[]> {
		const answers: unknown[] = [];
		const streamed = chat('Stream', { stream: true });
		for (const call of [chat('Hello'), streamed, chat('Hello'), TASK, TASK])
			answers.push(await ask(url, call));
		return answers;
	}

	test('has what a service answers without the key, is replayed, and tells how the emulator differs', async () => {
		const upstream = await startOther();
		const file = join(folder, 'recorded.yaml');
		const options = { port: 0, host: '127.0.0.1', allowedHosts: [], upstream, file };
		const direct = await askAll(upstream);
		const recorder = await record(options);
		expect(await askAll(recorder.url)).toEqual(direct);
		expect((await ask(recorder.url, chat('Wrong'), 'another-wrong-key'))[0]).toBe(401);
		await recorder.stop();

		const script = readFileSync(file, 'utf8');
		for (const secret of [KEY, 'another-wrong-key', KEY.slice(0, 9)])
			expect(script).not.toContain(secret);
		expect(statSync(file).mode & 0o077).toBe(0);
		await expect(startRecorder(options)).rejects.toMatchObject({ code: 'EEXIST' });

		const unrecorded = assetPath('script', 'unrecorded.yaml');
		const replay = keep(await startService({ scripts: [file, unrecorded], chunkMs: 0 }));
		const pump = setInterval(() => void replay.clock.advance(1_000), 5);
		started.push({ stop: clearInterval.bind(undefined, pump) });
		const masked = JSON.stringify(direct).replaceAll(KEY, '[masked: key]');
		expect(await askAll(replay.url)).toEqual(JSON.parse(masked));
		expect((await ask(replay.url, chat('Never asked')))[0]).toBe(501);

		const differences = (await compareRecording(file, { openai: true })).join('\n');
		expect(differences).toMatch(
			/recorded\.yaml:\d+: POST \/v1\/chat\/completions: only there: choices\[\]\.risk\.level: number/,
		);
		expect(differences).toMatch(/POST \/v1\/videos\/tasks: status 200, the emulator's 400/);
		expect(differences).toMatch(/only in the emulator: usage\.total_tokens: number/);
	});

	const SECRET = 'pass/word+of&somebody=4711-x';
	const SIGNED = '0f1e2d3c4b5a69788796a5b4';
	const base64 = (of: string) => Buffer.from(of).toString('base64');
	const told = (of: string) => JSON.stringify({ error: { message: `Refused: ${of}.` } });
	const delta = (content: string) =>
		`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
	const encoded = encodeURIComponent(SECRET);

	/** What differs from a secret in the key of a chat that is answered with nothing. */
	interface Form {
		readonly key?: string | null;
		readonly path?: string;
		readonly answer?: string;
		readonly answerHeaders?: Record<string, string>;
		/** What the file must not have; by default the secret. */
		readonly hidden?: readonly string[];
	}

	it.each<[string, Form]>([
		['as it is', { answer: told(SECRET) }],
		['URL-encoded', { answer: told(encoded), hidden: [encoded.slice(0, 12)] }],
		[
			'in base64',
			{
				answer: told(base64(`Bearer ${SECRET}`)),
				hidden: [base64(SECRET).slice(4, 20), base64(`Bearer ${SECRET}`).slice(12, 32)],
			},
		],
		[
			'split over events',
			{
				answer: Array.from(SECRET, delta).join(''),
				answerHeaders: { 'content-type': 'text/event-stream' },
			},
		],
		['without its app code', { key: `${KEY}-demo-app`, answer: told(KEY), hidden: [KEY] }],
		[
			'in Location',
			{
				answerHeaders: { location: `https://login.example.com/?next=1&key=${encoded}` },
				hidden: ['word%2Bof'],
			},
		],
		[
			'of a person in a URL',
			{
				key: null,
				answer: told(`https://ann:${SIGNED}@files.example.com/a`),
				hidden: [SIGNED],
			},
		],
		[
			'in a parameter',
			{ key: null, path: `/v1/models?api_key=${encoded}`, answer: told(SECRET) },
		],
		[
			'a secret that the service gives',
			{
				key: null,
				answer: JSON.stringify({ clientSecret: SIGNED, tokens: 5, author: 'Ann' }),
				hidden: [SIGNED],
			},
		],
		[
			'of another person, by its form',
			{
				key: null,
				answer: told('sk-0123456789abcdef'),
				hidden: ['sk-0123456789abcdef'],
			},
		],
	])('hides a secret %s', async (name, form) => {
		const { key = SECRET, path = '/v1/chat/completions', answer = '', answerHeaders } = form;
		const upstream = await startUpstream((response) => {
			response.writeHead(200, { ...JSON_TYPE, ...answerHeaders }).end(answer);
		});
		const file = join(folder, `${name.replaceAll(/\W/g, '-')}.yaml`);
		const recorder = await record({ upstream, file });
		const call = [path, { text: 'An ordinary question' }] as const;
		expect((await ask(recorder.url, call, key))[2]).toBe(answer);
		await recorder.stop();
		const script = readFileSync(file, 'utf8');
		for (const secret of form.hidden ?? [SECRET]) expect(script).not.toContain(secret);
		expect(script).toContain('An ordinary question');
		const { replies } = parseScript(script, file);
		expect(replies).toHaveLength(1);
		const content = [...JSON.stringify(replies).matchAll(/content\\":\\"(.*?)\\"/g)];
		expect(content.map(([, each]) => each).join('')).not.toContain(SECRET);
	});

	test('has no key of a request to another host than that of the service, which is not sent', async () => {
		const upstream = await startOther();
		const recorder = await record({ upstream, file: join(folder, 'elsewhere.yaml') });
		const { status } = await sendRaw(recorder.url, {
			path: 'http://service.example/v1',
			headers: { authorization: `Bearer ${KEY}` },
		});
		expect(status).toBe(400);
	});
});
