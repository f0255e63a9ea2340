import type { INode, INodeExecutionData } from 'n8n-workflow';

import {
	allItems,
	packageNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
	type Wires,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED, ERROR, FAILED } from '../support/waitOutputs';

const WAIT = 'Wait';

/** Status by task; every other task is processing. */
let states: Record<string, string>;
/** How far the clock of this process, which stands still, is ahead, in milliseconds. */
let aheadMs: number;
/** How far the clock is set forward during the next poll, in milliseconds. */
let jumpMs: number;

const server = serverForEach((response, { body }) => {
	const { task_id } = body as { task_id: string };
	const status = states[task_id] ?? 'processing';
	aheadMs += jumpMs;
	jumpMs = 0;
	if (status === 'unknown') {
		json(response, 404, { error: { message: 'Unknown task' } });
		return;
	}
	if (status === 'limited') {
		response.setHeader('Retry-After', '40');
		json(response, 429, { error: { message: 'Slow down' } });
		return;
	}
	json(response, 200, {
		task_id,
		status,
		...(status === 'completed' ? { video_url: 'https://cdn.example/x.mp4' } : {}),
	});
});

beforeEach(() => {
	states = {};
	aheadMs = 0;
	jumpMs = 0;
	const startMs = Date.now();
	jest.spyOn(Date, 'now').mockImplementation(() => startMs + aheadMs);
});
afterEach(() => {
	jest.restoreAllMocks();
});

const ids = (...taskIds: string[]) => taskIds.map((task_id) => ({ task_id }));
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
const WIRES: Wires = { [WAIT]: [['Done'], ['Lost']] };

async function suspend(
	more: Partial<RunOptions> & { readonly nodeSettings?: Partial<INode> } = {},
	wires = WIRES,
) {
	const { nodeSettings } = more;
	const nodes = [
		{
			...packageNode(WAIT, 'waitForVideo', {
				...more,
				parameters: { download: false, waitMode: 'suspend', ...more.parameters },
			}),
			...nodeSettings,
		},
		...['Done', 'Lost'].map((name) => stubNode(name, (items) => items)),
	];
	const credential = { baseUrl: server.url, apiKey: 'k-secret' };
	return await runWorkflow(nodes, wires, WAIT, { credential, ...more });
}

/** Resumes the execution at the time for which it is scheduled. */
async function resumeLater(result: RunResult): Promise<RunResult> {
	aheadMs += result.run.waitTill!.getTime() - Date.now();
	return await result.resume();
}

const secondsAhead = ({ run }: RunResult) =>
	Math.round((run.waitTill!.getTime() - Date.now()) / 1000);

test('the execution is suspended while videos are generating, and then returns all of them', async () => {
	const first = await suspend({ items: ids('a', 'b', 'c') });
	expect(first.status).toBe('waiting');
	expect(secondsAhead(first)).toBeGreaterThanOrEqual(60);
	expect(secondsAhead(first)).toBeLessThan(70);
	// As a webhook answers meanwhile; n8n removes this run when it resumes.
	expect(first.outputs.map(idsOf)).toStrictEqual([['a', 'b', 'c']]);
	expect(allItems(first, 'Done')).toStrictEqual([]);
	expect(server.requests).toHaveLength(3);

	states = { a: 'completed' };
	const second = await resumeLater(first);
	expect(second.status).toBe('waiting');
	expect(server.requests).toHaveLength(6);

	states = { a: 'completed', b: 'failed', c: 'completed' };
	const third = await resumeLater(second);
	expect(third.status).toBe('success');
	// Finished tasks are not polled again.
	expect(server.requests).toHaveLength(8);
	expect(third.outputs.map(idsOf)).toStrictEqual([['a', 'c'], ['b']]);
	expect(idsOf(allItems(third, 'Done')[0])).toStrictEqual(['a', 'c']);
	expect(idsOf(allItems(third, 'Lost')[0])).toStrictEqual(['b']);

	const [a, c] = third.outputs[COMPLETED]!.map(({ json: fields }) => fields);
	expect(a!['history']).toMatch(/^processing [\d.]+ s, completed [\d.]+ s$/);
	expect(a!['waited_seconds']).toBeGreaterThanOrEqual(60);
	expect(a!['waited_seconds']).toBeLessThan(80);
	expect(c!['waited_seconds']).toBeGreaterThanOrEqual(120);
	expect(third.outputs[COMPLETED]!.map(({ pairedItem }) => pairedItem)).toStrictEqual([
		{ item: 0 },
		{ item: 2 },
	]);
});

test('the saved state is removed at the end, so that the next batch of a loop starts without it', async () => {
	const waiting = await suspend({ items: ids('a') });
	expect(JSON.stringify(waiting.run.data.executionData!.contextData)).toContain('processing');
	states = { a: 'completed' };
	const done = await resumeLater(waiting);
	expect(JSON.stringify(done.run.data.executionData!.contextData)).not.toContain('processing');
});

test('a task that is already completed does not suspend the execution', async () => {
	states = { a: 'completed' };
	const { status, outputs } = await suspend({ items: ids('a') });
	expect(status).toBe('success');
	expect(outputs.map(idsOf)).toStrictEqual([['a'], []]);
});

test('polling times out after ten minutes, to the second', async () => {
	const startMs = Date.now();
	let result = await suspend({ items: ids('a') });
	let steps = 0;
	for (; result.status === 'waiting'; steps++) result = await resumeLater(result);
	expect(steps).toBeLessThanOrEqual(10);
	expect(Math.round((Date.now() - startMs) / 1000)).toBe(600);
	expect(result.outputs[FAILED]![0]!.json).toMatchObject({
		task_id: 'a',
		status: 'processing',
		reason: 'timeout',
	});
});

test('a second batch in the same execution has its own polling state', async () => {
	const nodes = [
		packageNode(WAIT, 'waitForVideo', { parameters: { download: false, waitMode: 'suspend' } }),
		stubNode('Loop', (items) =>
			idsOf(items)[0] === 'a' ? items.map(() => ({ json: { task_id: 'b' } })) : [[], items],
		),
	];
	const wires = { [WAIT]: [['Loop']], Loop: [[WAIT]] };
	const credential = { baseUrl: server.url, apiKey: 'k' };
	const first = await runWorkflow(nodes, wires, WAIT, { credential, items: ids('a') });
	states = { a: 'completed' };
	const second = await resumeLater(first);
	expect(second.status).toBe('waiting');
	states = { b: 'completed' };
	const done = await resumeLater(second);
	expect(done.status).toBe('success');
	expect(idsOf(allItems(done, WAIT)[COMPLETED])).toStrictEqual(['a', 'b']);
	expect(done.outputs[COMPLETED]![0]!.json['waited_seconds']).toBeLessThan(70);
});

test('Execute step polls in place, because n8n would not resume the node', async () => {
	states = { a: 'completed' };
	const { status, outputs } = await suspend({ items: ids('a'), stepOf: WAIT }, {});
	expect(status).toBe('success');
	expect(outputs.map(idsOf)).toStrictEqual([['a'], []]);
});

test('Always Output Data adds no empty item', async () => {
	const first = await suspend({ items: ids('a'), nodeSettings: { alwaysOutputData: true } });
	states = { a: 'completed' };
	const last = await resumeLater(first);
	expect(last.error).toBeUndefined();
	expect(idsOf(allItems(last, 'Done')[0])).toStrictEqual(['a']);
});

test('each result is linked to the item from which it came, and other branches run once', async () => {
	const nodes = [
		stubNode('Create', (items) => items),
		packageNode(WAIT, 'waitForVideo', { parameters: { download: false, waitMode: 'suspend' } }),
		...['Done', 'Other'].map((name) => stubNode(name, (items) => items)),
	];
	const wires: Wires = { Create: [[WAIT, 'Other']], [WAIT]: [['Done']] };
	const credential = { baseUrl: server.url, apiKey: 'k' };
	const first = await runWorkflow(nodes, wires, 'Create', { credential, items: ids('a', 'b') });
	expect(first.status).toBe('waiting');
	states = { b: 'completed' };
	const second = await resumeLater(first);
	states = { a: 'completed', b: 'completed' };
	const last = await resumeLater(second);
	const { runData } = last.run.data.resultData;
	expect(idsOf(allItems(last, WAIT)[COMPLETED])).toStrictEqual(['a', 'b']);
	expect(runData[WAIT]!.at(-1)!.source).toMatchObject([{ previousNode: 'Create' }]);
	expect(runData['Done']).toHaveLength(1);
	expect(runData['Other']).toHaveLength(1);
});

test.each(['v0', 'v1'] as const)(
	'a node that joins two branches runs once, with the results (execution order %s)',
	async (executionOrder) => {
		const inputs: number[] = [];
		const nodes = [
			stubNode('Create', (items) => items),
			packageNode(WAIT, 'waitForVideo', {
				parameters: { download: false, waitMode: 'suspend' },
			}),
			stubNode('Other', (items) => items),
			stubNode('Merge', (items) => {
				inputs.push(items.length);
				return items;
			}),
		];
		const wires: Wires = {
			Create: [[WAIT, 'Other']],
			[WAIT]: [['Merge']],
			Other: [['Merge#1']],
		};
		const credential = { baseUrl: server.url, apiKey: 'k' };
		const options = { credential, items: ids('a', 'b'), executionOrder };
		const first = await runWorkflow(nodes, wires, 'Create', options);
		expect(first.status).toBe('waiting');
		const second = await resumeLater(first);
		expect(second.status).toBe('waiting');
		expect(inputs).toStrictEqual([]);
		states = { a: 'completed', b: 'completed' };
		const last = await resumeLater(second);
		expect(last.status).toBe('success');
		expect(inputs).toStrictEqual([2]);
	},
);

test('with an error output it is the third one, and a suspended step adds nothing to it', async () => {
	const first = await suspend({ items: ids('a', 'b'), onError: 'continueErrorOutput' }, {});
	expect(idsOf(first.outputs.flat())).toStrictEqual(['a', 'b']);
	expect(allItems(first, 'Done')).toStrictEqual([]);
	states = { a: 'completed', b: 'failed' };
	const last = await resumeLater(first);
	expect(last.outputs.map(idsOf).slice(0, ERROR)).toStrictEqual([['a'], []]);
	expect(last.outputs[ERROR]).toMatchObject([{ json: { details: { task_id: 'b' } } }]);
});

test('a suspended step has a hint below its output: the progress, and the time of the next poll', async () => {
	states = { a: 'completed' };
	const { run } = await suspend({ items: ids('a', 'b') });
	expect(run.data.resultData.runData[WAIT]!.at(-1)!.hints).toStrictEqual([
		{
			message: expect.stringMatching(
				/^1 finished, 1 generating, after \d s, next poll in 6\d s$/,
			) as string,
			type: 'info',
			location: 'outputPane',
		},
	]);
});

test('with Retry On Fail a field "error" of the first input item does not make n8n run a suspended step again', async () => {
	const items = [{ task_id: 'a', error: 'of a node before', topic: 'sea' }];
	const first = await suspend({ items, retryOnFail: true });
	expect(first.status).toBe('waiting');
	expect(first.outputs[COMPLETED]).toMatchObject([{ json: { task_id: 'a', topic: 'sea' } }]);
	expect(server.requests).toHaveLength(1);
	states = { a: 'completed' };
	const last = await resumeLater(first);
	expect(idsOf(allItems(last, 'Done')[COMPLETED])).toStrictEqual(['a']);
});

test.each([
	['is never finished', 'processing'],
	['is not known', 'unknown'],
])('with Retry On Fail a wait for a video that %s ends', async (_name, state) => {
	states = { a: state };
	const parameters = { options: { maximumWait: 1 } };
	const wires = { [WAIT]: [['Done']] };
	const { error } = await withFakeTimers(async (time) => {
		let result = await suspend({ items: ids('a'), retryOnFail: true, parameters }, wires);
		for (let steps = 0; result.status === 'waiting' && steps < 9; steps += 1) {
			time.moveSystemClock(result.run.waitTill!.getTime() - Date.now());
			result = await result.resume();
		}
		return result;
	});
	expect(error!.message).toMatch(/^The video (was not finished in time|could not|failed)/);
});

test('a clock that was set back in between does not put off the polls', async () => {
	const first = await suspend({ items: ids('a') });
	aheadMs -= 3_600_000;
	const second = await first.resume();
	expect(secondsAhead(second)).toBeLessThan(70);
	const third = await resumeLater(second);
	expect(server.requests).toHaveLength(2);
	// Ten minutes later the time is over.
	aheadMs += 601_000;
	const { outputs } = await third.resume();
	expect(outputs[FAILED]).toMatchObject([{ json: { task_id: 'a', reason: 'timeout' } }]);
});

test('a clock that was set back in between does not prolong a pause after a 429', async () => {
	states = { a: 'limited' };
	const first = await suspend({ items: ids('a') });
	aheadMs -= 3_600_000;
	const second = await first.resume();
	expect(secondsAhead(second)).toBeLessThan(70);
});

test.each([3_600_000, -3_600_000])(
	'a clock that is set by %i ms during a poll changes no times',
	async (ms) => {
		jumpMs = ms;
		const first = await suspend({ items: ids('a') });
		expect(secondsAhead(first)).toBeGreaterThanOrEqual(60);
		expect(secondsAhead(first)).toBeLessThan(70);
		const second = await resumeLater(first);
		expect(server.requests).toHaveLength(2);
		expect(second.status).toBe('waiting');
		states = { a: 'completed' };
		const { outputs } = await resumeLater(second);
		const waited = outputs[COMPLETED]![0]!.json['waited_seconds'];
		expect(waited).toBeGreaterThanOrEqual(120);
		expect(waited).toBeLessThan(140);
	},
);
