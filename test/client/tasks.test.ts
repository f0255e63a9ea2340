import { createVideo, queryTask, taskState } from '../../nodes/client/video/tasks';
import { answeringPort, outcomeOf } from '../support/answeringPort';
import { FAILURE } from '../support/failureTexts';

// Services write it both ways. cspell:ignore cancelled
const video_url = 'https://files.example/a.mp4';

test.each([
	[
		'completed',
		'completed|Completed|COMPLETED|complete|succeeded|SUCCESS|finished|Done| completed ',
	],
	[
		'failed',
		'failed|FAILED|Fail|failure|error|ERROR|expired|Expired|canceled|CANCELLED|rejected',
	],
	[undefined, 'init|queued|processing|unknown|QUEUED|Processing|PENDING|in_progress|In Progress'],
	[undefined, 'ready|successful|job.failed|TASK_STATUS_SUCCEEDED|timeout|timed_out|aborted|'],
	[undefined, 'not_started|not done|incomplete|undone|unsuccessful|200|-|\u0130'],
])('the state of a task is %s by its exact status in any case: %s', (state, words) => {
	const states = words.split('|').map((status) => [status, taskState({ status })]);
	expect(states).toStrictEqual(words.split('|').map((status) => [status, state]));
});

const answers = (body: object) => answeringPort([Buffer.from(JSON.stringify(body))]);
/** What the service says about a task of this ID. */
const query = async (body: object, taskId = 't') => await queryTask(answers(body), taskId, 1_000);
const create = async (body: object) =>
	await createVideo(answers(body), { prompt: 'A lake', model: 'video-m1' }, 1_000);
/** A task with its status, as the service reports it. */
const task = (status: string, task_id = 't') => ({ task_id, status });
/** The same under the names that others use. */
const other = (status: string, id = 't') => ({ id, status });
const done = { ...task('completed'), video_url };
const queued = task('queued');

test('the model is the one that the service used, not the one of the request', async () => {
	expect(await create({ ...queued, model: 'video-m2' })).toMatchObject({ model: 'video-m2' });
});

test.each(['2026-01-02T03:04:05Z', 1_767_322_800, null])(
	'created_at %j is output, null is left out',
	async (created_at) => {
		const kept = created_at === null ? {} : { created_at };
		expect(await create({ ...queued, created_at })).toStrictEqual({ ...queued, ...kept });
	},
);

describe('an answer without a task', () => {
	const DOUBT = '; the task may have been created';
	const no = 'No more seats';
	const OUTSIDE = 'Unexpected response: this is not the Agent Video API';
	test.each<[object, message: string, isUnknown?: boolean]>([
		[{ code: 1102, message: 'Account balance not enough', data: null }, FAILURE.noCredit],
		[{ code: 1102, message: no, data: null }, FAILURE.noStatus],
		[{ error: { message: no, type: 'seats' } }, FAILURE.noStatus],
		[{ error: { message: 'No', code: 'insufficient_quota' } }, FAILURE.noCredit],
		[{ success: false, error_code: 'x', error_msg: no }, FAILURE.noStatus],
		[{ error: { message: no } }, FAILURE.noStatus, true],
		[{ error: no }, FAILURE.noStatus, true],
		[{ message: no, type: 'notice' }, FAILURE.noStatus, true],
		[{ message: 'Insufficient balance' }, FAILURE.noCredit, true],
		[{ error: { message: 'No', code: 502 } }, FAILURE.proxy, true],
		[{ model: 'video-m2' }, OUTSIDE, true],
	])('%j', async (body, message, isUnknown = false) => {
		await expect(create(body)).rejects.toMatchObject({
			message: `${message}${isUnknown ? DOUBT : ''}`,
			details: { outcomeUnknown: isUnknown },
		});
		const serviceMessage = expect.stringMatching(/\w/) as string;
		expect(await outcomeOf(query(body, 'a'))).toMatchObject({
			message,
			details: { serviceMessage },
		});
	});

	test.each([[{ data: { task_id: 't' } }], [{ data: [] }], [{}], [{ data: { data: {} } }]])(
		'an answer without a status is none: %j',
		async (body) => {
			await expect(query(body)).rejects.toMatchObject({ kind: 'protocol' });
		},
	);
});

describe('what a gateway wraps an answer into', () => {
	const envelope = { code: 0, message: 'ok' };
	const failed = { ...task('failed'), error_message: 'no' };
	test.each<[string, object, object]>([
		['nothing', done, done],
		['data', { data: done }, done],
		['result', { result: done }, done],
		['output', { output: done }, done],
		['a list', { data: [done] }, done],
		['two wrappers', { code: 0, data: { output: done } }, done],
		['parts in both', { ...queued, status: 'completed', output: { video_url } }, done],
		['a status of the request', { status: 'success', data: queued }, queued],
		['a failure', { status: 'success', data: failed }, failed],
		['an empty field', { ...done, data: { status: 'completed', video_url: null } }, done],
		['an empty field outside', { ...done, video_url: null, data: { video_url } }, done],
		['a URL without a status', { data: { video_url } }, done],
		['a status without an ID', { ...envelope, data: { status: 'queued' } }, queued],
		['an ID under another name', { status: 'success', data: other('queued') }, queued],
		['the ID of the request', { id: 'r-1', data: queued }, queued],
		['fields that are not about a task', { ...done, output: { format: 'mp4' } }, done],
		['an ID that is none of a task', { ...done, output: { id: 'file-1' } }, done],
		['a status that is a number', { task_id: 't', status: 2 }, task('2')],
	])('%s', async (_name, body, report) => {
		expect(await query(body)).toMatchObject(report);
	});

	const outer = { status: 'failed', error_message: 'no' };
	const request = { ...queued, id: 'req-1' };
	test.each<[string, object, object]>([
		['a status', { ...done, data: { status: 'processing' } }, done],
		['another task', { ...done, data: task('processing', 'up-999') }, done],
		['a list of files', { ...done, output: [{ id: 'a' }, { id: 'b' }] }, done],
		['an error', { ...done, result: { status: 'failed', error_message: null } }, done],
		['a status without an ID outside', { ...outer, data: { status: 'processing' } }, outer],
		['a status beside another ID', { ...request, data: other('completed', 'x') }, request],
		['a URL', { status: 'completed', video_url, data: { status: 'processing' } }, done],
	])('%s in a wrapper overrules nothing', async (_name, body, report) => {
		expect(await query(body)).toMatchObject(report);
	});

	test('what an envelope says of itself is nothing of the task', async () => {
		const data = task('failed');
		expect(await query({ ...envelope, trace_id: 'x', data })).toStrictEqual(data);
	});
});

describe('tasks that were not asked for', () => {
	test.each<[object, string]>([
		[{ data: [{ ...done, task_id: 'u' }, queued] }, 'u, t in place of t'],
		[{ data: [other('completed', 'u'), other('queued')] }, 'u, t in place of t'],
		[{ data: queued, result: { ...done, task_id: 'u' } }, 't, u in place of t'],
		[
			{ code: 0, data: { output: [{ taskId: 'u', status: 'queued' }, queued] } },
			'u, t in place of t',
		],
	])('two tasks are none: %j', async (body, ids) => {
		expect(await outcomeOf(query(body))).toMatchObject({
			kind: 'protocol',
			message: 'The service answered about 2 tasks',
			details: { serviceMessage: ids },
		});
	});

	test.each<[object, string]>([
		[{ ...done, task_id: 'u' }, 'u'],
		[{ ...other('completed', 'u'), video_url }, 'u'],
		[{ taskId: 'u', ...other('queued') }, 'u'],
		[{ data: [other('completed', 'u')] }, 'u'],
		[{ data: { ...done, task_id: 7 } }, '7'],
	])('an answer about another task says which: %j', async (body, id) => {
		expect(await outcomeOf(query(body))).toMatchObject({
			message: 'The service answered about another task',
			details: { serviceMessage: `${id} in place of t` },
		});
	});
});

describe('a creation, which is paid for', () => {
	test.each<[string, object, object]>([
		['in a wrapper', { code: 0, data: queued }, queued],
		['beside another task in a wrapper', { ...queued, data: task('sent', 'up-9') }, queued],
		['beside a list of tasks', { ...queued, output: [{ task_id: 'up-9' }] }, queued],
		['without a status', { task_id: 't', result: other('queued', 'up-9') }, queued],
		['beside the ID of the request', { ...queued, id: 'req-1' }, { ...queued, id: 'req-1' }],
	])('has the task ID of its own level: %s', async (_name, body, created) => {
		expect(await create(body)).toMatchObject(created);
	});

	test.each<[object]>([
		[{ data: [task('queued', 'a'), task('queued', 'b')] }],
		[{ data: { task_id: 'a' }, result: { task_id: 'b' } }],
		[{ code: 0, data: { output: [{ task_id: 'a' }, { task_id: 'b' }] } }],
	])('of two tasks both are named, and paid for: %j', async (body) => {
		expect(await outcomeOf(create(body))).toMatchObject({
			message: 'The service answered about 2 tasks; the task may have been created',
			advice: expect.arrayContaining(['checkTask']) as unknown,
			details: { outcomeUnknown: true, serviceMessage: 'a, b' },
		});
	});

	test('a number that JSON has rounded is no ID', async () => {
		const task_id = 12345678901234567000;
		const message = expect.stringContaining('12345678901234567000') as string;
		const details = { outcomeUnknown: true };
		expect(await outcomeOf(create({ task_id }))).toMatchObject({ message, details });
		const asked = query({ task_id, status: 'queued' }, `${task_id}`);
		expect(await outcomeOf(asked)).toMatchObject({ message });
		const read = { task_id: '123' };
		expect(await create({ task_id: 123 })).toMatchObject(read);
		expect(await query({ task_id: 123, status: 'queued' }, '123')).toMatchObject(read);
	});
});
