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
import { json, serverForEach, startScriptedServer, type Script } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { FAILURE } from '../support/failureTexts';

type Answer = (response: Parameters<Script>[0], taskId: string) => void;

const page =
	(status: number): Answer =>
	(response) => {
		response.writeHead(status, { 'content-type': 'text/html' });
		response.end('<html><body><h1>404 page of nginx</h1></body></html>');
	};
const report =
	(status: string, more: object = {}): Answer =>
	(response, task_id) => {
		json(response, 200, { task_id, status, video_url: 'https://cdn/x.mp4', ...more });
	};
const completed = report('completed');

/** The answers of each task, the last one forever. Every other task is completed. */
let answers: ReadonlyMap<string, readonly Answer[]>;
let asked: string[];

const server = serverForEach((response, { body }) => {
	const { task_id: taskId } = body as { task_id: string };
	const list = answers.get(taskId) ?? [completed];
	const nth = asked.filter((each) => each === taskId).length;
	asked.push(taskId);
	list[Math.min(nth, list.length - 1)]!(response, taskId);
});

beforeEach(() => {
	asked = [];
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

describe('without any good answer', () => {
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
		expect(error!.description).toContain('Tasks still generating: a, b');
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
