import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { chance } from '../../emulator/random';
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { taskStatus } from '../../emulator/video/taskStatus';
import { withFakeTimers } from '../support/fakeTimers';
import { PATHS } from './soakFaults';
import { load, type Told } from './soakLoad';

const KEY = 'demo-key';
/** Heap that half an hour of load may leave behind, in bytes: the emulator's journal, and what the test keeps. */
const HEAP_SLACK = 30 * 1024 * 1024;

const WARM_UP_MS = 5 * 60_000;

let emulator: Emulator;
let told: Told;
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
	emulator = await startEmulator({ clock: 'virtual', videoSeconds: 60 });
	const stalls = watchStalls(emulator);
	const atStart = await resources();
	try {
		const end = await withFakeTimers(
			async (time) => {
				const [result, warm] = await Promise.all([load(emulator, KEY, time), warmedUp()]);
				// Connections that have just ended take their timers with them.
				await turns();
				return { result, warm, timersLeft: time.pendingTimers() };
			},
			{
				onAdvance: (ms) => void emulator.clock.advance(Math.round(ms)),
				heldElsewhere: () => stalls.open(),
			},
		);
		told = end.result;
		timersLeft = end.timersLeft;
		before = { ...end.warm, sockets: atStart.sockets };
	} finally {
		stalls.stop();
	}
	after = await resources();
}, 300_000);

afterAll(async () => {
	process.off('warning', noteWarning);
	await emulator.stop();
});

function noteWarning(warning: Error): void {
	warnings.push(warning);
}

test('there was a load, and much went wrong', () => {
	const faults = emulator.journal.entries.filter(({ fault }) => fault !== undefined);
	const failed = [...told.replies.values()].filter((each) => each === 'failed');
	process.stdout.write(
		`30 minutes: ${told.runs} runs, ${emulator.journal.entries.length} requests, ${faults.length} of them with a fault, ` +
			`${failed.length} of ${told.replies.size} replies lost, ${emulator.tasks.all.length} tasks, ` +
			`${Math.round((after.heapBytes - before.heapBytes) / 1e6)} MB more on the heap\n`,
	);
	expect(told.runs).toBeGreaterThan(500);
	expect(faults.length).toBeGreaterThan(200);
	expect(failed.length).toBeGreaterThan(20);
	expect(told.replies.size - failed.length).toBeGreaterThan(200);
});

test('every task in the books is one that a node has told of, and the other way round', () => {
	const inBooks = emulator.tasks.all.map(({ id, video }) => [video.prompt, id] as const);
	// No prompt was sent twice.
	expect(new Set(inBooks.map(([prompt]) => prompt)).size).toBe(inBooks.length);

	const unknown = inBooks.filter(([prompt, id]) => {
		const creation = told.creations.get(prompt);
		return creation?.taskId === undefined
			? creation?.outcomeUnknown !== true
			: creation.taskId !== id;
	});
	expect(unknown).toStrictEqual([]);

	const ids = new Set(inBooks.map(([, id]) => id));
	const invented = [...told.creations.values()].filter(
		({ taskId }) => taskId !== undefined && !ids.has(taskId),
	);
	expect(invented).toStrictEqual([]);
});

test('every task ended in a node as it ended in the books', () => {
	const nowMs = emulator.clock.now();
	const inBooks = emulator.tasks.all.map((task) => [task.id, taskStatus(task, nowMs).status]);
	const inNodes = emulator.tasks.all.map(({ id }) => {
		const { status, reason } = told.endings.get(id) ?? {};
		return [id, reason === 'timeout' ? 'processing' : status];
	});
	expect(inNodes).toStrictEqual(inBooks);
	expect(told.endings.size).toBe(emulator.tasks.all.length);
});

test('no paid call was sent again where it may have been carried out', () => {
	const paid = emulator.journal.entries.filter(
		({ path, status = 0 }) =>
			path !== PATHS.query && !path.startsWith(PATHS.files) && status !== 429,
	);
	const bodies = paid.map(({ body }) => JSON.stringify(body));
	expect(bodies.filter((body, index) => bodies.indexOf(body) !== index)).toStrictEqual([]);
});

test('the books know every reply that a node gave', () => {
	const given = emulator.journal.of(PATHS.chat).filter(({ status }) => status === 200);
	const texts = given.map(({ body }) => JSON.stringify(body));
	const answered = [...told.replies].filter(([, outcome]) => outcome === 'answered');
	expect(
		answered.filter(([question]) => !texts.some((text) => text.includes(`${question}"`))),
	).toStrictEqual([]);
});

test('nothing leaks', () => {
	expect(warnings).toStrictEqual([]);
	expect(timersLeft).toBe(0);
	expect(after.sockets).toBe(before.sockets);
	expect(after.listeners).toBe(before.listeners);
	expect(after.heapBytes - before.heapBytes).toBeLessThan(HEAP_SLACK);
});

/** What is in use when all that is made once has been made. */
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

/** Counts the requests that the emulator lets wait for ever. */
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
