import type { ServiceError } from '../../nodes/client/errors';
import { createVideo, queryTask, taskState } from '../../nodes/client/video/tasks';
import { answeringPort } from '../support/answeringPort';

// Services write it both ways. cspell:ignore cancelled
const video_url = 'https://files.example/a.mp4';

describe('the state of a task, by its exact status in any case', () => {
	test.each([
		['completed', 'completed Completed COMPLETED complete succeeded SUCCESS finished Done'],
		[
			'failed',
			'failed FAILED Fail failure error ERROR expired Expired canceled CANCELLED rejected',
		],
		[undefined, 'init queued processing unknown QUEUED Processing PENDING in_progress'],
		[undefined, 'ready successful job.failed TASK_STATUS_SUCCEEDED timeout timed_out aborted'],
		[undefined, 'not_started incomplete undone unsuccessful 200 - \u0130'],
	])('%s: %s', (state, words) => {
		const states = words.split(' ').map((status) => [status, taskState({ status })]);
		expect(states).toStrictEqual(words.split(' ').map((status) => [status, state]));
	});

	test.each([
		['completed', ' completed '],
		[undefined, 'In Progress'],
		[undefined, 'not done'],
		[undefined, ''],
	])('%s: %j', (state, status) => {
		expect(taskState({ status })).toBe(state);
	});
});

/** What the service says about a task of this ID. */
const query = async (body: object, taskId = 't') =>
	await queryTask(answeringPort(body), taskId, 1_000);
const create = async (body: object) =>
	await createVideo(answeringPort(body), { prompt: 'A lake', model: 'video-m1' }, 1_000);
const failureOf = async (work: Promise<unknown>) =>
	await work.then(
		() => undefined,
		(error: unknown) => error as ServiceError,
	);

describe('what a gateway wraps an answer into', () => {
	const done = { task_id: 't', status: 'completed', video_url };
	const queued = { task_id: 't', status: 'queued' };
	const envelope = { code: 0, message: 'ok' };
	test.each<[string, object, object]>([
		['nothing', done, done],
		['data', { data: done }, done],
		['result', { result: done }, done],
		['output', { output: done }, done],
		['a list', { data: [done] }, done],
		['two wrappers', { code: 0, data: { output: done } }, done],
		['parts in both', { ...queued, status: 'completed', output: { video_url } }, done],
		['a status of the request', { status: 'success', data: queued }, queued],
		[
			'a failure',
			{ status: 'success', data: { ...queued, status: 'failed', error_message: 'no' } },
			{ ...queued, status: 'failed', error_message: 'no' },
		],
		['an empty field', { ...done, data: { status: 'completed', video_url: null } }, done],
		['an empty field outside', { ...done, video_url: null, data: { video_url } }, done],
		['a URL without a status', { data: { video_url } }, done],
		['a status without an ID', { ...envelope, data: { status: 'queued' } }, queued],
		[
			'an ID under another name',
			{ status: 'success', data: { id: 't', status: 'queued' } },
			queued,
		],
		['the ID of the request', { id: 'r-1', data: queued }, queued],
		['fields that are not about a task', { ...done, output: { format: 'mp4' } }, done],
		['an ID that is none of a task', { ...done, output: { id: 'file-1' } }, done],
		['a status that is a number', { task_id: 't', status: 2 }, { task_id: 't', status: '2' }],
	])('%s', async (_name, body, report) => {
		expect(await query(body)).toMatchObject(report);
	});

	test.each<[string, object, object]>([
		['a status', { ...done, data: { status: 'processing' } }, done],
		['another task', { ...done, data: { task_id: 'up-999', status: 'processing' } }, done],
		['a list of files', { ...done, output: [{ id: 'a' }, { id: 'b' }] }, done],
		['an error', { ...done, result: { status: 'failed', error_message: null } }, done],
		[
			'a status without an ID outside',
			{ status: 'failed', error_message: 'no', data: { status: 'processing' } },
			{ status: 'failed', error_message: 'no' },
		],
		[
			'a status beside another ID',
			{ ...queued, id: 'req-1', data: { id: 'x', status: 'completed' } },
			{ ...queued, id: 'req-1' },
		],
		['a URL', { status: 'completed', video_url, data: { status: 'processing' } }, done],
	])('%s in a wrapper overrules nothing', async (_name, body, report) => {
		expect(await query(body)).toMatchObject(report);
	});

	test('what an envelope says of itself is nothing of the task', async () => {
		const failed = { ...queued, status: 'failed' };
		expect(await query({ ...envelope, trace_id: 'x', data: failed })).toStrictEqual(failed);
	});

	test.each<[object, string]>([
		[{ data: [{ ...done, task_id: 'u' }, queued] }, 'u, t in place of t'],
		[
			{
				data: [
					{ id: 'u', status: 'completed', video_url },
					{ id: 't', status: 'queued' },
				],
			},
			'u, t in place of t',
		],
		[{ data: queued, result: { ...done, task_id: 'u' } }, 't, u in place of t'],
		[
			{ code: 0, data: { output: [{ taskId: 'u', status: 'queued' }, queued] } },
			'u, t in place of t',
		],
	])('two tasks are none: %j', async (body, ids) => {
		expect(await failureOf(query(body))).toMatchObject({
			kind: 'protocol',
			message: 'The service answered about 2 tasks',
			details: { serviceMessage: ids },
		});
	});

	test.each<[object, string]>([
		[{ ...done, task_id: 'u' }, 'u'],
		[{ id: 'u', status: 'completed', video_url }, 'u'],
		[{ taskId: 'u', id: 't', status: 'queued' }, 'u'],
		[{ data: [{ id: 'u', status: 'completed', video_url }] }, 'u'],
		[{ data: { ...done, task_id: 7 } }, '7'],
	])('an answer about another task says which: %j', async (body, id) => {
		expect(await failureOf(query(body))).toMatchObject({
			message: 'The service answered about another task',
			details: { serviceMessage: `${id} in place of t` },
		});
	});

	test('a wrapped creation keeps its task ID: it is paid for', async () => {
		expect(await create({ code: 0, data: queued })).toMatchObject(queued);
	});

	test.each<[object, object]>([
		[
			{ ...queued, model: 'm', data: { task_id: 'up-999', status: 'submitted' } },
			{ ...queued, model: 'm' },
		],
		[{ ...queued, output: [{ task_id: 'up-999' }] }, queued],
		[{ task_id: 't', result: { id: 'up-999', status: 'queued' } }, queued],
		[
			{ ...queued, id: 'req-1' },
			{ ...queued, id: 'req-1' },
		],
	])('a creation has the task ID of its own level: %j', async (body, created) => {
		expect(await create(body)).toMatchObject(created);
	});

	test.each<[object]>([
		[
			{
				data: [
					{ task_id: 'a', status: 'queued' },
					{ task_id: 'b', status: 'queued' },
				],
			},
		],
		[{ data: { task_id: 'a' }, result: { task_id: 'b' } }],
		[{ code: 0, data: { output: [{ task_id: 'a' }, { task_id: 'b' }] } }],
	])('of two tasks of a creation both are named, and paid for: %j', async (body) => {
		expect(await failureOf(create(body))).toMatchObject({
			message: 'The service answered about 2 tasks; the task may have been created',
			advice: expect.arrayContaining(['checkTask']) as unknown,
			details: { outcomeUnknown: true, serviceMessage: 'a, b' },
		});
	});

	test('a number that JSON has rounded is no ID', async () => {
		const task_id = 12345678901234567000;
		const quoted = expect.stringContaining('12345678901234567000') as string;
		expect(await failureOf(create({ task_id }))).toMatchObject({
			message: quoted,
			details: { outcomeUnknown: true },
		});
		expect(await failureOf(query({ task_id, status: 'queued' }, `${task_id}`))).toMatchObject({
			message: quoted,
		});
		expect(await create({ task_id: 123 })).toMatchObject({ task_id: '123' });
		expect(await query({ task_id: 123, status: 'queued' }, '123')).toMatchObject({
			task_id: '123',
		});
	});

	test.each([[{ data: { task_id: 't' } }], [{ data: [] }], [{}], [{ data: { data: {} } }]])(
		'an answer without a status is none: %j',
		async (body) => {
			await expect(query(body)).rejects.toMatchObject({ kind: 'protocol' });
		},
	);
});
