import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { EmulatorOptions } from '../../emulator/startEmulator';
import { startService, user, type Json, type TestService } from './support/service';

const folder = mkdtempSync(join(tmpdir(), 'script-'));
const started: TestService[] = [];
let files = 0;
afterEach(async () => {
	await Promise.all(started.splice(0).map((service) => service.stop()));
});
afterAll(() => {
	rmSync(folder, { recursive: true });
});

function write(text: string, name = `answers-${++files}.yaml`): string {
	const file = join(folder, name);
	writeFileSync(file, text);
	return file;
}

async function withScript(text: string, options: EmulatorOptions = {}): Promise<TestService> {
	const service = await startService({ scripts: [write(text)], ...options });
	started.push(service);
	return service;
}

const replies = (...lines: readonly string[]) =>
	['replies:', ...lines.map((line) => `  - ${line}`)].join('\n');

const failure = async (text: string) =>
	await withScript(text).then(
		() => 'started',
		(error: unknown) => (error as Error).message.replaceAll(folder + '/', ''),
	);

const get = async (url: string) => {
	const response = await fetch(url);
	return { status: response.status, text: await response.text() };
};

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

describe('responses', () => {
	it('sends status, headers and body as they are, on any path and with any key', async () => {
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
		expect(await get(`${service.url}/text`)).toEqual({ status: 418, text: 'teapot' });
		const bytes = await (await fetch(`${service.url}/bytes`)).arrayBuffer();
		expect([...new Uint8Array(bytes)]).toEqual([0, 1, 255]);
		expect((await get(`${service.url}/v3/models`)).status).toBe(404);
		expect(service.journal.of('/text')[0]!.script).toMatch(/answers-\d+\.yaml:3$/);
	});
});

describe('video tasks', () => {
	const create = async (service: TestService, prompt: string) => {
		const { body } = await service.createVideo({ model: 'video-m1', prompt });
		return String(body['task_id']);
	};
	const statusOf = async (service: TestService, id: string) =>
		(await service.queryTask(id)).body['status'];

	it('fails after the given time, passes through the given statuses, and has the given fields', async () => {
		const service = await withScript(
			replies(
				'{ when: { text: bad }, task: { seconds: 3, error: No } }',
				'{ when: { text: odd }, task: { stages: [{ seconds: 0, status: paused }, { seconds: 9, status: completed }], fields: { cost: 2 } } }',
			),
		);
		const [bad, odd] = [await create(service, 'bad'), await create(service, 'odd')];
		expect(await statusOf(service, odd)).toBe('paused');
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
});

describe('the file', () => {
	it('is read again when it has changed; one with an error is reported and not used', async () => {
		const file = write('replies: [{ text: Old }]');
		const lines: string[] = [];
		const service = await startService({ scripts: [file], log: (line) => lines.push(line) });
		started.push(service);
		const said = async () => (await service.say('Hi')).content;

		expect(await said()).toBe('Old');
		writeFileSync(file, 'replies: [{ text: New }]');
		expect(await said()).toBe('New');
		writeFileSync(file, 'replies: [{ txt: New }]');
		expect(await said()).toBe('New');
		expect(lines.join('\n')).toContain(`${file}:1:13: replies[0].txt is unknown`);
	});

	it.each([
		['replies:\n  - text: [', /^answers-\d+\.yaml:2:\d+: /],
		['replies:\n  - txt: Hi', /:2:5: replies\[0\]\.txt is unknown$/m],
		['replies:\n  - text: 5', /:2:11: replies\[0\]\.text must be of type string$/],
		['replies:\n  - when: {}', /:2:5: replies\[0\] needs an answer/],
		['replies:\n  - text: Hi\n    body: {}', /:2:5: replies\[0\] mixes kinds of answer/],
	])('has errors with line and column: %j', async (text, message) => {
		expect(await failure(text)).toMatch(message);
	});

	it('must exist', async () => {
		await expect(startService({ scripts: ['no-such-script'] })).rejects.toThrow(
			/no script no-such-script\..*ark, dashscope/,
		);
	});
});
