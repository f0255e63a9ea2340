import type { INodeExecutionData } from 'n8n-workflow';

import {
	allItems,
	packageNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
	type Wires,
} from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const WAIT = 'Wait';

let server: ScriptedServer;
/** Status of each task; a task that is not here is processing. */
let states: Record<string, string>;
/** How far the clock of this process is ahead, in milliseconds. */
let aheadMs: number;

beforeEach(async () => {
	states = {};
	aheadMs = 0;
	const now = Date.now.bind(Date);
	jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
	server = await startScriptedServer((response, { body }) => {
		const { task_id } = body as { task_id: string };
		const status = states[task_id] ?? 'processing';
		json(response, 200, {
			task_id,
			status,
			...(status === 'completed' ? { video_url: 'x' } : {}),
		});
	});
});
afterEach(async () => {
	jest.restoreAllMocks();
	await server.stop();
});

const ids = (...taskIds: string[]) => taskIds.map((task_id) => ({ task_id }));
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
const LOOP: Wires = { [WAIT]: [[WAIT], ['Done'], ['Lost']] };

async function suspend(more: Partial<RunOptions> = {}, wires = LOOP) {
	const nodes = [
		packageNode(WAIT, 'waitForVideo', {
			...more,
			parameters: { download: false, waitMode: 'suspend', ...more.parameters },
		}),
		...['Done', 'Lost'].map((name) => stubNode(name, (items) => items)),
	];
	const credential = { baseUrl: server.url, apiKey: 'k-secret' };
	return await runWorkflow(nodes, wires, WAIT, { credential, ...more });
}

/** Goes on with the execution when it is due. */
async function later(result: RunResult): Promise<RunResult> {
	aheadMs += result.run.waitTill!.getTime() - Date.now();
	return await result.resume();
}

const secondsAhead = ({ run }: RunResult) =>
	Math.round((run.waitTill!.getTime() - Date.now()) / 1000);

test('the execution is put aside while videos are generating, and delivers them all at once', async () => {
	const first = await suspend({ items: ids('a', 'b', 'c') });
	expect(first.status).toBe('waiting');
	expect(secondsAhead(first)).toBeGreaterThanOrEqual(60);
	expect(secondsAhead(first)).toBeLessThan(70);
	expect(first.outputs.map(idsOf)).toStrictEqual([['a', 'b', 'c'], [], []]);
	expect(server.requests).toHaveLength(3);

	states = { a: 'completed' };
	const second = await later(first);
	expect(second.status).toBe('waiting');
	expect(server.requests).toHaveLength(6);

	states = { a: 'completed', b: 'failed', c: 'completed' };
	const third = await later(second);
	expect(third.status).toBe('success');
	// What is finished is not asked for again.
	expect(server.requests).toHaveLength(8);
	expect(third.outputs.map(idsOf)).toStrictEqual([[], ['a', 'c'], ['b']]);
	expect(idsOf(allItems(third, 'Done')[0])).toStrictEqual(['a', 'c']);
	expect(idsOf(allItems(third, 'Lost')[0])).toStrictEqual(['b']);

	const [a, c] = third.outputs[1]!.map(({ json: fields }) => fields);
	expect(a!['history']).toMatchObject([{ status: 'processing' }, { status: 'completed' }]);
	expect(a!['waited_seconds']).toBeGreaterThanOrEqual(60);
	expect(a!['waited_seconds']).toBeLessThan(80);
	expect(c!['waited_seconds']).toBeGreaterThanOrEqual(120);
	expect(third.outputs[1]!.map(({ pairedItem }) => pairedItem)).toStrictEqual([
		{ item: 0 },
		{ item: 2 },
	]);
});

test('nothing stays behind in the node: the next batch of a loop begins anew', async () => {
	const waiting = await suspend({ items: ids('a') });
	expect(JSON.stringify(waiting.run.data.executionData!.contextData)).toContain('processing');
	states = { a: 'completed' };
	const done = await later(waiting);
	expect(JSON.stringify(done.run.data.executionData!.contextData)).not.toContain('processing');
});

test('what is finished already is delivered without a pause', async () => {
	states = { a: 'completed' };
	const { status, outputs } = await suspend({ items: ids('a') });
	expect(status).toBe('success');
	expect(outputs.map(idsOf)).toStrictEqual([[], ['a'], []]);
});

test('after ten minutes the wait is over, to the second', async () => {
	const startMs = Date.now();
	let result = await suspend({ items: ids('a') });
	let steps = 0;
	for (; result.status === 'waiting'; steps++) result = await later(result);
	expect(steps).toBeLessThanOrEqual(10);
	expect(Math.round((Date.now() - startMs) / 1000)).toBe(600);
	expect(result.outputs[2]![0]!.json).toMatchObject({
		task_id: 'a',
		status: 'processing',
		reason: 'timeout',
	});
});

test('a batch after another in the same execution has polls of its own', async () => {
	const nodes = [
		packageNode(WAIT, 'waitForVideo', { parameters: { download: false, waitMode: 'suspend' } }),
		stubNode('Loop', (items) =>
			idsOf(items)[0] === 'a' ? items.map(() => ({ json: { task_id: 'b' } })) : [[], items],
		),
	];
	const wires = { [WAIT]: [[WAIT], ['Loop']], Loop: [[WAIT]] };
	const credential = { baseUrl: server.url, apiKey: 'k' };
	const first = await runWorkflow(nodes, wires, WAIT, { credential, items: ids('a') });
	states = { a: 'completed' };
	const second = await later(first);
	expect(second.status).toBe('waiting');
	states = { b: 'completed' };
	const done = await later(second);
	expect(done.status).toBe('success');
	expect(idsOf(allItems(done, WAIT)[1])).toStrictEqual(['a', 'b']);
	expect(done.outputs[1]![0]!.json['waited_seconds']).toBeLessThan(70);
});

test.each<[string, Wires, string]>([
	['nowhere', { [WAIT]: [[], ['Done']] }, 'Still Generating leads nowhere'],
	['to another node', { [WAIT]: [['Done']] }, 'Still Generating leads to Done'],
	['elsewhere as well', { [WAIT]: [[WAIT, 'Done']] }, 'Still Generating leads to Done'],
])('a wire that leads %s stops the node before the first query', async (_name, wires, message) => {
	const { error } = await suspend({ items: ids('a') }, wires);
	expect(error).toMatchObject({ name: 'NodeOperationError', message });
	expect(error!.description).toContain('Connect this output to the input of this node');
	expect(server.requests).toHaveLength(0);
});

test('a wrong wire is an error of each item where the node does not stop', async () => {
	const { status, outputs } = await suspend(
		{ items: ids('a'), onError: 'continueRegularOutput' },
		{ [WAIT]: [[], ['Done']] },
	);
	expect(status).toBe('success');
	expect(outputs.map((items) => items.length)).toStrictEqual([0, 0, 1]);
});

test('Execute step polls in place: n8n would not run the node again', async () => {
	states = { a: 'completed' };
	const { status, outputs } = await suspend({ items: ids('a'), stepOf: WAIT }, {});
	expect(status).toBe('success');
	expect(outputs.map(idsOf)).toStrictEqual([[], ['a'], []]);
});

test('a manual run tells in the console how far it is and when it asks again', async () => {
	const { messages } = await suspend({ items: ids('a', 'b') });
	expect(messages.at(-1)).toMatch(
		/^0 of 2 videos finished, 2 processing, after \d s, asking again in 6\d s$/,
	);
});
