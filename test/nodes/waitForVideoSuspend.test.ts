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
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const WAIT = 'Wait';

let server: ScriptedServer;
/** Status by task; every other task is processing. */
let states: Record<string, string>;
/** Offset of the clock of this process, in milliseconds. */
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

async function suspend(
	more: Partial<RunOptions> & { readonly nodeSettings?: Partial<INode> } = {},
	wires = LOOP,
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
	expect(first.outputs.map(idsOf)).toStrictEqual([['a', 'b', 'c'], [], []]);
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
	expect(outputs.map(idsOf)).toStrictEqual([[], ['a'], []]);
});

test('polling times out after ten minutes, to the second', async () => {
	const startMs = Date.now();
	let result = await suspend({ items: ids('a') });
	let steps = 0;
	for (; result.status === 'waiting'; steps++) result = await resumeLater(result);
	expect(steps).toBeLessThanOrEqual(10);
	expect(Math.round((Date.now() - startMs) / 1000)).toBe(600);
	expect(result.outputs[2]![0]!.json).toMatchObject({
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
	const wires = { [WAIT]: [[WAIT], ['Loop']], Loop: [[WAIT]] };
	const credential = { baseUrl: server.url, apiKey: 'k' };
	const first = await runWorkflow(nodes, wires, WAIT, { credential, items: ids('a') });
	states = { a: 'completed' };
	const second = await resumeLater(first);
	expect(second.status).toBe('waiting');
	states = { b: 'completed' };
	const done = await resumeLater(second);
	expect(done.status).toBe('success');
	expect(idsOf(allItems(done, WAIT)[1])).toStrictEqual(['a', 'b']);
	expect(done.outputs[1]![0]!.json['waited_seconds']).toBeLessThan(70);
});

test.each<[string, Wires, string]>([
	['missing', { [WAIT]: [[], ['Done']] }, 'Still Generating is not connected'],
	['to another node', { [WAIT]: [['Done']] }, 'Still Generating is connected to Done'],
	['also to another node', { [WAIT]: [[WAIT, 'Done']] }, 'Still Generating is connected to Done'],
])(
	'a loop connection that is %s stops the node before the first poll',
	async (_name, wires, message) => {
		const { error } = await suspend({ items: ids('a') }, wires);
		expect(error).toMatchObject({ name: 'NodeOperationError', message });
		expect(error!.description).toContain('Connect this output to the input of this node');
		expect(server.requests).toHaveLength(0);
	},
);

test('a wrong connection is an error of each item with Continue On Fail', async () => {
	const { status, outputs } = await suspend(
		{ items: ids('a'), onError: 'continueRegularOutput' },
		{ [WAIT]: [[], ['Done']] },
	);
	expect(status).toBe('success');
	expect(outputs.map((items) => items.length)).toStrictEqual([0, 0, 1]);
});

test('Execute step polls in place, because n8n would not resume the node', async () => {
	states = { a: 'completed' };
	const { status, outputs } = await suspend({ items: ids('a'), stepOf: WAIT }, {});
	expect(status).toBe('success');
	expect(outputs.map(idsOf)).toStrictEqual([[], ['a'], []]);
});

test('the console of a manual run has the progress and the time of the next poll', async () => {
	const { messages } = await suspend({ items: ids('a', 'b') });
	expect(messages.at(-1)).toMatch(
		/^0 of 2 videos finished, 2 processing, after \d s, next poll in 6\d s$/,
	);
});

test('Always Output Data adds no empty item to the loop', async () => {
	const first = await suspend({ items: ids('a'), nodeSettings: { alwaysOutputData: true } });
	states = { a: 'completed' };
	const last = await resumeLater(first);
	expect(last.error).toBeUndefined();
	expect(idsOf(allItems(last, 'Done')[0])).toStrictEqual(['a']);
});
