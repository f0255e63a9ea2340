import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
} from '../support/engine';
import { dataTables } from '../support/dataTables';
import { withFakeTimers } from '../support/fakeTimers';
import {
	json,
	startScriptedServer,
	type Script,
	type ScriptedServer,
} from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { FAILURE } from '../support/failureTexts';

type Answer = (response: Parameters<Script>[0], taskId: string) => void;

const page =
	(status: number): Answer =>
	(response) => {
		response.writeHead(status, { 'content-type': 'text/html' });
		response.end('<html><body><h1>404 page of nginx</h1></body></html>');
	};
/** An error in the service's own form (spec 7). */
const own =
	(status: number): Answer =>
	(response) => {
		json(response, status, {
			error: { message: 'own words', type: 'invalid_request_error' },
		});
	};
const report =
	(status: string, more: object = {}): Answer =>
	(response, task_id) => {
		json(response, 200, { task_id, status, video_url: 'https://cdn/x.mp4', ...more });
	};
const completed = report('completed');

let server: ScriptedServer;
/** The answers of each task, the last one forever. Every other task is completed. */
let answers: ReadonlyMap<string, readonly Answer[]>;
let asked: string[];

beforeEach(async () => {
	asked = [];
	server = await startScriptedServer((response, { body }) => {
		const { task_id: taskId } = body as { task_id: string };
		const list = answers.get(taskId) ?? [completed];
		const nth = asked.filter((each) => each === taskId).length;
		asked.push(taskId);
		list[Math.min(nth, list.length - 1)]!(response, taskId);
	});
});
afterEach(async () => {
	await server.stop();
});

const ids = (...taskIds: readonly unknown[]) =>
	taskIds.map((task_id) => ({ task_id }) as IDataObject);
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);

/** Waits in virtual time for tasks with these answers. */
async function wait(
	tasks: Readonly<Record<string, readonly Answer[]>>,
	more: Partial<RunOptions> = {},
) {
	answers = new Map(Object.entries(tasks));
	return await withFakeTimers(
		async () =>
			await runNode('waitForVideo', {
				credential: { baseUrl: server.url, apiKey: 'k' },
				parameters: { download: false },
				items: ids(...Object.keys(tasks)),
				...more,
			}),
	);
}

describe('between two good answers', () => {
	test.each([
		['a 404 of a proxy', page(404)],
		['a 404 of the service', own(404)],
		['an HTML page', page(200)],
		['a 403 of a firewall', page(403)],
		['a 400', own(400)],
	])('%s does not end the wait', async (_name, odd) => {
		const { outputs } = await wait({ t: [report('queued'), odd, completed] });
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['t']);
	});
});

describe('without any good answer', () => {
	test.each([
		['404', own(404), 'The service does not know this task: own words'],
		['403', own(403), 'The API key has no access to this task: own words'],
	])('%s in the form of the service concern their tasks', async (_name, odd, message) => {
		const { outputs } = await wait({ a: [odd], b: [odd] });
		expect(outputs[FAILED]!.map(({ json: fields }) => fields)).toMatchObject([
			{ task_id: 'a', reason: 'refused', error_message: message },
			{ task_id: 'b', reason: 'refused', error_message: message },
		]);
	});

	test.each([
		['404 pages', page(404), FAILURE.notFound, /Base URL/],
		[
			'HTML pages',
			page(200),
			'Unexpected response: this is not the Agent Video API',
			/Base URL/,
		],
	])('%s fail the node, as a wrong key does', async (_name, odd, message, remedy) => {
		const tasks = { a: [odd], b: [odd] };
		const { status, error, outputs } = await wait(tasks);
		expect({ status, message: error?.message }).toStrictEqual({
			status: 'error',
			message: `${message}. Retry polls again, free of charge`,
		});
		expect(error!.description).toMatch(remedy);
		expect(error!.description).toContain('Tasks not finished: a, b');
		expect(outputs.flat()).toHaveLength(0);

		const continued = await wait(tasks, { onError: 'continueErrorOutput' });
		expect(continued.outputs[COMPLETED]).toStrictEqual([]);
		expect(continued.outputs[FAILED]).toStrictEqual([]);
		expect(continued.outputs.at(-1)!.map(({ json: fields }) => fields['error'])).toStrictEqual([
			message,
			message,
		]);
	});
});

test.each([
	['404', own(404), 'The service does not know this task: own words'],
	['403', own(403), 'The API key has no access to this task: own words'],
])('a lasting %s concerns its task, where others get good answers', async (_name, odd, words) => {
	const { status, outputs } = await wait({ a: [odd], b: [report('processing'), completed] });
	expect(status).toBe('success');
	expect(idsOf(outputs[COMPLETED])).toStrictEqual(['b']);
	expect(outputs[FAILED]).toMatchObject([
		{ json: { task_id: 'a', reason: 'refused', error_message: words } },
	]);
});

test('a task is not completed without the URL of its video', async () => {
	for (const video_url of [undefined, null, ' ']) {
		const { outputs } = await wait({ a: [report('completed', { video_url })] });
		expect(outputs[COMPLETED]).toHaveLength(0);
		expect(outputs[FAILED]![0]!.json).toMatchObject({
			task_id: 'a',
			status: 'completed',
			reason: 'download',
			error_message: expect.stringContaining('The service returned no video_url') as string,
		});
	}
});

test('the words of other services are understood, and every outcome keeps what the service reported', async () => {
	const { outputs } = await wait({
		a: [report('IN_PROGRESS'), report('SUCCEEDED')],
		b: [report('rendered to disk')],
		c: [report('EXPIRED', { reason: 'kept for a day' })],
		d: [report('processing', { progress: 40 })],
		e: [report('completed', { video_url: undefined }), completed],
	});
	expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a', 'e']);
	expect(outputs[FAILED]!.map(({ json: fields }) => fields)).toMatchObject([
		{
			task_id: 'b',
			status: 'rendered to disk',
			reason: 'timeout',
			video_url: 'https://cdn/x.mp4',
		},
		{
			task_id: 'c',
			status: 'EXPIRED',
			reason: 'failed',
			error_message: 'kept for a day',
		},
		{ task_id: 'd', reason: 'timeout', video_url: 'https://cdn/x.mp4', progress: 40 },
	]);
});

test.each([
	[{ error: { message: 'not allowed', code: 'x' } }, 'not allowed'],
	[{ error: 'not allowed' }, 'not allowed'],
	[{ error: { code: 'x' } }, undefined],
	[{ error: { message: 'theirs' }, error_message: 'not allowed' }, 'not allowed'],
])('a failed task with %j says why', async (fields, message) => {
	const { outputs } = await wait({ a: [report('failed', fields)], b: [completed] });
	expect(outputs[FAILED]![0]!.json['error_message']).toBe(message);
});

test('fields of the service called reason and error change neither the output nor our fields', async () => {
	const odd = {
		...{ reason: 'none', error: 'none', history: 'theirs', waited_seconds: 'long' },
		delivered_at: 'then',
	};
	const { outputs } = await wait({
		a: [report('completed', odd)],
		b: [report('failed', { ...odd, error_message: 'moderation' })],
		c: [report('completed', { error: null, reason: null })],
	});
	expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a', 'c']);
	const [a] = outputs[COMPLETED]!;
	expect(a!.json).toMatchObject({
		service_reason: 'none',
		service_error: 'none',
		service_history: 'theirs',
		service_waited_seconds: 'long',
		service_delivered_at: 'then',
	});
	expect(a!.json).not.toHaveProperty('reason');
	expect(a!.json).not.toHaveProperty('error');
	expect(typeof a!.json['waited_seconds']).toBe('number');
	expect(outputs[FAILED]!.map(({ json: fields }) => fields)).toMatchObject([
		{ task_id: 'b', reason: 'failed', error_message: 'moderation', service_error: 'none' },
	]);
});

/** Task IDs that are names of fields that every object has. */
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

test('task IDs may be names that every object has, and numbers', async () => {
	const { outputs } = await wait({}, { items: ids(...NAMES, 123) });
	expect(idsOf(outputs[COMPLETED])).toStrictEqual([...NAMES, '123']);
});

test('so they may in a suspended wait, with Always Output Data', async () => {
	const items = [...NAMES, '123'];
	answers = new Map(items.map((id) => [id, [report('processing'), completed]]));
	const nodes = [
		{
			...packageNode('Wait', 'waitForVideo', {
				parameters: { download: false, waitMode: 'suspend' },
			}),
			alwaysOutputData: true,
		},
		stubNode('Done', (each) => each),
	];
	const wires = { Wait: [['Done']] };
	const first = await runWorkflow(nodes, wires, 'Wait', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: ids(...NAMES, 123),
	});
	expect(first.status).toBe('waiting');
	const resumeMs = first.run.waitTill!.getTime();
	jest.spyOn(Date, 'now').mockReturnValue(resumeMs);
	const last = await first.resume().finally(() => jest.restoreAllMocks());
	expect(last.status).toBe('success');
	expect(idsOf(allItems(last, 'Done').flat())).toStrictEqual(items);
	const [item] = last.outputs[COMPLETED]!;
	expect(item!.json['history']).toMatch(/^processing [\d.]+ s, completed [\d.]+ s$/);
});

/** What Create Video outputs where the service answers with this text. */
async function created(text: string) {
	const create = await startScriptedServer((response) => {
		response.writeHead(200, { 'content-type': 'application/json' });
		response.end(text);
	});
	const tables = dataTables();
	const run = async () =>
		await runNode('createVideo', {
			credential: { baseUrl: create.url, apiKey: 'k' },
			parameters: { prompt: 'A lake' },
			tables,
		});
	const { outputs, error } = await run().finally(create.stop);
	return { item: outputs[0]?.[0]?.json, error, rows: tables.rows };
}

test.each([
	[
		'{"task_id":"A","status":"queued","model":"m","data":{"task_id":"up-999","status":"submitted"}}',
		'A',
	],
	['{"task_id":"A","status":"queued","result":{"data":{"task_id":"up-999"}}}', 'A'],
	['{"task_id":"A","status":"queued","id":"req-1","output":[{"task_id":"up-999"}]}', 'A'],
	['{"status":"success","data":{"task_id":"A"}}', 'A'],
	['{"task_id":123,"status":"queued"}', '123'],
])(
	'the task of a creation is that of the answer itself, in output and ledger: %s',
	async (text, id) => {
		const { item, rows } = await created(text);
		expect(item).toMatchObject({ task_id: id });
		expect(rows).toMatchObject([{ task_id: id }]);
	},
);

test.each([
	[
		'{"data":[{"task_id":"A","status":"queued"},{"task_id":"B","status":"queued"}]}',
		/2 tasks[^]*The service said: "A, B"/,
	],
	[
		'{"code":0,"result":{"task_id":"A"},"output":{"task_id":"B"}}',
		/2 tasks[^]*The service said: "A, B"/,
	],
	['{"task_id":12345678901234567891,"status":"queued"}', /the number 12345678901234567000, /],
])(
	'a creation that does not say which task it is names what came, with an unknown outcome: %s',
	async (text, words) => {
		const { item, error, rows } = await created(text);
		expect(item).toBeUndefined();
		expect(`${error!.message}. ${error!.description}`).toMatch(words);
		expect(error!.message).toMatch(/the task may have been created\. Retry does not send/);
		expect(error).toMatchObject({ context: { data: { outcome_unknown: true } } });
		// Nothing sends it again before a person has looked.
		expect(rows).toMatchObject([{ status: 'sent' }]);
	},
);

test.each<[object, string]>([
	[{ message: 'own words', code: 400 }, `${FAILURE.badParameter}: own words`],
	[{ message: 'own words' }, `${FAILURE.noStatus}: own words`],
])('an error with status 200 is one of the service: %j', async (error, words) => {
	const { status, outputs } = await wait({
		a: [
			(response) => {
				json(response, 200, { error });
			},
		],
	});
	expect(status).toBe('success');
	expect(outputs[FAILED]).toMatchObject([
		{ json: { task_id: 'a', reason: 'refused', error_message: words } },
	]);
});

const VIDEO = { status: 'completed', video_url: 'https://cdn/x.mp4' };

test.each<[string, object]>([
	['a status', { task_id: 'a', ...VIDEO, data: { status: 'processing' } }],
	['another task', { task_id: 'a', ...VIDEO, data: { task_id: 'up-999', status: 'processing' } }],
	['a failure', { task_id: 'a', ...VIDEO, output: [{ status: 'failed', error_message: '' }] }],
	['another task beside the URL', { ...VIDEO, result: { id: 'up-999', status: 'queued' } }],
])('with the video in hand, %s in a wrapper changes nothing', async (_name, body) => {
	const { outputs } = await wait({
		a: [
			(response) => {
				json(response, 200, body);
			},
		],
	});
	expect(outputs[COMPLETED]).toMatchObject([{ json: { task_id: 'a', ...VIDEO } }]);
	expect(asked).toHaveLength(1);
});

test.each<[object, string]>([
	[{ status: 'failed', error_message: 'too dark', data: { status: 'processing' } }, 'too dark'],
	[
		{
			task_id: 'a',
			status: 'failed',
			error_message: 'too dark',
			result: { task_id: 'up', status: 'completed' },
		},
		'too dark',
	],
	[
		{
			task_id: 'a',
			status: 'FAILED',
			data: { error_message: 'too dark', status: 'processing' },
		},
		'too dark',
	],
	[
		{
			task_id: 'a',
			status: 'completed',
			error_message: 'prompt is longer than 2500 characters',
		},
		'prompt is longer than 2500 characters',
	],
	[{ task_id: 'a', status: 'error', video_url: '', error: { message: 'unsafe' } }, 'unsafe'],
	[{ data: { task_id: 'a', status: 'failed', video_url: null, err_msg: 'unsafe' } }, 'unsafe'],
])(
	'a final report without URL ends the wait at once, with the words of the service: %j',
	async (body, words) => {
		const { outputs } = await wait({
			a: [
				(response) => {
					json(response, 200, body);
				},
			],
			b: [completed],
		});
		expect(outputs[FAILED]).toMatchObject([
			{ json: { task_id: 'a', reason: 'failed', error_message: words } },
		]);
		expect(asked).toHaveLength(2);
	},
);

test('our words about a video never take the place of those of the service', async () => {
	const error_message = 'slow today';
	const { outputs } = await wait({
		a: [report('processing', { error_message })],
		b: [report('queued', { error_message }), own(404)],
	});
	expect(outputs[FAILED]!.map(({ json: fields }) => fields)).toMatchObject([
		{
			reason: 'timeout',
			error_message,
			explanation: expect.stringMatching(/^Not finished after 600 seconds/) as string,
		},
		{
			reason: 'refused',
			error_message,
			explanation: 'The service does not know this task: own words',
		},
	]);
});

test.each<[string, object]>([
	[
		'a status list',
		{
			data: [
				{ id: 'z', ...VIDEO },
				{ id: 'a', status: 'queued' },
			],
		},
	],
	[
		'two wrappers',
		{ data: { task_id: 'z', ...VIDEO }, result: { task_id: 'a', status: 'queued' } },
	],
	[
		'nested lists',
		{
			code: 0,
			data: {
				output: [
					{ taskId: 'z', ...VIDEO },
					{ taskId: 'a', ...VIDEO },
				],
			},
		},
	],
])("another task's video is never delivered: %s", async (_name, body) => {
	const { outputs } = await wait({
		a: [
			(response) => {
				json(response, 200, body);
			},
		],
		b: [completed],
	});
	expect(idsOf(outputs[COMPLETED])).toStrictEqual(['b']);
	expect(outputs[FAILED]).toMatchObject([
		{ json: { error_message: 'The service answered about 2 tasks: z, a in place of a' } },
	]);
});

describe('an answer about another task', () => {
	const other = report('completed', { task_id: 'z' });

	test('between two good ones delays the outcome', async () => {
		const { outputs } = await wait({ a: [report('processing'), other, completed] });
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a']);
		expect(asked).toHaveLength(3);
	});

	test('is never the outcome', async () => {
		const { outputs } = await wait({ a: [other], b: [report('completed', { task_id: 'B ' })] });
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['b']);
		const words = /^The service answered about another task: z in place of a$/;
		expect(outputs[FAILED]).toMatchObject([
			{ json: { task_id: 'a', error_message: expect.stringMatching(words) as string } },
		]);
	});
});
