import { serviceFor, user, type Json } from '../emulator/support/service';
import { WEATHER } from './nodeRuns';

const service = serviceFor('each', { minimal: true });

/** Every field of a value, with its path: `choices[].message.content`. Fields below `except` are the caller's own. */
function pathsOf(value: unknown, except: readonly string[] = [], at = ''): string[] {
	if (typeof value !== 'object' || value === null || except.includes(at)) return [];
	const found = Object.entries(value).flatMap(([key, each]) => {
		const path = Array.isArray(value) ? `${at}[]` : [at, key].filter(Boolean).join('.');
		return [...(Array.isArray(value) ? [] : [path]), ...pathsOf(each, except, path)];
	});
	return [...new Set(found)].toSorted();
}

const WEATHER_QUESTION = 'What is the weather in Rome?';
const TASK = 'Calculate 17 * 4';
const TOKENS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];
const USAGE = ['usage', ...TOKENS.map((name) => `usage.${name}`)];
const REPLY = ['choices', 'choices[].index', 'choices[].message'];
const MESSAGE = (...names: readonly string[]) => names.map((name) => `choices[].message.${name}`);
const CALLS = ['', '[].id', '[].type', '[].function', '[].function.name', '[].function.arguments'];
const CALL_FIELDS = CALLS.map((end) => `choices[].message.tool_calls${end}`);

describe('the emulator with --minimal sends nothing beyond the letter of the specification', () => {
	test.each<[string, Json, readonly string[]]>([
		['a reply', {}, [...REPLY, ...MESSAGE('role', 'content'), ...USAGE]],
		[
			'a reply after thinking',
			{ thinking: { type: 'enabled' } },
			[
				...REPLY,
				...MESSAGE('role', 'content', 'reasoning_content'),
				'choices[].finish_reason',
				...USAGE,
			],
		],
		[
			'tool calls',
			{ messages: [user(WEATHER_QUESTION)], tools: [WEATHER] },
			[
				...REPLY,
				...MESSAGE('role', 'content'),
				...CALL_FIELDS,
				'choices[].finish_reason',
				...USAGE,
			],
		],
		[
			'a reply of a super assistant',
			{ app_code: 'demo-assistant', messages: [user(TASK)] },
			[
				...['id', 'object', 'created', 'model', 'session_id'],
				...REPLY,
				...MESSAGE('role', 'content'),
				...CALL_FIELDS,
				...MESSAGE('tool_results', 'tool_results[].tool_call_id', 'tool_results[].content'),
				...USAGE,
			],
		],
	])('%s', async (_what, request, fields) => {
		const { body } = await service.chat({ messages: [user('Hello')], ...request });
		expect(pathsOf(body)).toStrictEqual(fields.toSorted());
	});

	const DELTA = ['choices', 'choices[].index', 'choices[].delta', 'choices[].finish_reason'];
	test.each<[string, Json, readonly string[]]>([
		['a stream', {}, [...DELTA, 'choices[].delta.content']],
		[
			'a stream with usage',
			{ stream_options: { include_usage: true } },
			[...DELTA, 'choices[].delta.content', ...USAGE.map((path) => `choices[].${path}`)],
		],
		[
			'a stream of a super assistant',
			{ app_code: 'demo-assistant', messages: [user(TASK)] },
			[
				...['model', 'session_id'],
				...DELTA,
				'choices[].delta.content',
				...['extension', 'extension.type', 'extension.data', 'extension.data.tool'],
				'extension.data.arguments',
				...['', '[].name', '[].arguments', '[].result', '[].status'].map(
					(end) => `extension.data.tool_calls${end}`,
				),
			],
		],
	])('%s', async (_what, request, fields) => {
		const chunks = await service.chunks({ messages: [user('Hello')], ...request });
		const own = ['extension.data.arguments', 'extension.data.tool_calls[].arguments'];
		const paths = new Set(chunks.flatMap((chunk) => pathsOf(chunk, own)));
		expect([...paths].toSorted()).toStrictEqual(fields.toSorted());
	});

	test('a video, from its creation to the finished task', async () => {
		const { body } = await service.createVideo({ prompt: 'A lake', model: 'video-m1' });
		const { body: open } = await service.queryTask(body['task_id']);
		await service.clock.advance(60_000);
		const { body: done } = await service.queryTask(body['task_id']);
		expect([body, open, done].map((each) => Object.keys(each))).toStrictEqual([
			['task_id', 'status', 'model', 'created_at'],
			['task_id', 'status', 'model'],
			['task_id', 'status', 'model', 'video_url'],
		]);
	});

	test('an error, also that of a limit', async () => {
		const { status, body, headers } = await service.chat({
			messages: [user('Hello')],
			app_code: 'busy-app',
		});
		expect(status).toBe(429);
		expect(pathsOf(body)).toStrictEqual(['error', 'error.message', 'error.type']);
		expect(headers.get('retry-after')).toBeNull();
	});
});
