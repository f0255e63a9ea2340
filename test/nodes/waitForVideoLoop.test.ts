import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { allItems, packageNode, runWorkflow, stubNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, serverForEach } from '../support/scriptedServer';

// Ask Once in a loop: Generating leads back to the node through other nodes.

/** When each task was polled, in seconds since the first poll. */
let polledAt: Record<string, number[]>;
let startMs: number | undefined;
let answer: (seconds: number) => readonly [status: number, body: object, headers?: object];

const server = serverForEach((response, { body }) => {
	const { task_id } = body as { task_id: string };
	const seconds = Math.round((Date.now() - (startMs ??= Date.now())) / 100) / 10;
	(polledAt[task_id] ??= []).push(seconds);
	const [status, fields, headers = {}] = answer(seconds);
	for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
	json(response, status, { task_id, ...fields });
});

beforeEach(() => {
	polledAt = {};
	startMs = undefined;
});

const until =
	(end: number): typeof answer =>
	(seconds) => [
		200,
		{
			status: seconds < end ? 'processing' : 'completed',
			video_url: 'https://cdn.example/x.mp4',
		},
	];
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);

async function loop(taskIds: readonly string[], parameters: IDataObject = {}) {
	const nodes = [
		packageNode('Wait', 'waitForVideo', {
			parameters: { download: false, waitMode: 'once', ...parameters },
		}),
		...['Done', 'Lost', 'Again'].map((name) => stubNode(name, (items) => items)),
	];
	const wires = { Wait: [['Done'], ['Lost'], ['Again']], Again: [['Wait']] };
	return await withFakeTimers(
		async () =>
			await runWorkflow(nodes, wires, 'Wait', {
				credential: { baseUrl: server.url, apiKey: 'k' },
				items: taskIds.map((task_id) => ({ task_id })),
			}),
	);
}

const intervals = (times: readonly number[]) =>
	times.slice(1).map((at, index) => at - times[index]!);

test('each task is polled every 5 to 10 s, not as fast as the loop turns', async () => {
	answer = until(30);
	const result = await loop(['a', 'b']);
	expect(idsOf(allItems(result, 'Done')[0]).sort()).toStrictEqual(['a', 'b']);
	for (const times of Object.values(polledAt)) {
		expect(times.length).toBeLessThan(8);
		expect(Math.min(...intervals(times))).toBeGreaterThanOrEqual(4.9);
		expect(Math.max(...intervals(times))).toBeLessThanOrEqual(20);
	}
});

test('the loop waits as long as a 429 says', async () => {
	answer = (seconds) =>
		seconds === 0
			? [429, { error: { message: 'slow down' } }, { 'retry-after': 30 }]
			: until(0)(1);
	const result = await loop(['a']);
	expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a']);
	expect(polledAt['a']).toStrictEqual([0, expect.closeTo(30, 0)]);
});

test('the loop ends with Maximum Wait: the video leaves through Failed', async () => {
	answer = until(Infinity);
	const result = await loop(['a'], { options: { maximumWait: 2 } });
	expect(allItems(result, 'Lost')[0]).toMatchObject([
		{
			json: {
				task_id: 'a',
				reason: 'timeout',
				waited_seconds: expect.closeTo(120, 0) as number,
			},
		},
	]);
});

test('a task that the service does not know leaves the loop at the third answer', async () => {
	answer = () => [404, { error: { message: 'task not found' } }];
	const result = await loop(['a']);
	expect(allItems(result, 'Lost')[0]).toMatchObject([{ json: { reason: 'refused' } }]);
	expect(polledAt['a']).toHaveLength(3);
});
