// @seconds 10
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { chance } from '../../emulator/random';
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { taskStatus } from '../../emulator/video/taskStatus';
import { withFakeTimers } from '../support/fakeTimers';
import { PATHS, UNKNOWN_WORD } from './soakFaults';
import { load, LOAD_MINUTES, type LoadReport } from './soakLoad';

const KEY = 'demo-key';
/** Allowed heap growth in bytes: the emulator's journal and the records of the test. */
const HEAP_SLACK = LOAD_MINUTES * 1024 * 1024 + 5 * 1024 * 1024;

const WARM_UP_MS = (LOAD_MINUTES / 6) * 60_000;

let emulator: Emulator;
let report: LoadReport;
let before: Resources;
let after: Resources;
let timersLeft: number;
const warnings: Error[] = [];

interface Resources {
	readonly heapBytes: number;
	readonly sockets: number;
	readonly listeners: number;
}

beforeAll(async () => {
	process.on('warning', noteWarning);
	let draws = 0;
	jest.spyOn(Math, 'random').mockImplementation(() => chance('soak', 'draw', draws++));
	emulator = await startEmulator({ clock: 'virtual', videoSeconds: 60, wordsInVideos: false });
	const stalls = watchStalls(emulator);
	const atStart = await resources();
	try {
		const end = await withFakeTimers(
			async (time) => {
				const [result, warm] = await Promise.all([load(emulator, KEY, time), warmedUp()]);
				// Timers of connections that have just closed are removed first.
				await turns();
				return { result, warm, timersLeft: time.pendingTimers() };
			},
			{
				onAdvance: (ms) => void emulator.clock.advance(Math.round(ms)),
				heldElsewhere: () => stalls.open(),
			},
		);
		report = end.result;
		timersLeft = end.timersLeft;
		before = { ...end.warm, sockets: atStart.sockets };
	} finally {
		stalls.stop();
	}
	after = await resources();
}, 600_000);

afterAll(async () => {
	process.off('warning', noteWarning);
	await emulator.stop();
});

function noteWarning(warning: Error): void {
	warnings.push(warning);
}

test('the load was high, and many requests had faults', () => {
	const faults = emulator.journal.entries.filter(({ fault }) => fault !== undefined);
	const failed = [...report.replies.values()].filter((each) => each === 'failed');
	process.stdout.write(
		`${LOAD_MINUTES} minutes: ${report.runs} runs, ${emulator.journal.entries.length} requests, ${faults.length} of them with a fault, ` +
			`${failed.length} of ${report.replies.size} replies lost, ${emulator.tasks.all.length} tasks, ` +
			`${Math.round((after.heapBytes - before.heapBytes) / 1e6)} MB more on the heap\n`,
	);
	const least = (inHalfAnHour: number) => (inHalfAnHour * LOAD_MINUTES) / 30;
	expect(report.runs).toBeGreaterThan(least(500));
	expect(faults.length).toBeGreaterThan(least(200));
	expect(failed.length).toBeGreaterThan(least(20));
	expect(report.replies.size - failed.length).toBeGreaterThan(least(200));
});

test('the nodes reported exactly the tasks that exist at the service', () => {
	const atService = emulator.tasks.all.map(({ id, video }) => [video.prompt, id] as const);
	// No prompt was sent twice.
	expect(new Set(atService.map(([prompt]) => prompt)).size).toBe(atService.length);

	const unknown = atService.filter(([prompt, id]) => {
		const creation = report.creations.get(prompt);
		return creation?.taskId === undefined
			? creation?.outcomeUnknown !== true
			: creation.taskId !== id;
	});
	expect(unknown).toStrictEqual([]);

	const ids = new Set(atService.map(([, id]) => id));
	const invented = [...report.creations.values()].filter(
		({ taskId }) => taskId !== undefined && !ids.has(taskId),
	);
	expect(invented).toStrictEqual([]);
});

test('a node reported the same final status as the service for every task', () => {
	const nowMs = emulator.clock.now();
	const atService = emulator.tasks.all.map((task) => [task.id, taskStatus(task, nowMs).status]);
	const inNodes = emulator.tasks.all.map(({ id }) => {
		const { status, reason } = report.endings.get(id) ?? {};
		// A fault has put an unknown word into the last report: its URL says that the task is completed.
		if (reason === undefined && status === UNKNOWN_WORD) return [id, 'completed'];
		return [id, reason === 'timeout' ? 'processing' : status];
	});
	expect(inNodes).toStrictEqual(atService);
	expect(report.endings.size).toBe(emulator.tasks.all.length);
});

test('no paid call that may have been processed was sent again', () => {
	const paid = emulator.journal.entries.filter(
		({ path, status = 0 }) =>
			path !== PATHS.query && !path.startsWith(PATHS.files) && status !== 429,
	);
	const bodies = paid.map(({ body }) => JSON.stringify(body));
	expect(bodies.filter((body, index) => bodies.indexOf(body) !== index)).toStrictEqual([]);
});

test('the service has a record of every reply that a node returned', () => {
	const given = emulator.journal.of(PATHS.chat).filter(({ status }) => status === 200);
	const texts = given.map(({ body }) => JSON.stringify(body));
	const answered = [...report.replies].filter(([, outcome]) => outcome === 'answered');
	expect(
		answered.filter(([question]) => !texts.some((text) => text.includes(`${question}"`))),
	).toStrictEqual([]);
});

test('no memory, socket, timer or listener leaks', () => {
	expect(warnings).toStrictEqual([]);
	expect(timersLeft).toBe(0);
	expect(after.sockets).toBe(before.sockets);
	expect(after.listeners).toBe(before.listeners);
	expect(after.heapBytes - before.heapBytes).toBeLessThan(HEAP_SLACK);
});

/** The resources in use after the warm-up, when everything that is created once exists. */
async function warmedUp(): Promise<Resources> {
	await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
	return await resources();
}

async function turns(): Promise<void> {
	for (let turn = 0; turn < 50; turn++) await setImmediate();
}

async function resources(): Promise<Resources> {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	await turns();
	collect();
	const listeners = process.eventNames().map((name) => process.listenerCount(name));
	return {
		heapBytes: process.memoryUsage().heapUsed,
		sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
		listeners: listeners.reduce((sum, count) => sum + count, 0),
	};
}

/** Counts the pending requests that the emulator never answers. */
function watchStalls({ journal }: Emulator): { open(): number; stop(): void } {
	const CHANNEL = 'http.server.request.start';
	const open = new Map<number, ServerResponse>();
	let requests = 0;
	const onRequest = (message: unknown) => {
		const { response } = message as { response: ServerResponse };
		const number = requests++;
		open.set(number, response);
		response.once('close', () => open.delete(number));
	};
	subscribe(CHANNEL, onRequest);
	return {
		open: () =>
			[...open.keys()].filter((number) => journal.entries[number]?.fault?.startsWith('stall'))
				.length,
		stop: () => unsubscribe(CHANNEL, onRequest),
	};
}
