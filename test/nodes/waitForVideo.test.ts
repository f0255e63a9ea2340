import type { IDataObject } from 'n8n-workflow';

import { POLL, reject, reply, videoService, type Answer } from '../support/createdVideos';
import { canceler, runNode, type RunOptions } from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { COMPLETED, ERROR, FAILED } from '../support/waitOutputs';
import { CONNECTED, fieldsOf, ids, idsOf, waitIn } from '../support/waitRuns';

const FILE = sampleFile('video/mp4');
const VIDEO = 'https://cdn.example/a.mp4';
const completed = (more: object = {}) => reply({ status: 'completed', video_url: VIDEO, ...more });
const failed = (more: object) => reply({ status: 'failed', ...more });
const COMPLETE = completed();
const PROCESSING = reply({ status: 'processing' });
const MODERATED = failed({ error_message: 'moderation' });
const BAD_KEY = reject(401);

const service = videoService();
const { server } = service;

/** Waits in virtual time for tasks with these answers, without their files. */
async function wait(
	tasks: typeof service.answers,
	{ parameters, ...more }: Partial<RunOptions> = {},
	node = 'waitForVideo',
) {
	service.answers = tasks;
	return await withFakeTimers(
		async () =>
			await runNode(node, {
				...service.environment(),
				items: ids(...Object.keys(tasks)),
				...more,
				parameters: { download: false, ...parameters },
			}),
	);
}

const GO_ON = { onError: 'continueErrorOutput' } as const;

test('a completed video has its file, which is downloaded without the API key', async () => {
	const said = {
		status: 'completed',
		model: 'video-m1',
		video_url: `${server.url}/cdn/a.mp4`,
		thumbnail_url: `${server.url}/cdn/a.jpg`,
		enhanced_prompt: 'A quiet lake',
	};
	const { outputs } = await wait({ 'task-1': reply(said) }, { parameters: { download: true } });
	expect(server.requests[0]).toMatchObject({
		method: 'POST',
		path: '/v1/videos/tasks',
		headers: { authorization: 'Bearer k-secret' },
		body: { task_id: 'task-1' },
	});
	const [item] = outputs[COMPLETED]!;
	expect(item!.json).toStrictEqual({
		...said,
		task_id: 'task-1',
		file: { bytes: FILE.length, type: 'video/mp4' },
		output: `The video is ready: ${said.video_url}`,
		waited_seconds: expect.any(Number) as number,
		history: expect.stringMatching(/^completed [\d.]+ s$/) as string,
	});
	expect(item!.pairedItem).toStrictEqual({ item: 0 });
	expect(item!.binary!['data']).toMatchObject({
		mimeType: 'video/mp4',
		fileName: 'task-1.mp4',
		data: FILE.toString('base64'),
	});
	const download = server.requests.find(({ path }) => path === '/cdn/a.mp4');
	expect(download!.headers.authorization).toBeUndefined();
	expect(outputs[FAILED]).toStrictEqual([]);
});

test('failed videos use the output Failed, with their reason and without an error key', async () => {
	const { status, outputs } = await wait({
		'task-1': failed({ error_message: 'moderation', model: 'video-m1' }),
	});
	expect(status).toBe('success');
	expect(outputs).toStrictEqual([
		[],
		[
			{
				json: {
					task_id: 'task-1',
					status: 'failed',
					model: 'video-m1',
					reason: 'failed',
					output: 'The video failed',
					error_message: 'moderation',
					waited_seconds: expect.any(Number) as number,
					history: expect.stringMatching(/^failed [\d.]+ s$/) as string,
				},
				pairedItem: { item: 0 },
			},
		],
	]);
});

describe('items', () => {
	test('of one task are polled once, and come out each', async () => {
		const { outputs } = await wait({}, { items: ids('a', 'b', 'a') });
		expect(outputs[COMPLETED]).toMatchObject([
			{ json: { task_id: 'a' }, pairedItem: { item: 0 } },
			{ json: { task_id: 'b' }, pairedItem: { item: 1 } },
			{ json: { task_id: 'a' }, pairedItem: { item: 2 } },
		]);
		expect(service.requested(POLL).sort()).toStrictEqual(['a', 'b']);
	});

	test('without a task ID are errors where the node goes on; the hint counts tasks, not items', async () => {
		const more = { items: ids('a', 'a', 'b', ''), ...GO_ON };
		const { outputs, run } = await wait({ a: MODERATED }, more);
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['b']);
		expect(fieldsOf(outputs[ERROR])).toMatchObject([{ error: 'Task ID is empty' }]);
		expect(run.data.resultData.runData['Tested']!.at(-1)!.hints!.at(-1)).toStrictEqual({
			message: '1 finished, 1 failed, after 0 s, and items without a task ID',
			type: 'warning',
			location: 'outputPane',
		});
	});

	test.each<[IDataObject, string]>([
		[{}, 'Task ID is empty'],
		[{ binaryProperty: '={{ ["a", "__proto__"][$itemIndex] }}' }, 'Put Output File in'],
		[{ options: { fileName: '={{ ["a", []][$itemIndex] }}' } }, 'File Name is []'],
	])('of which one has %j stop the node, by its error', async (parameters, message) => {
		const more = { items: ids('a', ''), parameters: { download: true, ...parameters } };
		const { error } = await wait({}, more);
		expect(error!.message).toContain(message);
		expect(error).toMatchObject({ context: { itemIndex: 1 } });
		expect(server.requests).toHaveLength(0);
	});

	test('of a malformed base URL are an error each where the node goes on', async () => {
		const options = { items: ids('a', 'b'), credential: { baseUrl: 'not a URL', apiKey: 'k' } };
		const { outputs } = await wait({}, { ...options, ...GO_ON });
		expect(outputs.slice(0, ERROR)).toStrictEqual([[], []]);
		const problem = { error: expect.stringContaining('Base URL') as string };
		expect(fieldsOf(outputs[ERROR])).toMatchObject([problem, problem]);
		const regular = await wait({}, { ...options, onError: 'continueRegularOutput' });
		expect(regular.outputs.map((items) => items.length)).toStrictEqual([0, 2]);
		expect((await wait({}, options)).error!.message).toContain('Base URL');
	});

	test('of a tool all use the first output, which agents read, whatever became of the video', async () => {
		const parameters = { taskId: '={{ $json.task_id }}', waitMode: 'suspend' };
		const { status, outputs } = await wait(
			{ a: COMPLETE, b: MODERATED },
			{ parameters },
			'waitForVideoTool',
		);
		expect(status).toBe('success');
		expect(outputs.map(idsOf)).toStrictEqual([['a', 'b']]);
		expect(fieldsOf(outputs[COMPLETED]).map(({ reason }) => reason)).toStrictEqual([
			undefined,
			'failed',
		]);
	});
});

test('fields of the service called reason and error change neither the output nor our fields', async () => {
	const odd = {
		...{ reason: 'none', error: 'none', history: 'theirs', waited_seconds: 'long' },
		delivered_at: 'then',
	};
	const { outputs } = await wait({
		a: completed(odd),
		b: failed({ ...odd, error_message: 'moderation' }),
		c: completed({ error: null, reason: null }),
	});
	expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a', 'c']);
	const [a] = fieldsOf(outputs[COMPLETED]);
	expect(a).toMatchObject({
		service_reason: 'none',
		service_error: 'none',
		service_history: 'theirs',
		service_waited_seconds: 'long',
		service_delivered_at: 'then',
		waited_seconds: expect.any(Number) as number,
	});
	expect(a).not.toHaveProperty('reason');
	expect(a).not.toHaveProperty('error');
	expect(fieldsOf(outputs[FAILED])).toMatchObject([
		{ task_id: 'b', reason: 'failed', error_message: 'moderation', service_error: 'none' },
	]);
});

test('an answer about another task is never the outcome', async () => {
	const other = completed({ task_id: 'z' });
	const { outputs } = await wait({ a: other, b: completed({ task_id: 'B ' }) });
	expect(idsOf(outputs[COMPLETED])).toStrictEqual(['b']);
	expect(fieldsOf(outputs[FAILED])).toMatchObject([
		{
			task_id: 'a',
			error_message: 'The service answered about another task: z in place of a',
		},
	]);
});

describe('a lost video: message, advice and list say the same', () => {
	const parameters = { options: { maximumWait: 1, onFailed: 'fail' } };
	const LATE = 'Not finished after 60 seconds; the task may still complete';
	const GONE = 'The service does not know this task: no task';
	const POLLS = 'Retry polls only what is left, free of charge';
	const STAYS = 'Retry does not change what failed at the service, and costs nothing';
	const NOT_FOUND = reply({ error: { message: 'no task' } }, 404);

	test.each<[string, Answer, why: string, retry: string, advice: string, list: string]>([
		[
			...(['late', PROCESSING, LATE, POLLS] as const),
			'Wait for Video gets a late video by its task ID, free of charge',
			'Tasks not finished in time',
		],
		[
			...(['unknown to the service', NOT_FOUND, GONE, POLLS] as const),
			'Check that Base URL and API key are those that the task was created with',
			'Tasks that the service rejects',
		],
		[
			...(['moderated', MODERATED, 'moderation', STAYS] as const),
			'Create what failed again from its item only, which is charged',
			'Tasks failed',
		],
	])('%s', async (_name, lost, why, retry, advice, list) => {
		const { error, outputs } = await wait({ a: COMPLETE, b: lost }, { parameters });
		expect(error!.message).toBe(`1 of 2 videos failed: b (${why}). 1 has gone on: a. ${retry}`);
		// n8n prints one for an error that has it.
		expect(error).not.toHaveProperty('context.itemIndex');
		const { description } = error!;
		expect(description).toMatch(/^To go on without them, set On Failed Videos to Send to /);
		expect(description).toContain(`free of charge. ${advice}. Executing the whole workflow`);
		expect(description).toMatch(/Idempotency Key\. Tasks completed: a \(http/);
		expect(description!.endsWith(`). ${list}: b: ${why}.`)).toBe(true);
		expect(outputs.flat()).toStrictEqual([]);
	});

	test('of several kinds: each list by itself, and a Retry that helps some', async () => {
		const { error } = await wait(
			{ a: COMPLETE, b: MODERATED, c: PROCESSING, d: MODERATED },
			{ parameters },
		);
		expect(error!.message).toBe(
			`3 of 4 videos failed: b, d (moderation), c (${LATE}). 1 has gone on: a. ${STAYS}. ${POLLS}`,
		);
		expect(error!.description).toContain(
			`Tasks not finished in time: c: ${LATE}. Tasks failed: b, d: moderation.`,
		);
	});

	test('where the node goes on only lost videos are errors', async () => {
		const { outputs } = await wait({ a: COMPLETE, b: MODERATED }, { parameters, ...GO_ON });
		expect(outputs.slice(0, ERROR).map(idsOf)).toStrictEqual([['a'], []]);
		expect(fieldsOf(outputs[ERROR])).toMatchObject([{ details: { task_id: 'b' } }]);
	});
});

describe('the key is rejected while one video is generating', () => {
	const tasks = () => ({ a: COMPLETE, b: [PROCESSING, BAD_KEY], c: MODERATED });
	const NAMED = `Tasks completed: a (${VIDEO}). Tasks not finished: b. Tasks failed: c: moderation`;

	test('the error that fails the node names each task by its outcome, with the videos; the ledger has what is known', async () => {
		const rows = ['a', 'b', 'c'].map((task_id) => ({
			task_id,
			status: 'queued',
			sent_at: '2026-01-01T00:00:00.000Z',
			call: task_id,
		}));
		service.restore(rows);
		const { error, outputs } = await wait(tasks());
		expect(error!.message).toContain(`${FAILURE.badKey}. `);
		expect(error!.description).toContain(NAMED);
		expect(error).not.toHaveProperty('context.itemIndex');
		expect(outputs.flat()).toHaveLength(0);
		const delivered = { finished_at: null, delivered_at: null };
		expect(service.tables.rows).toMatchObject([
			{ task_id: 'b', status: 'queued', finished_at: null },
			{ task_id: 'a', status: 'open', video_url: VIDEO, ...delivered },
			{ task_id: 'c', status: 'failed', finished_at: expect.any(String) as string },
		]);
	});

	test('On Error: Continue delivers what is finished, and fails the rest', async () => {
		const { outputs } = await wait(tasks(), GO_ON);
		expect(outputs.slice(0, ERROR).map(idsOf)).toStrictEqual([['a'], ['c']]);
		expect(outputs[ERROR]).toMatchObject([
			{
				json: { error: FAILURE.badKey, details: { task_id: 'b' } },
				pairedItem: { item: 1 },
			},
		]);
	});

	test('in Ask Once, too', async () => {
		const once = { ...tasks(), b: BAD_KEY };
		const parameters = { waitMode: 'once' };
		expect((await wait(once, { parameters })).error!.description).toContain(NAMED);
		const { outputs } = await wait(once, { parameters, ...GO_ON });
		expect(outputs.map(idsOf)).toStrictEqual([['a'], ['c'], [], [undefined]]);
	});

	test.each([GO_ON, {}])('in a later step of a suspended wait: %j', async (more) => {
		service.answers = tasks();
		const first = await waitIn(server.url, CONNECTED, {
			items: ids('a', 'b', 'c'),
			parameters: { waitMode: 'suspend' },
			...more,
		});
		expect(first.status).toBe('waiting');
		jest.spyOn(Date, 'now').mockReturnValue(first.run.waitTill!.getTime());
		const { outputs, error } = await first.resume();
		if ('onError' in more)
			expect(outputs.map(idsOf)).toStrictEqual([['a'], ['c'], [undefined]]);
		else expect(error!.description).toContain(NAMED);
	});
});

test('a canceled execution stops polling and delivers nothing, whatever On Error says', async () => {
	const { onStart, cancel } = canceler();
	service.onRequest = () => {
		// The node sleeps for five seconds.
		if (service.requested(POLL).length === 2) setTimeout(cancel, 1_000);
	};
	const { status, outputs } = await wait({ a: COMPLETE, b: PROCESSING }, { ...GO_ON, onStart });
	expect(status).toBe('canceled');
	expect(server.requests).toHaveLength(2);
	// n8n passes the input on.
	expect(fieldsOf(outputs.flat())).toStrictEqual(ids('a', 'b'));
});

describe('in a streaming chat', () => {
	const chat = async (...[tasks, more, node]: Parameters<typeof wait>) => {
		const { chunks, outputs } = await wait(tasks, { ...more, streaming: true }, node);
		const types = chunks.map(({ type }) => type).join(' ');
		const texts = chunks.flatMap(({ content }) => content ?? []);
		return { outputs, types, texts };
	};

	test.each([
		// The progress, and the URL as another message.
		['waitForVideo', 'begin item item end begin item end'],
		['waitForVideoTool', 'begin item item end'],
	])('%s polls in place and tells the progress as text', async (node, expected) => {
		const parameters = { waitMode: 'suspend', taskId: 'a' };
		const { outputs, types, texts } = await chat(
			{ a: [PROCESSING, COMPLETE] },
			{ parameters },
			node,
		);
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a']);
		expect(types).toBe(expected);
		expect(texts[0]).toBe('0 finished, 1 generating, after 0 s\n\n');
		expect(texts[1]).toMatch(/^1 finished, after \d+ s\n\n$/);
	});

	test('the progress comes every 20 to 30 s, also when nothing changes', async () => {
		const { texts } = await chat({ a: PROCESSING }, {});
		const seconds = texts.map((text) => Number(/, after (\d+) s\n\n$/.exec(text)![1]));
		expect(seconds[0]).toBe(0);
		expect(seconds.at(-1)).toBe(600);
		const intervals = seconds.slice(1).map((at, index) => at - seconds[index]!);
		expect(Math.min(...intervals.slice(0, -1))).toBeGreaterThanOrEqual(20);
		expect(Math.max(...intervals)).toBeLessThanOrEqual(30);
	});

	test('changes that follow one another at once are one line', async () => {
		const done = Object.fromEntries(['b', 'c', 'd', 'e', 'f'].map((id) => [id, COMPLETE]));
		const { texts } = await chat({ a: [PROCESSING, COMPLETE], ...done }, {});
		expect(texts.slice(0, 2)).toStrictEqual([
			expect.stringMatching(/^\d finished, \d generating, after 0 s\n/),
			expect.stringMatching(/^6 finished, after \d+ s\n/),
		]);
	});

	test('the end is told once, and again where a file is lost after it', async () => {
		const gone = completed({ video_url: `${server.url}/cdn/gone.mp4` });
		const more = { items: ids('a'), parameters: { download: true } };
		const { types, texts } = await chat({ a: gone, '/cdn/gone.mp4': reject(404) }, more);
		expect(types).toBe('begin item item end');
		const [end, lost] = ['1 finished, after 0 s', '0 finished, 1 failed, after 33 s'];
		expect(texts).toStrictEqual([`${end}\n\n`, `${lost}\n\n`]);
	});
});
