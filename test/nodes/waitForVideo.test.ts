import { allItems, runNode, type RunOptions } from '../support/engine';
import { sampleFile } from '../support/sampleFiles';
import { json, serverForEach, type Script } from '../support/scriptedServer';
import { COMPLETED, ERROR, FAILED } from '../support/waitOutputs';

const FILE = sampleFile('video/mp4');

let script: Script;

const server = serverForEach((response, request, index) => {
	if (!request.path.startsWith('/cdn/')) {
		script(response, request, index);
		return;
	}
	response.writeHead(request.path.endsWith('gone.mp4') ? 404 : 200, {
		'content-type': 'video/mp4',
	});
	response.end(FILE);
});

const credential = () => ({ baseUrl: server.url, apiKey: 'k-secret' });

async function wait(more: Partial<RunOptions> = {}) {
	return await runNode('waitForVideo', { credential: credential(), ...more });
}

const taskOf = (body: unknown) => (body as { task_id: string }).task_id;

/** A service with these tasks; all others are completed. */
const tasks =
	(known: Record<string, object> = {}): Script =>
	(response, { body }) => {
		const task_id = taskOf(body);
		const completed = { status: 'completed', video_url: `${server.url}/cdn/${task_id}.mp4` };
		json(response, 200, { task_id, ...(known[task_id] ?? completed) });
	};
const MODERATED = { status: 'failed', error_message: 'moderation' };
const ids = (...taskIds: string[]) => taskIds.map((task_id) => ({ task_id }));
const idsOf = (items: readonly { json: object }[]) =>
	items.map(({ json: fields }) => (fields as { task_id?: string }).task_id);

test('a completed video has its file, which is downloaded without the API key', async () => {
	script = (response, { body }) => {
		json(response, 200, {
			task_id: taskOf(body),
			status: 'completed',
			model: 'video-m1',
			video_url: `${server.url}/cdn/a.mp4`,
			thumbnail_url: `${server.url}/cdn/a.jpg`,
			enhanced_prompt: 'A quiet lake',
		});
	};
	const { outputs } = await wait({ items: [{ task_id: 'task-1' }] });
	expect(server.requests[0]).toMatchObject({
		method: 'POST',
		path: '/v1/videos/tasks',
		headers: { authorization: 'Bearer k-secret' },
		body: { task_id: 'task-1' },
	});
	const [item] = outputs[COMPLETED]!;
	expect(item!.json).toStrictEqual({
		task_id: 'task-1',
		status: 'completed',
		model: 'video-m1',
		video_url: `${server.url}/cdn/a.mp4`,
		thumbnail_url: `${server.url}/cdn/a.jpg`,
		enhanced_prompt: 'A quiet lake',
		file: { bytes: FILE.length, type: 'video/mp4' },
		output: `The video is ready: ${server.url}/cdn/a.mp4`,
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
	script = tasks({ 'task-1': { ...MODERATED, model: 'video-m1' } });
	const { status, outputs } = await wait({ items: ids('task-1') });
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

test('a task of two items is polled once and returned twice', async () => {
	script = tasks();
	const { outputs } = await wait({
		parameters: { download: false },
		items: ids('a', 'b', 'a'),
	});
	expect(idsOf(outputs[COMPLETED]!)).toStrictEqual(['a', 'b', 'a']);
	expect(outputs[COMPLETED]!.map(({ pairedItem }) => pairedItem)).toStrictEqual([
		{ item: 0 },
		{ item: 1 },
		{ item: 2 },
	]);
	expect(server.requests.map(({ body }) => taskOf(body)).sort()).toStrictEqual(['a', 'b']);
});

test('an empty task ID stops the node before the first poll', async () => {
	script = (response) => {
		json(response, 200, { status: 'completed' });
	};
	const { error } = await wait({ items: [{ task_id: 'a' }, {}] });
	expect(error).toMatchObject({ name: 'NodeOperationError', message: 'Task ID is empty' });
	expect(server.requests).toHaveLength(0);
});

test('with Continue On Fail an empty task ID fails only its own item', async () => {
	script = (response, { body }) => {
		json(response, 200, {
			task_id: taskOf(body),
			status: 'completed',
			video_url: 'https://cdn.example/x.mp4',
		});
	};
	const { outputs } = await wait({
		parameters: { download: false },
		items: [{ task_id: 'a' }, { other: 1 }],
		onError: 'continueErrorOutput',
	});
	expect(idsOf(outputs[COMPLETED]!)).toStrictEqual(['a']);
	expect(outputs[ERROR]).toMatchObject([{ json: { error: 'Task ID is empty' } }]);
});

test('a malformed base URL is an error of each item with Continue On Fail', async () => {
	const options = { items: ids('a', 'b'), credential: { baseUrl: 'not a URL', apiKey: 'k' } };
	const { outputs } = await wait({ ...options, onError: 'continueErrorOutput' });
	expect(outputs.slice(0, ERROR)).toStrictEqual([[], []]);
	expect(outputs[ERROR]!.map(({ json: fields }) => fields['error'])).toStrictEqual([
		expect.stringContaining('Base URL'),
		expect.stringContaining('Base URL'),
	]);

	const regular = await wait({ ...options, onError: 'continueRegularOutput' });
	expect(regular.outputs.map((items) => items.length)).toStrictEqual([0, 2]);

	const stopped = await wait(options);
	expect(stopped.error!.message).toContain('Base URL');
});

describe('with On Failed Videos: Fail the Node', () => {
	const parameters = { download: false, options: { onFailed: 'fail' } };
	const items = ids('task-1', 'task-2', 'task-3');

	test('the error names the tasks without a video, and the others have gone on', async () => {
		script = tasks({ 'task-2': MODERATED });
		const result = await wait({ parameters, items });
		const { status, error } = result;
		expect(status).toBe('error');
		expect(error!.message).toMatch(
			/^1 of 3 videos failed: task-2 \(moderation\)\. 2 have gone on/,
		);
		// n8n prints one for an error that has it.
		expect(error).not.toHaveProperty('context.itemIndex');
		expect(error!.description).toContain('Tasks failed: task-2: moderation');
		expect(allItems(result, 'Tested').map(idsOf)).toStrictEqual([['task-1', 'task-3'], []]);
	});

	test('with Continue On Fail only the failed videos are errors', async () => {
		script = tasks({ 'task-2': MODERATED });
		const { outputs } = await wait({ parameters, items, onError: 'continueErrorOutput' });
		expect(idsOf(outputs[COMPLETED]!)).toStrictEqual(['task-1', 'task-3']);
		expect(outputs[FAILED]).toStrictEqual([]);
		expect(outputs[ERROR]!.map(({ json: fields }) => fields['details'])).toMatchObject([
			{ task_id: 'task-2' },
		]);
	});
});

test('as a tool all results use the first output, which agents read', async () => {
	script = tasks({ b: MODERATED });
	const { outputs } = await runNode('waitForVideoTool', {
		credential: credential(),
		parameters: { taskId: '={{ $json.task_id }}', waitMode: 'suspend' },
		items: ids('a', 'b'),
	});
	expect(outputs.map(idsOf)).toStrictEqual([['a', 'b']]);
	expect(outputs[COMPLETED]!.map(({ json: fields }) => fields['reason'])).toStrictEqual([
		undefined,
		'failed',
	]);
});

test('a hint below the output has the totals', async () => {
	script = tasks({ b: MODERATED });
	const { run } = await wait({ parameters: { download: false }, items: ids('a', 'b') });
	expect(run.data.resultData.runData['Tested']![0]!.hints!.at(-1)).toStrictEqual({
		message: expect.stringMatching(/^1 finished, 1 failed, after \d s$/) as string,
		type: 'warning',
		location: 'outputPane',
	});
});

test('in a streaming chat the node polls in place and sends the progress as text', async () => {
	script = tasks();
	const { chunks, outputs } = await wait({
		parameters: { download: false, waitMode: 'suspend' },
		items: ids('a'),
		streaming: true,
	});
	expect(chunks.slice(0, 3).map(({ type }) => type)).toStrictEqual(['begin', 'item', 'end']);
	expect(chunks[1]!.content).toMatch(/^1 finished, after \d s\n\n$/);
	expect(idsOf(outputs[COMPLETED]!)).toStrictEqual(['a']);
});

test('canceling the execution stops polling', async () => {
	let cancel: () => void = () => undefined;
	script = (response, { body }) => {
		json(response, 200, { task_id: taskOf(body), status: 'processing' });
		// The node is about to sleep for five seconds.
		response.on('close', () => {
			setImmediate(() => {
				cancel();
			});
		});
	};
	const { status } = await wait({
		items: [{ task_id: 'task-1' }],
		onStart: (stop) => {
			cancel = stop;
		},
	});
	expect(status).toBe('canceled');
	expect(server.requests).toHaveLength(1);
});
