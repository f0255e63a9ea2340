import type { IDataObject } from 'n8n-workflow';

import { startPoll } from '../../nodes/client/video/pollTasks';
import { nextResumeMs } from '../../nodes/WaitForVideo/execute';
import { reject, reply, RETRY, videoService, type Answer } from '../support/createdVideos';
import { allItems, stubNode, type RunResult, type Wires } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { COMPLETED, ERROR, FAILED } from '../support/waitOutputs';
import { CONNECTED, fieldsOf, ids, idsOf, NOT_FAILED, WAIT, waitIn } from '../support/waitRuns';

// A wait over several runs of the node: suspended by n8n in between, or asked once in a loop.

const service = videoService();
const { server } = service;
/** How far the clock of this process, which stands still, is ahead, in milliseconds. */
let aheadMs: number;

const PROCESSING = reply({ status: 'processing' });
const COMPLETE = reply({ status: 'completed', video_url: 'https://cdn.example/x.mp4' });
const LOST = reply({ status: 'failed' });
const UNKNOWN = reject(404);
const limited = (seconds: number) => reject(429, { 'retry-after': seconds });

beforeEach(() => {
	service.ending = { status: 'processing' };
	aheadMs = 0;
	const startMs = Date.now();
	jest.spyOn(Date, 'now').mockImplementation(() => startMs + aheadMs);
});

const suspend = async (more: Parameters<typeof waitIn>[2] = {}, wires = CONNECTED) =>
	await waitIn(server.url, wires, {
		...more,
		parameters: { waitMode: 'suspend', ...more.parameters },
	});

/** Resumes the execution at the time for which it is scheduled. */
async function resumeLater(result: RunResult, ...how: Parameters<RunResult['resume']>) {
	aheadMs += result.run.waitTill!.getTime() - Date.now();
	return await result.resume(...how);
}

const secondsAhead = ({ run }: RunResult) =>
	Math.round((run.waitTill!.getTime() - Date.now()) / 1000);
const savedBy = ({ run }: RunResult) => JSON.stringify(run.data.executionData!.contextData);

test('the execution is suspended while videos are generating, and then returns all of them', async () => {
	const first = await suspend({ items: ids('a', 'b', 'c') });
	expect(first.status).toBe('waiting');
	expect(secondsAhead(first)).toBeGreaterThanOrEqual(60);
	expect(secondsAhead(first)).toBeLessThan(70);
	// As a webhook answers meanwhile; n8n removes this run when it resumes.
	expect(first.outputs.map(idsOf)).toStrictEqual([['a', 'b', 'c']]);
	expect(allItems(first, 'Done')).toStrictEqual([]);
	expect(server.requests).toHaveLength(3);
	expect(savedBy(first)).toContain('processing');

	service.answers = { a: COMPLETE };
	const second = await resumeLater(first);
	expect(second.status).toBe('waiting');
	expect(server.requests).toHaveLength(6);

	service.answers = { a: COMPLETE, b: LOST, c: COMPLETE };
	const third = await resumeLater(second);
	expect(third.status).toBe('success');
	// Finished tasks are not polled again.
	expect(server.requests).toHaveLength(8);
	expect(third.outputs.map(idsOf)).toStrictEqual([['a', 'c'], ['b']]);
	expect(idsOf(allItems(third, 'Done')[0])).toStrictEqual(['a', 'c']);
	expect(idsOf(allItems(third, 'Lost')[0])).toStrictEqual(['b']);

	// The next batch of a loop starts without it.
	expect(savedBy(third)).not.toContain('processing');
	const [a, c] = fieldsOf(third.outputs[COMPLETED]);
	expect(a!['history']).toMatch(/^processing [\d.]+ s, completed [\d.]+ s$/);
	expect(a!['waited_seconds']).toBeGreaterThanOrEqual(60);
	expect(a!['waited_seconds']).toBeLessThan(80);
	expect(c!['waited_seconds']).toBeGreaterThanOrEqual(120);
	expect(third.outputs[COMPLETED]!.map(({ pairedItem }) => pairedItem)).toStrictEqual([
		{ item: 0 },
		{ item: 2 },
	]);
});

test('a task that is already completed does not suspend the execution', async () => {
	service.answers = { a: COMPLETE };
	const { status, outputs } = await suspend({ items: ids('a') });
	expect(status).toBe('success');
	expect(outputs.map(idsOf)).toStrictEqual([['a'], []]);
});

test('polling times out after ten minutes, to the second', async () => {
	// However slow this machine is.
	jest.spyOn(performance, 'now').mockReturnValue(performance.now());
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

test.each([
	['in the same execution', undefined],
	["in n8n's Retry with the current workflow after a kill", RETRY.execution],
])('a second batch %s has its own polling state', async (_name, retry) => {
	const alwaysOutputData = retry === undefined;
	const start = { ...stubNode('Start', (items) => items), alwaysOutputData };
	const loop = stubNode('Loop', (items) =>
		idsOf(items)[0] === 'a' ? ids('b').map((json) => ({ json })) : [[], items],
	);
	const wires = { Start: [[WAIT]], [WAIT]: [['Loop']], Loop: [[WAIT]] };
	const nodes = [start, loop];
	const first = await suspend({ items: ids('a'), nodes, start: 'Start' }, wires);
	service.answers = { a: COMPLETE };
	const second = await resumeLater(first, retry);
	expect(second.status).toBe('waiting');
	service.answers = { b: COMPLETE };
	const done = await resumeLater(second, { id: '12', token: 't' });
	expect(done.status).toBe('success');
	const videos = allItems(done, WAIT)[COMPLETED]!;
	expect(idsOf(videos)).toStrictEqual(['a', 'b']);
	expect(videos[1]!.json['waited_seconds']).toBeLessThan(70);
});

test('Execute step polls in place, because n8n would not resume the node', async () => {
	service.answers = { a: [PROCESSING, COMPLETE] };
	const { status, outputs } = await withFakeTimers(
		async () => await suspend({ items: ids('a'), stepOf: WAIT }, {}),
	);
	expect(status).toBe('success');
	expect(outputs.map(idsOf)).toStrictEqual([['a'], []]);
});

test('Always Output Data adds no empty item, and task IDs may be names that every object has, and numbers', async () => {
	const items = ids('constructor', '__proto__', 'toString', 'hasOwnProperty', 123);
	const first = await suspend({ items, nodeSettings: { alwaysOutputData: true } });
	expect(first.status).toBe('waiting');
	service.ending = { status: 'completed' };
	const last = await resumeLater(first);
	expect(last.status).toBe('success');
	const done = allItems(last, 'Done').flat();
	expect(idsOf(done)).toStrictEqual(idsOf(items.map((json) => ({ json }))).map(String));
	expect(done[0]!.json['history']).toMatch(/^processing [\d.]+ s, completed [\d.]+ s$/);
});

test('each result is linked to the item from which it came, and other branches run once', async () => {
	const nodes = ['Create', 'Other'].map((name) => stubNode(name, (items) => items));
	const wires: Wires = { Create: [[WAIT, 'Other']], [WAIT]: [['Done']] };
	const first = await suspend({ items: ids('a', 'b'), nodes, start: 'Create' }, wires);
	expect(first.status).toBe('waiting');
	service.answers = { b: COMPLETE };
	const second = await resumeLater(first);
	service.answers = { a: COMPLETE, b: COMPLETE };
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
			...['Create', 'Other'].map((name) => stubNode(name, (items) => items)),
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
		const more = { items: ids('a', 'b'), nodes, start: 'Create', executionOrder };
		const first = await suspend(more, wires);
		expect(first.status).toBe('waiting');
		const second = await resumeLater(first);
		expect(second.status).toBe('waiting');
		expect(inputs).toStrictEqual([]);
		service.answers = { a: COMPLETE, b: COMPLETE };
		const last = await resumeLater(second);
		expect(last.status).toBe('success');
		expect(inputs).toStrictEqual([2]);
	},
);

test('with an error output it is the third one, and a suspended step adds nothing to it', async () => {
	const first = await suspend({ items: ids('a', 'b'), onError: 'continueErrorOutput' }, {});
	expect(idsOf(first.outputs.flat())).toStrictEqual(['a', 'b']);
	expect(allItems(first, 'Done')).toStrictEqual([]);
	service.answers = { a: COMPLETE, b: LOST };
	const last = await resumeLater(first);
	expect(last.outputs.map(idsOf).slice(0, ERROR)).toStrictEqual([['a'], []]);
	expect(last.outputs[ERROR]).toMatchObject([{ json: { details: { task_id: 'b' } } }]);
});

test('a suspended step has a hint below its output: the progress, and the time of the next poll', async () => {
	service.answers = { a: COMPLETE };
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
	service.answers = { a: COMPLETE };
	const last = await resumeLater(first);
	expect(idsOf(allItems(last, 'Done')[COMPLETED])).toStrictEqual(['a']);
});

test.each([
	['is never finished', PROCESSING],
	['is not known', UNKNOWN],
])('with Retry On Fail a wait for a video that %s ends', async (_name, always) => {
	service.answers = { a: always };
	const parameters = { options: { maximumWait: 1 } };
	const { error } = await withFakeTimers(async (time) => {
		let result = await suspend({ items: ids('a'), retryOnFail: true, parameters }, NOT_FAILED);
		for (let steps = 0; result.status === 'waiting' && steps < 9; steps += 1) {
			time.moveSystemClock(result.run.waitTill!.getTime() - Date.now());
			result = await result.resume();
		}
		return result;
	});
	expect(error!.message).toMatch(/^The video (was not finished in time|could not|failed)/);
});

test.each([
	['put off the polls', PROCESSING],
	['prolong a pause after a 429', limited(40)],
])('a clock that was set back in between does not %s', async (_name, answer) => {
	service.answers = { a: answer };
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

test.each([3_600_000, -3_600_000])(
	'a clock that is set by %i ms during a poll changes no times',
	async (ms) => {
		service.onRequest = () => {
			service.onRequest = () => undefined;
			aheadMs += ms;
		};
		const first = await suspend({ items: ids('a') });
		expect(secondsAhead(first)).toBeGreaterThanOrEqual(60);
		expect(secondsAhead(first)).toBeLessThan(70);
		const second = await resumeLater(first);
		expect(server.requests).toHaveLength(2);
		expect(second.status).toBe('waiting');
		service.answers = { a: COMPLETE };
		const { outputs } = await resumeLater(second);
		const waited = outputs[COMPLETED]![0]!.json['waited_seconds'];
		expect(waited).toBeGreaterThanOrEqual(120);
		expect(waited).toBeLessThan(140);
	},
);

describe('a step', () => {
	/** Seconds until the next step of a task that has been polled for `elapsed` seconds. */
	const step = (elapsed: number, timeout: number, pausedUntilMs = 0) => {
		const nowMs = elapsed * 1000;
		const state = { polls: [startPoll('a', 0)], pausedUntilMs };
		return (nextResumeMs(state, nowMs, timeout * 1000) - nowMs) / 1000;
	};

	test.each([
		['takes a minute, where the deadline is whole minutes away', [0, 600], 60],
		['takes a little more, so that a step ends on the deadline', [1, 600], 66.556],
		['takes up to two minutes: a shorter step would end late', [0, 90], 90],
		['takes the remaining time, if it is less than a minute', [560, 600], 40],
		['takes no time, after the deadline', [610, 600], 0],
		['lasts at least until the end of a pause', [0, 600, 100_000], 100],
		['ends at the deadline, before the end of a pause', [0, 600, 3_600_000], 600],
	] as const)('%s', (_name, [elapsed, timeout, pausedUntilMs], seconds) => {
		expect(step(elapsed, timeout, pausedUntilMs)).toBeCloseTo(seconds, 2);
	});

	test('follows the deadline of the oldest unfinished task', () => {
		const finished = { ...startPoll('a', 0), outcome: 'timeout' as const };
		const polls = [finished, startPoll('b', 100_000)];
		expect(nextResumeMs({ polls, pausedUntilMs: 0 }, 100_000, 600_000)).toBe(160_000);
	});
});

describe('Ask Once in a loop', () => {
	/** When each task was polled, in seconds since the first poll. */
	let polledAt: Record<string, number[]>;

	/** Generating leads back to the node through another one. */
	async function loop(answers: typeof service.answers, parameters: IDataObject = {}) {
		polledAt = {};
		let startMs: number | undefined;
		service.answers = answers;
		service.onRequest = (taskId) => {
			const seconds = Math.round((Date.now() - (startMs ??= Date.now())) / 100) / 10;
			(polledAt[taskId] ??= []).push(seconds);
		};
		const wires = { ...CONNECTED, Later: [[WAIT]] };
		const items = ids(...Object.keys(answers));
		const more = { items, parameters: { waitMode: 'once', ...parameters } };
		return await withFakeTimers(async () => await waitIn(server.url, wires, more));
	}

	test('each task is polled every 5 to 10 s, not as fast as the loop turns', async () => {
		const generating = () => [...Array<Answer>(5).fill(PROCESSING), COMPLETE];
		const result = await loop({ a: generating(), b: generating() });
		expect(idsOf(allItems(result, 'Done')[0]).sort()).toStrictEqual(['a', 'b']);
		for (const times of Object.values(polledAt)) {
			const intervals = times.slice(1).map((at, index) => at - times[index]!);
			expect(Math.min(...intervals)).toBeGreaterThanOrEqual(4.9);
			expect(Math.max(...intervals)).toBeLessThanOrEqual(10.1);
		}
	});

	test('the loop waits as long as a 429 says', async () => {
		const result = await loop({ a: [limited(30), COMPLETE] });
		expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a']);
		expect(polledAt['a']).toStrictEqual([0, expect.closeTo(30, 0)]);
	});

	test('the loop ends with Maximum Wait: the video leaves through Failed', async () => {
		const options = { maximumWait: 2 };
		const result = await loop({ a: PROCESSING }, { options });
		const waited_seconds = expect.closeTo(120, 0) as number;
		expect(fieldsOf(allItems(result, 'Lost')[0])).toMatchObject([
			{ task_id: 'a', reason: 'timeout', waited_seconds },
		]);
	});

	test('a task that the service does not know leaves the loop at the third answer', async () => {
		const result = await loop({ a: UNKNOWN });
		expect(fieldsOf(allItems(result, 'Lost')[0])).toMatchObject([{ reason: 'refused' }]);
		expect(polledAt['a']).toHaveLength(3);
	});
});
