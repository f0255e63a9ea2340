import type { ServerResponse } from 'node:http';

import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables, type DataTables } from '../support/dataTables';
import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type EnvironmentOptions,
	type RunOptions,
	type RunResult,
	type Wires,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { json, serverForEach } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

const CREATE = '/v1/videos/generations';
const POLL = '/v1/videos/tasks';
const FILE = '/cdn/';
const DATE = expect.stringMatching(/^\d{4}-.*Z$/) as string;

let tables: DataTables;
/** What the service answers first, by the path and the prompt or task; then it creates, completes and sends the file. */
let answers: Record<string, ((response: ServerResponse) => void)[]>;
/** Called for each request that arrives, before it is answered. */
let onRequest: (path: string, name: string) => void;
/** Whether each video fails that is polled. */
let failsAll: boolean;

const nameOf = (path: string, body: unknown) => {
	const { prompt, task_id } = (body ?? {}) as { prompt?: string; task_id?: string };
	return prompt ?? task_id ?? path.slice(FILE.length);
};

const server = serverForEach((response, { path, body }) => {
	const name = nameOf(path, body);
	onRequest(path, name);
	const answer = answers[`${path.startsWith(FILE) ? FILE : path} ${name}`]?.shift();
	if (answer !== undefined) answer(response);
	else if (path === CREATE) sendJson({ ...created(name), created_at: 1 })(response);
	else if (path === POLL) sendJson(failsAll ? MODERATED : completed(name))(response);
	else {
		response.writeHead(200, { 'content-type': 'video/mp4' });
		response.end(sampleFile('video/mp4'));
	}
});

beforeEach(() => {
	tables = dataTables();
	answers = {};
	onRequest = () => undefined;
	failsAll = false;
});

const sendJson =
	(body: object, status = 200) =>
	(response: ServerResponse) => {
		json(response, status, body);
	};
const created = (prompt: string) => ({
	task_id: `task-${prompt}`,
	status: 'queued',
	model: 'video-m1',
});
const urlOf = (taskId: string) => `${server.url}${FILE}${taskId}`;
const completed = (taskId: string) => ({
	task_id: taskId,
	status: 'completed',
	model: 'video-m1',
	video_url: urlOf(taskId),
});
const MODERATED = { status: 'failed', error_message: 'moderation' };
const KEY_REJECTED = sendJson({ error: { message: 'bad key' } }, 401);
const NO_CREDIT = sendJson({ error: { message: 'no credit' } }, 406);

const parametersOf = (options: IDataObject = {}): IDataObject => ({
	model: { __rl: true, mode: 'id', value: 'video-m1' },
	prompt: '={{ $json.prompt }}',
	waitUntilFinished: true,
	options: { retries: 0, ...options },
});

/** Creates videos of these prompts, and waits for them. */
async function run(
	prompts: readonly string[],
	{ parameters, ...more }: Partial<RunOptions> = {},
	type = 'createVideo',
): Promise<RunResult> {
	return await runNode(type, {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		tables,
		execution: { id: '11', token: 'token-1' },
		items: prompts.map((prompt) => ({ prompt })),
		parameters: { ...parametersOf(), ...parameters },
		...more,
	});
}
const retry = { execution: { id: '12', token: 'token-1', isRetry: true } };

const requested = (path: string) =>
	server.requests
		.filter((request) => request.path.startsWith(path))
		.map((request) => nameOf(request.path, request.body));
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
const filesOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ binary }) => binary?.['data']?.fileName);
const errorsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: { error, message } }) => `${String(error)}: ${String(message)}`);

test('the file comes out of the node that creates the video, with the fields of both', async () => {
	const { outputs, hints } = await run(['a'], {
		parameters: parametersOf({ pricePerSecond: 0.1 }),
	});
	const [item] = outputs[0]!;
	const waited = await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		items: [{ task_id: 'task-a' }],
	});
	// First the fields of Wait for Video, then what only the creation tells.
	expect(Object.keys(item!.json)).toStrictEqual([
		...Object.keys(waited.outputs[0]![0]!.json).filter((name) => name !== 'output'),
		...['created_at', 'estimated_cost', 'request', 'output'],
	]);
	expect(item!.json).toMatchObject({
		task_id: 'task-a',
		status: 'completed',
		video_url: urlOf('task-a'),
		history: expect.stringMatching(/^completed 0(\.\d)? s$/) as string,
		estimated_cost: 0.5,
		request: { prompt: 'a', duration: 5 },
	});
	expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4']);
	expect(item!.pairedItem).toStrictEqual({ item: 0 });
	expect(hints.at(-1)).toMatch(/^1 finished, after \d s$/);
	expect(tables.rows).toMatchObject([
		{ task_id: 'task-a', status: 'done', file_name: 'task-a.mp4', finished_at: DATE },
	]);
});

test('without Wait Until Finished the task comes out at once', async () => {
	const { outputs } = await run(['a'], { parameters: { waitUntilFinished: false } });
	expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a', status: 'queued' });
	expect(server.requests.map(({ path }) => path)).toStrictEqual([CREATE]);
});

test('the fields and options of the file are those of Wait for Video', async () => {
	const onlyUrl = await run(['a'], { parameters: { download: false } });
	expect(onlyUrl.outputs[0]![0]!.binary).toBeUndefined();
	const { outputs } = await run(['b'], {
		parameters: {
			...parametersOf({ fileName: '=Film of {{ $json.prompt }}', maximumFileSize: 1 }),
			binaryProperty: 'film',
		},
	});
	expect(outputs[0]![0]!.binary).toMatchObject({ film: { fileName: 'Film of b.mp4' } });
});

describe('several videos', () => {
	const prompts = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

	test('all are created, then all are polled together', async () => {
		const order: string[] = [];
		onRequest = (path) => {
			if (order.at(-1) !== path && !path.startsWith(FILE)) order.push(path);
		};
		prompts.forEach((prompt) => {
			answers[`${POLL} task-${prompt}`] = [sendJson({ status: 'processing' })];
		});
		const seconds = await withFakeTimers(async ({ passedMs }) => {
			const { outputs } = await run(prompts);
			expect(idsOf(outputs[0])).toStrictEqual(prompts.map((prompt) => `task-${prompt}`));
			expect(filesOf(outputs[0])).not.toContain(undefined);
			return passedMs() / 1000;
		});
		expect(order).toStrictEqual([CREATE, POLL]);
		// Each had its second poll after 5 to 5.5 s: one after another they would take 35 s.
		expect(seconds).toBeLessThan(12);
	});

	test('Concurrency may be higher than Wait for Video polls', async () => {
		const { outputs } = await run(prompts, { parameters: parametersOf({ concurrency: 100 }) });
		expect(filesOf(outputs[0])).not.toContain(undefined);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'%s: those that fail in any step do not lose the others',
		async (onError) => {
			answers = {
				[`${CREATE} b`]: [NO_CREDIT],
				[`${POLL} task-c`]: [sendJson(MODERATED)],
				[`${FILE} task-d`]: [
					(response) => {
						response.writeHead(410).end();
					},
				],
			};
			const { outputs } = await run(['a', 'b', 'c', 'd', 'e', ' '], { onError });
			const isApart = onError === 'continueErrorOutput';
			const good = outputs[0]!.filter(({ json: { error } }) => error === undefined);
			const bad = isApart ? outputs[1]! : outputs[0]!.filter((item) => !good.includes(item));
			expect(idsOf(good)).toStrictEqual(['task-a', 'task-e']);
			expect(filesOf(good)).toStrictEqual(['task-a.mp4', 'task-e.mp4']);
			expect(errorsOf(bad)).toStrictEqual([
				expect.stringMatching(new RegExp(`^${FAILURE.noCredit}`)),
				expect.stringMatching(
					/^The video failed: Create what failed again .*moderation\. task_id: task-c/,
				),
				expect.stringMatching(/^The file could not be downloaded/),
				expect.stringMatching(/^Prompt is empty/),
			]);
			// The advice to set what is set already.
			expect(JSON.stringify(bad)).not.toContain('On Error');
			expect(bad.map(({ json: { details } }) => details)).toMatchObject([
				{ status: 406 },
				{ task_id: 'task-c' },
				{ task_id: 'task-d', video_url: urlOf('task-d') },
				{},
			]);
			const polled = ['task-a', 'task-c', 'task-d', 'task-d', 'task-e'];
			// Once more for another URL.
			expect(requested(POLL).sort()).toStrictEqual(polled);
			expect([...good, ...bad].map(({ pairedItem }) => pairedItem)).toStrictEqual(
				[0, 4, 1, 2, 3, 5].map((item) => ({ item })),
			);
		},
	);

	test('the node stops: the error names every task, and what to do', async () => {
		answers[`${POLL} task-b`] = [sendJson(MODERATED)];
		const { error, status } = await run(['a', 'b', 'c']);
		expect(status).toBe('error');
		expect(error!.message).toBe(
			'1 of 3 videos failed: task-b (moderation). 2 have gone on: task-a, task-c. Retry does not change what failed at the service, and costs nothing',
		);
		expect(error!.description).toMatch(/^To go on without them, set On Error to Continue/);
		expect(error!.description).toContain('Executing the whole workflow again pays for all');
		expect(error!.description).toContain('Tasks failed: task-b: moderation');
		expect(error!.description).toContain(`Tasks completed: task-a (${urlOf('task-a')})`);
	});

	test('two items with one key are one video, and both have its file', async () => {
		const parameters = parametersOf({
			idempotencyKey: '={{ "order 1" }}',
			useExistingVideo: true,
		});
		const { outputs } = await run(['a', 'b'], { parameters });
		expect(requested(CREATE)).toStrictEqual(['a']);
		expect(requested(POLL)).toStrictEqual(['task-a']);
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4', 'task-a.mp4']);
	});

	describe('an item that a limit leaves out', () => {
		const parameters = parametersOf({ maximumVideos: 2, takeWhatFits: true });

		test('comes out as it is, beside the videos', async () => {
			const { outputs, status } = await run(['a', 'b', 'c'], { parameters });
			expect(status).toBe('success');
			expect(idsOf(outputs[0])).toStrictEqual(['task-a', 'task-b', '']);
			expect(outputs[0]![2]!.json).toMatchObject({ reason: 'limit' });
			expect(requested(CREATE)).toStrictEqual(['a', 'b']);
		});

		test('counts for no video that nothing waits for', async () => {
			const { run: executed } = await run(['a', 'b', 'c'], {
				parameters: { ...parameters, waitUntilFinished: false },
			});
			const { hints = [] } = executed.data.resultData.runData['Tested']!.at(-1)!;
			expect(hints.map(({ message }) => message).join()).toContain('2 videos are generating');
		});
	});

	test('a dry run among them stays what it is', async () => {
		const { outputs } = await run(['a', 'b'], {
			parameters: parametersOf({ dryRun: '={{ $itemIndex === 0 }}' }),
		});
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: '', reason: 'dry_run' });
		expect(idsOf(outputs[0])).toStrictEqual(['', 'task-b']);
		expect(filesOf(outputs[0])).toStrictEqual([undefined, 'task-b.mp4']);
		expect(requested(CREATE)).toStrictEqual(['b']);
	});
});

describe('a video that nothing in the workflow waits for', () => {
	const WAIT = packageNode('Wait', 'waitForVideo', {
		parameters: { taskId: '={{ $json.task_id }}' },
	});
	const next = stubNode('Next', (items) => items);
	const FOLLOWED: Wires = { Create: [['Wait']] };
	const STEP = { stepOf: 'Create' };
	const BEHIND: Wires = { Create: [['Next']], Next: [['Wait']] };

	test.each<[string, INode, Wires, boolean, Partial<EnvironmentOptions>]>([
		['nothing follows', next, {}, true, {}],
		['another node follows', next, { Create: [['Next']] }, true, {}],
		['Wait for Video is not connected to it', WAIT, {}, true, {}],
		['Wait for Video is deactivated', { ...WAIT, disabled: true }, FOLLOWED, true, {}],
		['Wait for Video follows', WAIT, FOLLOWED, false, {}],
		['Wait for Video follows further on', WAIT, BEHIND, false, {}],
		['only this step is executed', next, {}, true, STEP],
		// The step runs without what follows: that may wait.
		['only this step, and a node follows', next, { Create: [['Next']] }, false, STEP],
	])('is a hint where %s', async (_where, node, wires, expected, more) => {
		const parameters = { ...parametersOf(), waitUntilFinished: false };
		const create = packageNode('Create', 'createVideo', { parameters });
		const { hints } = await runWorkflow([create, node, next], wires, 'Create', {
			credential: { baseUrl: server.url, apiKey: 'k-secret' },
			items: [{ prompt: 'a' }],
			...more,
		});
		const said =
			'1 video is generating, and nothing in this workflow waits. Connect Wait for Video, or switch on Wait Until Finished';
		expect(hints.filter((hint) => hint.includes('nothing'))).toStrictEqual(
			expected ? [said] : [],
		);
	});
});

test.each(['completed', 'failed'])(
	'a video of an earlier try that is %s is none that nothing waits for',
	async (status) => {
		answers = { [`${CREATE} b`]: [KEY_REJECTED] };
		const parameters = { waitUntilFinished: false };
		await run(['a', 'b'], { parameters });
		tables.edit(() => true, { status, finished_at: new Date().toISOString() });
		const { hints, outputs } = await run(['a', 'b'], { parameters, ...retry });
		expect(outputs[0]).toMatchObject([{ json: { status } }, { json: { task_id: 'task-b' } }]);
		expect(hints.filter((hint) => hint.includes('nothing'))).toStrictEqual([
			expect.stringMatching(/^1 video is generating/),
		]);
	},
);

test('a dry run of all items waits for nothing', async () => {
	const { outputs, hints } = await run(['a'], { parameters: parametersOf({ dryRun: true }) });
	expect(outputs[0]![0]!.json).toMatchObject({ task_id: '', reason: 'dry_run' });
	expect(server.requests).toHaveLength(0);
	expect(hints.filter((hint) => /finished|nothing/.test(hint))).toStrictEqual([]);
});

test.each([
	[
		'a Download Video that is neither on nor off',
		{ download: '={{ ["FALSE", "no"][$itemIndex] }}' },
		'Download Video is no',
	],
	[
		'a binary field that an item would not have',
		{ binaryProperty: '={{ ["data", " __proto__"][$itemIndex] }}' },
		'Put Output File in Field is __proto__',
	],
])('%s is found before anything is paid', async (_name, parameters, message) => {
	const { error } = await run(['a', 'b'], { parameters });
	expect(error!.message).toBe(message);
	expect(server.requests).toHaveLength(0);
});

test.each([
	[{ maximumWait: 99 }, 'Maximum Wait'],
	[{ thumbnailProperty: '__proto__' }, 'Put Thumbnail in Field is __proto__'],
	[
		{ downloadThumbnail: true, thumbnailProperty: 'data' },
		'Put Thumbnail in Field is also the field of the video',
	],
	[{ maximumFileSize: '={{ $itemIndex - 1 }}' }, 'Maximum File Size'],
	[{ fileName: '={{ $("Nowhere").first().json.name }}' }, "Referenced node doesn't exist"],
])('%j: a bad option of the wait is found before anything is paid', async (options, label) => {
	const { error } = await run(['a', 'b'], { parameters: parametersOf(options) });
	expect(error!.message).toContain(label);
	expect(server.requests).toHaveLength(0);
});

test('Always Output Data sends no empty item where the run of what is left is put off', async () => {
	answers = { [`${POLL} task-b`]: [sendJson({ task_id: 'task-b', ...MODERATED })] };
	const pass = (items: INodeExecutionData[]) => items;
	const parameters = parametersOf();
	const nodes = [
		stubNode('Start', pass),
		{ ...packageNode('Create', 'createVideo', { parameters }), alwaysOutputData: true },
		...['Side', 'Next', 'Merge'].map((name) => stubNode(name, pass)),
		stubNode('Never', () => []),
	];
	const wires = {
		Start: [['Never', 'Side', 'Create']],
		Side: [['Merge']],
		Never: [['Merge#1']],
		Create: [['Next']],
	};
	const result = await runWorkflow(nodes, wires, 'Start', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		items: [{ prompt: 'a' }, { prompt: 'b' }],
		tables,
	});
	expect(result.status).toBe('error');
	expect(
		allItems(result, 'Next')
			.flat()
			.map(({ json: { task_id } }) => task_id),
	).toStrictEqual(['task-a']);
	expect(allItems(result, 'Merge').flat()).toHaveLength(2);
});

test('a Maximum Wait that is wrong in one item fails this one only', async () => {
	const { outputs } = await run(['a', 'b'], {
		parameters: parametersOf({ maximumWait: '={{ $itemIndex * 5 }}' }),
		onError: 'continueErrorOutput',
	});
	expect(filesOf(outputs[0])).toStrictEqual(['task-b.mp4']);
	expect(errorsOf(outputs[1])).toStrictEqual([expect.stringMatching(/^Maximum Wait is 0/)]);
});

test('a video over the time fails with its task_id, and the remedy', async () => {
	await withFakeTimers(async ({ passedMs }) => {
		answers[`${POLL} task-a`] = Array<(response: ServerResponse) => void>(99).fill(
			sendJson({ status: 'processing' }),
		);
		const { error, outputs } = await run(['a'], {
			parameters: parametersOf({ maximumWait: 1 }),
			onError: 'continueErrorOutput',
		});
		expect(error).toBeUndefined();
		expect(Math.round(passedMs() / 10_000)).toBe(6);
		const [item] = outputs[1]!;
		expect(item!.json).toMatchObject({
			error: 'The video failed',
			message: expect.stringMatching(
				/^Wait for Video gets a late video by its task ID, free .*Not finished after 60 seconds.*task_id: task-a/,
			) as string,
			details: { task_id: 'task-a' },
		});
	});
	// Open: it can be collected.
	expect(tables.rows).toMatchObject([{ task_id: 'task-a', finished_at: null }]);
});

test('an empty "error" and a "reason" of the service are no failure of the item, also with Retry On Fail', async () => {
	const body = { ...created('a'), error: '', reason: 'none' };
	answers = { [`${CREATE} a`]: [sendJson(body)] };
	const { outputs } = await run(['a'], { retryOnFail: true });
	const { json: fields } = outputs[0]![0]!;
	expect(fields).toMatchObject({
		status: 'completed',
		service_error: '',
		service_reason: 'none',
	});
	expect([fields['error'], fields['reason']]).toStrictEqual([undefined, undefined]);
	// The creation, one poll and one file: n8n has not run the node again.
	expect(server.requests).toHaveLength(3);
});

describe('a video is never paid for twice', () => {
	test.each<[string, string, (response: ServerResponse) => void]>([
		['a video fails', `${POLL} task-b`, sendJson(MODERATED)],
		['the key is rejected', `${POLL} task-b`, KEY_REJECTED],
		['a download fails', `${FILE} task-b`, (response) => response.writeHead(410).end()],
		['another creation is rejected', `${CREATE} b`, NO_CREDIT],
	])('Retry On Fail goes on with the same tasks after %s', async (_name, step, answer) => {
		answers[step] = [answer];
		const { outputs, status } = await run(['a', 'b'], { retryOnFail: true });
		expect(status).toBe('success');
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4', 'task-b.mp4']);
		const prompts = step.startsWith(CREATE) ? ['a', 'b', 'b'] : ['a', 'b'];
		expect(requested(CREATE)).toStrictEqual(prompts);
		expect(tables.rows.map(({ task_id }) => task_id).sort()).toStrictEqual([
			'task-a',
			'task-b',
		]);
	});

	describe.each([
		['one item', ['a']],
		['two items with one key', ['a', 'a']],
		['items with one key and other prompts', ['a 1', 'a 2']],
		['a prompt with the time', ['a {{ $now }}']],
	])('a failed video of a key: %s', (_name, prompts) => {
		const parameters = {
			...parametersOf({ idempotencyKey: 'a', useExistingVideo: true }),
			prompt: `=${prompts[0]!.includes('$') ? prompts[0]! : '{{ $json.prompt }}'}`,
		};
		const runAs = async (id: string, token: string, more: Partial<RunOptions> = {}) =>
			await withFakeTimers(
				async () =>
					await run(prompts, {
						parameters,
						execution: { id, token, isRetry: token === 'token-1' && id !== '11' },
						...more,
					}),
			);

		test.each([
			['this execution', false],
			['another execution', true],
		])('created by %s, it is not created again by a retry', async (_by, isOfOther) => {
			if (isOfOther) await runAs('9', 'token-9');
			tables.edit(() => true, { status: 'open', finished_at: null });
			server.requests.length = 0;
			failsAll = true;
			const failed = await runAs('11', 'token-1', { retryOnFail: true });
			expect(failed.error!.message).toMatch(/moderation.*costs nothing/);
			const again = await failed.resume({ id: '12', token: 'token-1', isRetry: true });
			expect(again.error!.message).toMatch(/moderation.*costs nothing/);
			// Of a killed execution the rows alone are left.
			if (!isOfOther) await runAs('13', 'token-1');
			expect(requested(CREATE)).toHaveLength(isOfOther ? 0 : 1);
			expect(tables.rows).toMatchObject([{ status: 'failed' }]);
			// The next execution has another one.
			failsAll = false;
			await runAs('14', 'token-14');
			expect(requested(CREATE)).toHaveLength(isOfOther ? 1 : 2);
		});
	});

	test('a failed video of another execution is not created again by the run of what is left', async () => {
		const parameters = parametersOf({ idempotencyKey: '={{ $json.prompt }}' });
		const execution = { id: '9', token: 'token-9' };
		await run(['a'], { parameters: { ...parameters, waitUntilFinished: false }, execution });
		answers[`${POLL} task-a`] = [sendJson(MODERATED), sendJson(MODERATED)];
		const failed = await run(['a', 'b'], { parameters });
		expect(idsOf(allItems(failed, 'Tested')[0])).toStrictEqual(['task-b']);
		const again = await failed.resume(retry.execution);
		expect(again.error!.message).toMatch(/moderation/);
		expect(requested(CREATE)).toStrictEqual(['a', 'b']);
	});

	test('two items with one key whose outcome is unknown: Retry On Fail waits for nobody', async () => {
		answers[`${CREATE} a`] = [(response) => response.destroy()];
		const parameters = parametersOf({ idempotencyKey: 'a' });
		const begun = performance.now();
		const { error } = await run(['a', 'a'], { parameters, retryOnFail: true });
		expect(performance.now() - begun).toBeLessThan(10_000);
		expect(error!.message).toMatch(/may have been created.*Retry does not send again/);
		expect(error!.message).not.toContain('in use');
		expect(requested(CREATE)).toStrictEqual(['a']);
	});

	/** Runs an execution that is killed when a request arrives: nothing of it is left but its rows. */
	async function runKilledAt(request: string, prompts: readonly string[]): Promise<void> {
		let rows: readonly IDataObject[] | undefined;
		onRequest = (path, name) => {
			if (rows === undefined && path.startsWith(request) && name === 'task-b')
				rows = structuredClone(tables.rows);
		};
		await run(prompts);
		onRequest = () => undefined;
		server.requests.length = 0;
		tables = dataTables();
		tables.insert(TASK_TABLE, ...rows!);
	}

	test.each([
		['polls', POLL],
		['downloads', FILE],
	])('a kill while it %s: the retry goes on with the same tasks', async (_name, request) => {
		await runKilledAt(request, ['a', 'b']);
		const { outputs, status } = await run(['a', 'b'], retry);
		expect(status).toBe('success');
		expect(requested(CREATE)).toStrictEqual([]);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a', 'task-b']);
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4', 'task-b.mp4']);
		expect(outputs[0]![0]!.json).toMatchObject({ reused: true, request: { prompt: 'a' } });
		expect(tables.rows).toMatchObject([
			{ task_id: 'task-a', finished_at: DATE },
			{ task_id: 'task-b', finished_at: DATE },
		]);
	});

	test('a kill when everything was done, with more videos than are updated one by one', async () => {
		// So many that their rows are replaced, not updated.
		const prompts = Array.from({ length: 30 }, (_, index) => `p${index}`);
		await run(prompts);
		server.requests.length = 0;
		const { outputs } = await run(prompts, retry);
		expect(requested(CREATE)).toStrictEqual([]);
		expect(filesOf(outputs[0])).toStrictEqual(prompts.map((prompt) => `task-${prompt}.mp4`));
		expect(tables.rows).toHaveLength(30);
	});

	test('Stop: the retry goes on with the same task', async () => {
		let cancel: () => void = () => undefined;
		answers[`${POLL} task-a`] = [
			(response) => {
				sendJson({ status: 'processing' })(response);
				response.on('close', () => {
					setImmediate(() => {
						cancel();
					});
				});
			},
		];
		const stopped = await run(['a'], { onStart: (stop) => (cancel = stop) });
		expect(stopped.status).toBe('canceled');
		expect(tables.rows).toMatchObject([{ task_id: 'task-a', finished_at: null }]);
		const { outputs } = await run(['a'], retry);
		expect(requested(CREATE)).toStrictEqual(['a']);
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4']);
	});
});

describe('delivered_at, by which a Filter drops what has gone on before', () => {
	const DELIVERED = '2026-01-02T03:04:05.000Z';
	const deliveredOf = (items: readonly INodeExecutionData[] = []) =>
		items.map(({ json: { delivered_at } }) => delivered_at);
	const parameters = parametersOf({ idempotencyKey: '={{ $json.prompt }}' });

	test.each([
		['in a retry of the execution that was killed', retry, null, undefined],
		['in a retry, where it was collected by another one', retry, DELIVERED, DELIVERED],
		['in the next execution', { execution: { id: '12', token: 't' } }, null, DELIVERED],
	])('of what the execution has created, %s', async (_name, later, collected_at, expected) => {
		await run(['a'], { parameters });
		tables.edit(() => true, { delivered_at: DELIVERED, collected_at });
		const { outputs } = await run(['a'], { parameters, ...later });
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a', reused: true });
		expect(deliveredOf(outputs[0])).toStrictEqual([expected]);
	});

	test.each([
		['a first execution', {}],
		['a retry', retry],
	])(
		'of videos that a try has delivered whose output n8n discards, in %s',
		async (_name, execution) => {
			const unfinished = { ...parameters, waitUntilFinished: false };
			await run(['b'], { parameters: unfinished, execution: { id: '9', token: 'token-9' } });
			if (execution === retry) await run(['c'], { parameters: unfinished });
			answers[`${CREATE} a`] = [sendJson({ error: { message: 'slow down' } }, 429)];
			const { outputs } = await run(['a', 'b', 'c'], {
				...execution,
				parameters,
				onError: 'continueRegularOutput',
				retryOnFail: true,
			});
			expect(idsOf(outputs[0])).toStrictEqual(['task-a', 'task-b', 'task-c']);
			expect(tables.rows.map(({ delivered_at }) => delivered_at)).toStrictEqual([
				...[DATE, DATE, DATE],
			]);
			expect(deliveredOf(outputs[0])).toStrictEqual([undefined, undefined, undefined]);
		},
	);
});

describe('as a tool', () => {
	const tool = async (more: Partial<RunOptions> = {}) =>
		await run(['a'], more, 'createVideoTool');

	test('the model gets the URL, and neither file nor history', async () => {
		const { outputs } = await tool();
		expect(outputs[0]).toStrictEqual([
			{
				json: {
					task_id: 'task-a',
					status: 'completed',
					video_url: urlOf('task-a'),
					model: 'video-m1',
					created_at: 1,
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(requested(FILE)).toStrictEqual([]);
	});

	test.each([
		[
			'a video that fails',
			sendJson(MODERATED),
			{ reason: 'failed', error_message: 'moderation' },
		],
		[
			'a key that is rejected meanwhile',
			KEY_REJECTED,
			{ status: 'queued', error_message: expect.stringContaining('rejected') as string },
		],
	])('%s is a result with the task_id: the tool does not create it again', async (...row) => {
		const [, answer, result] = row;
		answers[`${POLL} task-a`] = [answer];
		const { outputs, status } = await tool({ retryOnFail: true });
		expect(status).toBe('success');
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a', ...result });
		expect(requested(CREATE)).toStrictEqual(['a']);

		// The service names its first task again, which no other creation may have.
		tables = dataTables();
		answers[`${POLL} task-a`] = [answer];
		tables = dataTables();
		const continued = await tool({ onError: 'continueRegularOutput' });
		expect(continued.outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a', ...result });
	});
});

describe('in a streaming chat', () => {
	const NEXT = [['Next']];
	const PROGRESS = /^1 finished, after \d s$/;
	const READY = /^> The video is ready: http.*task-a$/;
	const STARTED = /^> The video is not finished: task task-a$/;
	const create = parametersOf();
	const wait = { taskId: '=task-{{ $json.prompt }}', download: false };
	const failed = sendJson({ task_id: 'task-a', status: 'failed' });

	test.each<
		[title: string, type: string, parameters: IDataObject, wires: string[][], said: RegExp[]]
	>([
		['it ends with the URL', 'createVideo', create, [], [PROGRESS, READY]],
		[
			'it ends with the task',
			'createVideo',
			{ ...create, waitUntilFinished: false },
			[],
			[STARTED],
		],
		['it ends with the URL', 'waitForVideo', wait, [[], ['Next']], [PROGRESS, READY]],
		[
			'it ends with the URL of a video that is asked for once',
			'waitForVideo',
			{ ...wait, waitMode: 'once' },
			[],
			[PROGRESS, READY],
		],
		['a node follows', 'createVideo', create, NEXT, [PROGRESS]],
		['a node follows', 'createVideo', { ...create, waitUntilFinished: false }, NEXT, []],
		['a node follows', 'waitForVideo', wait, NEXT, [PROGRESS]],
	])('%s: %s, row %#', async (_title, type, parameters, wires, said) => {
		const { chunks, run } = await runWorkflow(
			[packageNode('Tested', type, { parameters }), stubNode('Next', (items) => items)],
			{ Tested: wires },
			'Tested',
			{
				credential: { baseUrl: server.url, apiKey: 'k-secret' },
				items: [{ prompt: 'a' }],
				streaming: true,
				tables,
			},
		);
		expect(run.status).toBe('success');
		const texts = chunks.filter(({ type: kind }) => kind === 'item');
		expect(texts.map(({ content }) => content!.trim())).toStrictEqual(
			said.map((line) => expect.stringMatching(line) as string),
		);
	});

	test('a node that follows Failed alone says nothing of a finished video, and of a failed one', async () => {
		answers[`${POLL} task-a`] = [failed];
		const { chunks } = await runNode('waitForVideo', {
			credential: { baseUrl: server.url, apiKey: 'k-secret' },
			items: [{ prompt: 'a' }, { prompt: 'b' }],
			parameters: wait,
			streaming: true,
			tables,
		});
		const said = chunks.map(({ content = '' }) => content).join('');
		expect(said).toMatch(/1 finished, 1 failed.*> The video is ready: http\S*task-b\s*$/s);
	});
});

test.each([
	['createVideo', 'continueRegularOutput'],
	['createVideo', 'continueErrorOutput'],
	['waitForVideo', 'continueRegularOutput'],
	['waitForVideo', 'continueErrorOutput'],
] as const)('a streaming chat is told that %s has failed, with %s', async (node, onError) => {
	const { chunks } = await run(
		[''],
		{
			streaming: true,
			onError,
			parameters: { waitUntilFinished: false, taskId: '={{ $json.prompt }}' },
		},
		node,
	);
	const label = node === 'createVideo' ? 'Prompt' : 'Task ID';
	expect(chunks.map(({ type, content }) => [type, content?.trim()])).toContainEqual([
		'item',
		`> ${label} is empty`,
	]);
	expect(chunks.at(-1)!.type).toBe('end');
});
