import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';

import {
	another,
	breakOff,
	CREATE,
	DATE,
	FILE,
	idsOf,
	parametersOf,
	POLL,
	reject,
	reply,
	RETRY,
	retryAs,
	videoService,
	type Answer,
	type More,
} from '../support/createdVideos';
import { dataTables } from '../support/dataTables';
import {
	allItems,
	canceler,
	packageNode,
	runNode,
	stubNode,
	type EnvironmentOptions,
	type Wires,
} from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';

const service = videoService();
const { requested, server, urlOf } = service;

const WAITS = { waitUntilFinished: true };
const UNATTENDED = { parameters: { waitUntilFinished: false } };
const MODERATED = { status: 'failed', error_message: 'moderation' };
const PROCESSING = reply({ status: 'processing' });
const GONE = reject(410);
const KEY_REJECTED = reject(401);
const ON_ERROR = ['continueRegularOutput', 'continueErrorOutput'] as const;

/** Creates videos of these prompts, and waits for them. */
const create = async (
	prompts: readonly string[],
	options: IDataObject = {},
	{ parameters, ...more }: More = {},
) => await service.create(prompts, options, { parameters: { ...WAITS, ...parameters }, ...more });

const filesOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ binary }) => binary?.['data']?.fileName);
const tasksOf = (...prompts: readonly string[]) => prompts.map((prompt) => `task-${prompt}`);
const pass = (items: INodeExecutionData[]) => items;

test('the file comes out of the node that creates the video, with the fields of both', async () => {
	const { outputs, hints } = await create(['a'], { pricePerSecond: 0.1 });
	const [item] = outputs[0]!;
	const waited = await runNode('waitForVideo', {
		credential: service.environment().credential,
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
	expect(service.tables.rows).toMatchObject([
		{ task_id: 'task-a', status: 'done', file_name: 'task-a.mp4', finished_at: DATE },
	]);
});

test('the fields and options of the file are those of Wait for Video', async () => {
	const onlyUrl = await create(['a'], {}, { parameters: { download: false } });
	expect(onlyUrl.outputs[0]![0]!.binary).toBeUndefined();
	const options = { fileName: '=Film of {{ $json.prompt }}', maximumFileSize: 1 };
	const { outputs } = await create(['b'], options, { parameters: { binaryProperty: 'film' } });
	expect(outputs[0]![0]!.binary).toMatchObject({ film: { fileName: 'Film of b.mp4' } });
});

describe('several videos', () => {
	const PROMPTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

	test('all are created, then all are polled together', async () => {
		const order: string[] = [];
		service.onRequest = (_name, path) => {
			if (order.at(-1) !== path && !path.startsWith(FILE)) order.push(path);
		};
		service.answers = Object.fromEntries(tasksOf(...PROMPTS).map((id) => [id, [PROCESSING]]));
		const seconds = await withFakeTimers(async ({ passedMs }) => {
			const { outputs } = await create(PROMPTS);
			expect(idsOf(outputs[0])).toStrictEqual(tasksOf(...PROMPTS));
			expect(filesOf(outputs[0])).not.toContain(undefined);
			return passedMs() / 1000;
		});
		expect(order).toStrictEqual([CREATE, POLL]);
		// Each had its second poll after 5 to 5.5 s: one after another they would take 35 s.
		expect(seconds).toBeLessThan(12);
	});

	test('Concurrency may be higher than Wait for Video polls', async () => {
		const { outputs } = await create(PROMPTS, { concurrency: 100 });
		expect(filesOf(outputs[0])).not.toContain(undefined);
	});

	test.each(ON_ERROR)(
		'%s: those that fail in any step do not lose the others',
		async (onError) => {
			service.answers = { b: reject(406), 'task-c': reply(MODERATED), '/cdn/task-d': GONE };
			const { outputs } = await create(['a', 'b', 'c', 'd', 'e', ' '], {}, { onError });
			const isApart = onError === 'continueErrorOutput';
			const good = outputs[0]!.filter(({ json: { error } }) => error === undefined);
			const bad = isApart ? outputs[1]! : outputs[0]!.filter((item) => !good.includes(item));
			expect(idsOf(good)).toStrictEqual(tasksOf('a', 'e'));
			expect(filesOf(good)).toStrictEqual(['task-a.mp4', 'task-e.mp4']);
			expect(
				bad.map(({ json: { error, message } }) => `${String(error)}: ${String(message)}`),
			).toStrictEqual([
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
			// Once more for another URL.
			expect(requested(POLL).sort()).toStrictEqual(tasksOf('a', 'c', 'd', 'd', 'e'));
			expect([...good, ...bad].map(({ pairedItem }) => pairedItem)).toStrictEqual(
				[0, 4, 1, 2, 3, 5].map((item) => ({ item })),
			);
		},
	);

	test('the node stops: the error names every task, and what to do', async () => {
		service.answers = { 'task-b': reply(MODERATED) };
		const { error, status } = await create(['a', 'b', 'c']);
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
		const options = { idempotencyKey: '={{ "order 1" }}', useExistingVideo: true };
		const { outputs } = await create(['a', 'b'], options);
		expect(requested(CREATE)).toStrictEqual(['a']);
		expect(requested(POLL)).toStrictEqual(['task-a']);
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4', 'task-a.mp4']);
	});

	test('a dry run among them stays what it is', async () => {
		const { outputs } = await create(['a', 'b'], { dryRun: '={{ $itemIndex === 0 }}' });
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
	const NEXT = stubNode('Next', pass);
	const FOLLOWED: Wires = { Create: [['Wait']] };
	const BEHIND: Wires = { Create: [['Next']], Next: [['Wait']] };
	const STEP = { stepOf: 'Create' };
	const saidIn = (hints: readonly string[]) => hints.filter((hint) => hint.includes('nothing'));

	test.each<[string, INode, Wires, boolean, Partial<EnvironmentOptions>]>([
		['nothing follows', NEXT, {}, true, {}],
		['another node follows', NEXT, { Create: [['Next']] }, true, {}],
		['Wait for Video is not connected to it', WAIT, {}, true, {}],
		['Wait for Video is deactivated', { ...WAIT, disabled: true }, FOLLOWED, true, {}],
		['Wait for Video follows', WAIT, FOLLOWED, false, {}],
		['Wait for Video follows further on', WAIT, BEHIND, false, {}],
		['only this step is executed', NEXT, {}, true, STEP],
		// The step runs without what follows: that may wait.
		['only this step, and a node follows', NEXT, { Create: [['Next']] }, false, STEP],
	])('is a hint where %s', async (_where, node, wires, expected, more) => {
		const creating = packageNode('Create', 'createVideo', { parameters: parametersOf({}) });
		const { hints } = await service.flow([creating, node, NEXT], wires, ['a'], more);
		const said =
			'1 video is generating, and nothing in this workflow waits. Connect Wait for Video, or switch on Wait Until Finished';
		expect(saidIn(hints)).toStrictEqual(expected ? [said] : []);
	});

	test('is none that a limit has left out', async () => {
		const options = { maximumVideos: 2, takeWhatFits: true };
		const { hints } = await create(['a', 'b', 'c'], options, UNATTENDED);
		expect(saidIn(hints)).toStrictEqual([expect.stringMatching(/^2 videos are generating/)]);
	});

	test.each(['completed', 'failed'])('is none of an earlier try that is %s', async (status) => {
		service.answers = { b: [KEY_REJECTED] };
		await create(['a', 'b'], {}, UNATTENDED);
		service.tables.edit(() => true, { status, finished_at: new Date().toISOString() });
		const { hints, outputs } = await create(['a', 'b'], {}, { ...UNATTENDED, ...RETRY });
		expect(outputs[0]).toMatchObject([{ json: { status } }, { json: { task_id: 'task-b' } }]);
		expect(saidIn(hints)).toStrictEqual([expect.stringMatching(/^1 video is generating/)]);
	});

	test('is none that the service has made before it answers', async () => {
		service.answers = { a: [reply({ task_id: 'task-a', status: 'Succeeded' })] };
		const { hints } = await create(['a', 'b'], {}, UNATTENDED);
		expect(saidIn(hints)).toStrictEqual([expect.stringMatching(/^1 video is generating/)]);
	});

	test('is none of a dry run, for which nothing waits, either', async () => {
		const { outputs, hints } = await create(['a'], { dryRun: true });
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: '', reason: 'dry_run' });
		expect(server.requests).toHaveLength(0);
		expect(hints.filter((hint) => /finished|nothing/.test(hint))).toStrictEqual([]);
	});
});

const PUT = 'Put Output File in Field';

test.each<[IDataObject, string]>([
	// Neither on nor off.
	[{ download: '={{ ["FALSE", "no"][$itemIndex] }}' }, 'Download Video is no'],
	// A field that an item would not have.
	[{ binaryProperty: '={{ ["data", " __proto__"][$itemIndex] }}' }, `${PUT} is __proto__`],
	[{ options: { thumbnailProperty: '__proto__' } }, 'Put Thumbnail in Field is __proto__'],
	[
		{ options: { downloadThumbnail: true, thumbnailProperty: 'data' } },
		'Put Thumbnail in Field is also the field of the video',
	],
	[{ options: { fileName: '={{ $("No").item.json.name }}' } }, "Referenced node doesn't exist"],
])('%j is found before anything is paid', async (parameters, message) => {
	const { options, ...more } = parameters;
	const { error } = await create(['a', 'b'], options as IDataObject, { parameters: more });
	expect(error!.message).toContain(message);
	expect(server.requests).toHaveLength(0);
});

test('Always Output Data sends no empty item where the run of what is left is put off', async () => {
	service.answers = { 'task-b': [reply({ task_id: 'task-b', ...MODERATED })] };
	const parameters = parametersOf({}, WAITS);
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
	const result = await service.flow(nodes, wires, ['a', 'b']);
	expect(result.status).toBe('error');
	expect(idsOf(allItems(result, 'Next').flat())).toStrictEqual(['task-a']);
	expect(allItems(result, 'Merge').flat()).toHaveLength(2);
});

test('a Maximum Wait that is wrong in one item fails this one only', async () => {
	const onError = 'continueErrorOutput';
	const options = { maximumWait: '={{ $itemIndex * 5 }}' };
	const { outputs } = await create(['a', 'b'], options, { onError });
	expect(filesOf(outputs[0])).toStrictEqual(['task-b.mp4']);
	expect(outputs[1]!.map(({ json: { error } }) => error)).toStrictEqual(['Maximum Wait is 0']);
});

test('a video over the time fails with its task_id, and the remedy', async () => {
	service.answers = { 'task-a': PROCESSING };
	await withFakeTimers(async ({ passedMs }) => {
		const more = { onError: 'continueErrorOutput' } as const;
		const { error, outputs } = await create(['a'], { maximumWait: 1 }, more);
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
	expect(service.tables.rows).toMatchObject([{ task_id: 'task-a', finished_at: null }]);
});

test('an empty "error" and a "reason" of the service are no failure of the item, also with Retry On Fail', async () => {
	service.answers = { a: [reply({ task_id: 'task-a', error: '', reason: 'none' })] };
	const { outputs } = await create(['a'], {}, { retryOnFail: true });
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
	test.each<[string, string, Answer]>([
		['a video fails', 'task-b', reply(MODERATED)],
		['the key is rejected', 'task-b', KEY_REJECTED],
		['a download fails', '/cdn/task-b', GONE],
		['another creation is rejected', 'b', reject(406)],
	])('Retry On Fail goes on with the same tasks after %s', async (_name, step, answer) => {
		service.answers = { [step]: [answer] };
		const { outputs, status } = await create(['a', 'b'], {}, { retryOnFail: true });
		expect(status).toBe('success');
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4', 'task-b.mp4']);
		expect(requested(CREATE)).toStrictEqual(step === 'b' ? ['a', 'b', 'b'] : ['a', 'b']);
		const ids = service.tables.rows.map(({ task_id }) => task_id);
		expect(ids.sort()).toStrictEqual(tasksOf('a', 'b'));
	});

	test.each([
		['one item', 'this execution', ['a']],
		['one item', 'another execution', ['a']],
		['two items with one key', 'this execution', ['a', 'a']],
		['items with one key and other prompts', 'this execution', ['a 1', 'a 2']],
		['items with one key and other prompts', 'another execution', ['a 1', 'a 2']],
		['a prompt with the time', 'this execution', ['a {{ $now }}']],
	])(
		'a failed video of the key of %s, created by %s, is not created again by a retry',
		async (_name, by, prompts) => {
			const isOfOther = by === 'another execution';
			const options = { idempotencyKey: 'a', useExistingVideo: true };
			const prompt = `=${prompts[0]!.includes('$') ? prompts[0]! : '{{ $json.prompt }}'}`;
			const runAs = async (more: More) =>
				await withFakeTimers(
					async () => await create(prompts, options, { parameters: { prompt }, ...more }),
				);
			if (isOfOther) await runAs(another('9'));
			service.tables.edit(() => true, { status: 'open', finished_at: null });
			server.requests.length = 0;
			service.ending = MODERATED;
			const failed = await runAs({ retryOnFail: true });
			expect(failed.error!.message).toMatch(/moderation.*costs nothing/);
			const again = await failed.resume(RETRY.execution);
			expect(again.error!.message).toMatch(/moderation.*costs nothing/);
			// Of a killed execution the rows alone are left.
			if (!isOfOther) await runAs(retryAs('13'));
			expect(requested(CREATE)).toHaveLength(isOfOther ? 0 : 1);
			expect(service.tables.rows).toMatchObject([{ status: 'failed' }]);
			// The next execution has another one.
			service.ending = { status: 'completed' };
			await runAs(another('14'));
			expect(requested(CREATE)).toHaveLength(isOfOther ? 1 : 2);
		},
	);

	test('a failed video of another execution is not created again by the run of what is left', async () => {
		const options = { idempotencyKey: '={{ $json.prompt }}' };
		await create(['a'], options, { ...UNATTENDED, ...another('9') });
		service.answers = { 'task-a': reply(MODERATED) };
		const failed = await create(['a', 'b'], options);
		expect(idsOf(allItems(failed, 'Tested')[0])).toStrictEqual(['task-b']);
		const again = await failed.resume(RETRY.execution);
		expect(again.error!.message).toMatch(/moderation/);
		expect(requested(CREATE)).toStrictEqual(['a', 'b']);
	});

	test('two items with one key whose outcome is unknown: Retry On Fail waits for nobody', async () => {
		service.answers = { a: [breakOff] };
		const { error } = await withFakeTimers(async ({ passedMs }) => {
			const result = await create(['a', 'a'], { idempotencyKey: 'a' }, { retryOnFail: true });
			expect(passedMs()).toBeLessThan(10_000);
			return result;
		});
		expect(error!.message).toMatch(/may have been created.*Retry does not send again/);
		expect(error!.message).not.toContain('in use');
		expect(requested(CREATE)).toStrictEqual(['a']);
	});

	test.each([
		['polls', 'task-b'],
		['downloads', '/cdn/task-b'],
	])('a kill while it %s: the retry goes on with the same tasks', async (_name, request) => {
		await service.runKilledAt(request, async () => await create(['a', 'b']));
		const { outputs, status } = await create(['a', 'b'], {}, RETRY);
		expect(status).toBe('success');
		expect(requested(CREATE)).toStrictEqual([]);
		expect(idsOf(outputs[0])).toStrictEqual(tasksOf('a', 'b'));
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4', 'task-b.mp4']);
		expect(outputs[0]![0]!.json).toMatchObject({ reused: true, request: { prompt: 'a' } });
		expect(service.tables.rows).toMatchObject([
			{ task_id: 'task-a', finished_at: DATE },
			{ task_id: 'task-b', finished_at: DATE },
		]);
	});

	test('a kill when everything was done, with more videos than are updated one by one', async () => {
		// So many that their rows are replaced, not updated.
		const prompts = Array.from({ length: 30 }, (_, index) => `p${index}`);
		await create(prompts);
		expect(service.tables.rows).toHaveLength(30);
		server.requests.length = 0;
		const { outputs } = await create(prompts, {}, RETRY);
		expect(requested(CREATE)).toStrictEqual([]);
		expect(filesOf(outputs[0])).toStrictEqual(prompts.map((prompt) => `task-${prompt}.mp4`));
		expect(service.tables.rows).toHaveLength(30);
	});

	test('Stop: the retry goes on with the same task', async () => {
		const { onStart, cancel } = canceler();
		service.answers = {
			'task-a': [
				(response) => {
					PROCESSING(response);
					response.on('close', () => {
						setImmediate(cancel);
					});
				},
			],
		};
		const stopped = await create(['a'], {}, { onStart });
		expect(stopped.status).toBe('canceled');
		expect(service.tables.rows).toMatchObject([{ task_id: 'task-a', finished_at: null }]);
		const { outputs } = await create(['a'], {}, RETRY);
		expect(requested(CREATE)).toStrictEqual(['a']);
		expect(filesOf(outputs[0])).toStrictEqual(['task-a.mp4']);
	});
});

describe('delivered_at, by which a Filter drops what has gone on before', () => {
	const DELIVERED = '2026-01-02T03:04:05.000Z';
	const KEYED = { idempotencyKey: '={{ $json.prompt }}' };
	const deliveredOf = (items: readonly INodeExecutionData[] = []) =>
		items.map(({ json: { delivered_at } }) => delivered_at);

	test.each([
		['in a retry of the execution that was killed', RETRY, null, undefined],
		['in a retry, where it was collected by another one', RETRY, DELIVERED, DELIVERED],
		['in the next execution', another('12'), null, DELIVERED],
	])('of what the execution has created, %s', async (_name, later, collected_at, expected) => {
		await create(['a'], KEYED);
		service.tables.edit(() => true, { delivered_at: DELIVERED, collected_at });
		const { outputs } = await create(['a'], KEYED, later);
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a', reused: true });
		expect(deliveredOf(outputs[0])).toStrictEqual([expected]);
	});

	test.each([
		['a first execution', {}],
		['a retry', RETRY],
	])(
		'of videos that a try has delivered whose output n8n discards, in %s',
		async (_name, execution) => {
			await create(['b'], KEYED, { ...UNATTENDED, ...another('9') });
			if (execution === RETRY) await create(['c'], KEYED, UNATTENDED);
			service.answers = { a: [reject(429)] };
			const onError = 'continueRegularOutput';
			const more = { ...execution, onError, retryOnFail: true } as const;
			const { outputs } = await create(['a', 'b', 'c'], KEYED, more);
			expect(idsOf(outputs[0])).toStrictEqual(tasksOf('a', 'b', 'c'));
			const times = service.tables.rows.map(({ delivered_at }) => delivered_at);
			expect(times).toStrictEqual([DATE, DATE, DATE]);
			expect(deliveredOf(outputs[0])).toStrictEqual([undefined, undefined, undefined]);
		},
	);
});

describe('as a tool', () => {
	const tool = async (more: More = {}) =>
		await create(['a'], {}, { type: 'createVideoTool', ...more });

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
		['a video that fails', reply(MODERATED), { reason: 'failed', error_message: 'moderation' }],
		[
			'a key that is rejected meanwhile',
			KEY_REJECTED,
			{ status: 'queued', error_message: expect.stringContaining('rejected') as string },
		],
	])('%s is a result with the task_id: the tool does not create it again', async (...row) => {
		const [, answer, result] = row;
		service.answers = { 'task-a': answer };
		const { outputs, status } = await tool({ retryOnFail: true });
		expect(status).toBe('success');
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a', ...result });
		expect(requested(CREATE)).toStrictEqual(['a']);

		// The service names its first task again, which no other creation may have.
		service.forget();
		service.tables = dataTables();
		const continued = await tool({ onError: 'continueRegularOutput' });
		expect(continued.outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a', ...result });
	});
});

describe('in a streaming chat', () => {
	const NEXT = [['Next']];
	const PROGRESS = /^1 finished, after \d s$/;
	const READY = /^> The video is ready: http.*task-a$/;
	const STARTED = /^> The video is not finished: task task-a$/;
	const ALONE = parametersOf({});
	const ALL = parametersOf({}, WAITS);
	const WAIT = { taskId: '=task-{{ $json.prompt }}', download: false };
	const ONCE = { ...WAIT, waitMode: 'once' };

	test.each<[string, string, IDataObject, string[][], RegExp[]]>([
		['it ends with the URL', 'createVideo', ALL, [], [PROGRESS, READY]],
		['it ends with the task', 'createVideo', ALONE, [], [STARTED]],
		['it ends with the URL', 'waitForVideo', WAIT, [[], ['Next']], [PROGRESS, READY]],
		['it ends with the URL, asked for once', 'waitForVideo', ONCE, [], [PROGRESS, READY]],
		['a node follows', 'createVideo', ALL, NEXT, [PROGRESS]],
		['a node follows', 'createVideo', ALONE, NEXT, []],
		['a node follows', 'waitForVideo', WAIT, NEXT, [PROGRESS]],
	])('%s: %s, row %#', async (_title, type, parameters, wires, said) => {
		const nodes = [packageNode('Tested', type, { parameters }), stubNode('Next', pass)];
		const more = { streaming: true };
		const { chunks, status } = await service.flow(nodes, { Tested: wires }, ['a'], more);
		expect(status).toBe('success');
		const texts = chunks.filter(({ type: kind }) => kind === 'item');
		expect(texts.map(({ content }) => content!.trim())).toStrictEqual(
			said.map((line) => expect.stringMatching(line) as string),
		);
	});

	test('a node that follows Failed alone says nothing of a finished video, and of a failed one', async () => {
		service.answers = { 'task-a': reply({ task_id: 'task-a', status: 'failed' }) };
		const items = [{ prompt: 'a' }, { prompt: 'b' }];
		const { chunks } = await service.wait(items, WAIT, { streaming: true });
		const said = chunks.map(({ content = '' }) => content).join('');
		expect(said).toMatch(/1 finished, 1 failed.*> The video is ready: http\S*task-b\s*$/s);
	});

	test.each<[string, IDataObject, string]>([
		['limit', { maximumVideos: '={{ 0 }}', takeWhatFits: true }, 'a limit is reached'],
		['dry run', { dryRun: true }, 'this was a dry run'],
	])('it is told why a video was not created: a %s', async (_why, options, why) => {
		const output = `The video was not created: ${why}`;
		const parameters = parametersOf(options, { ...WAITS });
		const nodes = [
			packageNode('Create', 'createVideo', { parameters }),
			packageNode('Wait', 'waitForVideo', {}),
		];
		for (const wires of [{}, { Create: [['Wait']] }]) {
			const result = await service.flow(nodes, wires, ['a'], { streaming: true });
			expect(allItems(result, 'Create')[0]).toMatchObject([{ json: { output } }]);
			const said = result.chunks.map(({ content = '' }) => content.trim()).filter(Boolean);
			expect(said).toStrictEqual([`> ${output}`]);
		}
	});

	test.each(
		(['createVideo', 'waitForVideo'] as const).flatMap((node) =>
			ON_ERROR.map((onError) => [node, onError] as const),
		),
	)('it is told that %s has failed, with %s', async (type, onError) => {
		const parameters = { taskId: '={{ $json.prompt }}' };
		const more = { type, onError, streaming: true, parameters };
		const { chunks } = await create([''], {}, more);
		const label = type === 'createVideo' ? 'Prompt' : 'Task ID';
		expect(chunks.map(({ type: kind, content }) => [kind, content?.trim()])).toContainEqual([
			'item',
			`> ${label} is empty`,
		]);
		expect(chunks.at(-1)!.type).toBe('end');
	});
});
