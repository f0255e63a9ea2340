import { queryTask, createVideo } from '../../nodes/client/video/tasks';
import { taskState } from '../../nodes/client/video/taskState';
import { answeringPort } from '../support/answeringPort';

// Services write it both ways. cspell:ignore cancelled
const video_url = 'https://files.example/a.mp4';

describe('the state of a task, by its status in any case and spelling', () => {
	test.each([
		['completed', 'completed Completed COMPLETED complete SUCCEEDED succeeded Succeed success'],
		['completed', 'SUCCESSFUL done Done finished TASK_STATUS_SUCCEEDED taskCompleted ready'],
		['failed', 'failed FAILED Fail failure error ERROR errored expired Expired canceled'],
		['failed', 'CANCELLED cancelled rejected aborted timeout TIMED_OUT timed-out job.failed'],
		['unfinished', 'init queued processing unknown QUEUED Processing PENDING in_progress'],
		['unfinished', 'In-Progress Queueing running RUNNING submitted not_started warming_up'],
		['unfinished', 'incomplete undone unsuccessful TASK_STATUS_PROCESSING 200 - \u0130'],
	])('%s: %s', (state, words) => {
		const states = words.split(' ').map((status) => [status, taskState({ status })]);
		expect(states).toStrictEqual(words.split(' ').map((status) => [status, state]));
	});

	test.each([
		['completed', ' completed '],
		['unfinished', 'In Progress'],
		['unfinished', ''],
	])('%s: %j', (state, status) => {
		expect(taskState({ status })).toBe(state);
	});

	test.each([
		['an unknown word with a URL', 'warming_up', { video_url }, 'completed'],
		['a known one with a URL', 'processing', { video_url }, 'unfinished'],
		['a failure with a URL', 'FAILED', { video_url }, 'failed'],
		['an unknown word with what is no URL', 'warming_up', { video_url: 'soon' }, 'unfinished'],
		['one with a path', 'warming_up', { video_url: '/cdn/x.mp4' }, 'unfinished'],
		['one with an object', 'warming_up', { video_url: {} as never }, 'unfinished'],
	])('%s', (_name, status, fields, state) => {
		expect(taskState({ status, ...fields })).toBe(state);
	});
});

describe('what a gateway wraps an answer into', () => {
	const done = { task_id: 't', status: 'completed', video_url };
	const queued = { task_id: 't', status: 'queued' };
	test.each<[string, object, object]>([
		['nothing', done, done],
		['data', { data: done }, done],
		['result', { result: done }, done],
		['output', { output: done }, done],
		['a list', { data: [done] }, done],
		['two wrappers', { code: 0, data: { output: done } }, { code: 0, ...done }],
		['parts in both', { ...queued, status: 'completed', output: { video_url } }, done],
		['a status of the request', { status: 'success', data: queued }, queued],
		[
			'a failure',
			{ status: 'success', data: { ...queued, status: 'failed', error_message: 'no' } },
			{ ...queued, status: 'failed', error_message: 'no' },
		],
		['an empty field', { ...done, data: { status: 'completed', video_url: null } }, done],
		['a URL without a status', { data: { video_url } }, done],
		['fields that are not about a task', { ...done, output: { format: 'mp4' } }, done],
		['a status that is a number', { task_id: 't', status: 2 }, { task_id: 't', status: '2' }],
	])('%s', async (_name, body, report) => {
		expect(await queryTask(answeringPort(body), 't', 1_000)).toMatchObject(report);
	});

	test('a wrapped creation keeps its task ID: it is paid for', async () => {
		const request = { prompt: 'A lake', model: 'video-m1' };
		const wrapped = answeringPort({ code: 0, data: queued });
		expect(await createVideo(wrapped, request, 1_000)).toMatchObject(queued);
	});

	test.each([[{ data: { task_id: 't' } }], [{ data: [] }], [{}], [{ data: { data: {} } }]])(
		'an answer without a status is none: %j',
		async (body) => {
			await expect(queryTask(answeringPort(body), 't', 1_000)).rejects.toMatchObject({
				kind: 'protocol',
			});
		},
	);
});
