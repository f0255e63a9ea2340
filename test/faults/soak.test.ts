// @seconds 10
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { IDataObject } from 'n8n-workflow';

import type { Fault } from '../../emulator/faults/fault';
import { chance, pick } from '../../emulator/random';
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { taskStatus } from '../../emulator/video/taskStatus';
import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import { dataTables } from '../support/dataTables';
import {
	allItems,
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
} from '../support/engine';
import { thorough } from '../support/thorough';

const CHAT = '/v1/chat/completions';
const CREATION = '/v1/videos/generations';
const QUERY = '/v1/videos/tasks';
const FILES = '/cdn/';

/** A status that the specification does not have. */
const UNKNOWN_WORD = 'paused';

/** Faults for any path. */
const ANYWHERE: readonly Fault[] = [
	{ kind: 'reset' },
	{ kind: 'stall' },
	{ kind: 'status', status: 503 },
	{ kind: 'status', status: 500, body: 'Oops' },
	{ kind: 'html' },
	{ kind: 'rateLimit', retryAfterSeconds: 2 },
	{ kind: 'rateLimit', retryAfterSeconds: 5, asDate: true },
	{ kind: 'resetBody', afterBytes: 20 },
	{ kind: 'cut', afterBytes: 30 },
	{ kind: 'stallBody', afterBytes: 10 },
	{ kind: 'contentType', type: 'text/html' },
	{ kind: 'split', bytes: 7 },
];

/** Faults by path of the service. */
const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
	[CHAT]: [
		...ANYWHERE,
		{ kind: 'resetBody', afterEvents: 3 },
		{ kind: 'cut', afterEvents: 4 },
		{ kind: 'stallBody', afterEvents: 3 },
		{ kind: 'errorEvent', afterEvents: 2 },
		{ kind: 'garbage', afterEvents: 2 },
		{ kind: 'insert', text: ': still there\n\n', afterEvents: 1 },
		{ kind: 'missingDone' },
		{ kind: 'duplicate', event: 2 },
	],
	[CREATION]: [...ANYWHERE, { kind: 'set', fields: { status: 'dreaming' } }],
	[QUERY]: [...ANYWHERE, { kind: 'set', fields: { status: UNKNOWN_WORD } }],
	[FILES]: [
		{ kind: 'reset' },
		{ kind: 'status', status: 503, body: 'busy' },
		{ kind: 'resetBody', afterBytes: 1_000 },
		{ kind: 'cut', afterBytes: 1_500 },
		{ kind: 'html', status: 200 },
		{ kind: 'contentType', type: 'text/html' },
	],
};

const PATHS = { chat: CHAT, creation: CREATION, query: QUERY, files: FILES };

/** Adds a random fault to a path, in about half of the calls. */
function addRandomFault({ faults }: Emulator, path: string, seed: string): void {
	if (chance(seed, 'whether') < 0.5) return;
	faults.add({ ...pick(FAULTS[path]!, seed, 'which'), path });
}

/** What the nodes reported, to compare with the emulator's tasks and journal. */
interface LoadReport {
	/** Outcome of each paid call, by its question. */
	readonly replies: Map<string, 'answered' | 'failed'>;
	/** Result of each creation, by its prompt: the task, or whether one may exist. */
	readonly creations: Map<string, { readonly taskId?: string; readonly outcomeUnknown: boolean }>;
	/** Final output item of Wait for Video, by task ID. */
	readonly endings: Map<string, IDataObject>;
	/** Number of node runs. */
	runs: number;
}

/** How long the users work, in minutes of fake time. */
const LOAD_MINUTES = thorough(4, 30);
const LOAD_MS = LOAD_MINUTES * 60_000;
/** Maximum pause of a user between two runs. */
const PAUSE_MS = 20_000;
/** Words in a prompt that decide how the emulator ends the task. */
const OUTCOMES = ['', '', '', '', 'fail-task', 'moderated-task', 'unknown-task', 'stuck-task'];
const SEED = 'soak';
const ERROR_OUTPUT = { onError: 'continueErrorOutput' } as const;
const WEATHER = {
	name: 'weather',
	description: 'Tells the weather of a city',
	define: 'fields',
	parameters: { parameter: [{ name: 'city', type: 'string', required: true }] },
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs all nodes, each by a user of its own. */
async function load(emulator: Emulator, apiKey: string, time: FakeTime): Promise<LoadReport> {
	const report: LoadReport = {
		replies: new Map(),
		creations: new Map(),
		endings: new Map(),
		runs: 0,
	};
	const environment = {
		credential: { baseUrl: emulator.url, apiKey },
		tables: dataTables(),
	};
	const toWaitFor: string[] = [];
	const isLoadOver = () => time.passedMs() >= LOAD_MS;

	/** Runs a node repeatedly, with random faults. */
	async function user(
		name: string,
		path: string,
		run: (nth: number, seed: string) => Promise<void>,
	) {
		for (let nth = 0; !isLoadOver(); nth++) {
			const seed = `${SEED} ${name} ${nth}`;
			addRandomFault(emulator, path, seed);
			await run(nth, seed);
			report.runs++;
			await pause(chance(seed, 'pause') * PAUSE_MS);
		}
	}

	async function chat(node: string, parameters: IDataObject, question: string, seed: string) {
		const { outputs } = await runNode(node, {
			...environment,
			...ERROR_OUTPUT,
			streaming: chance(seed, 'live') < 0.5,
			items: [{ question, key: pick(['a', 'b'], seed, 'key') }],
			parameters: {
				streaming: pick(['auto', 'off'], seed, 'streaming'),
				options: { timeout: 60 },
				...parameters,
			},
		});
		note(question, outputs.flat());
	}

	function note(question: string, items: readonly { readonly json: IDataObject }[]): void {
		const isGood = items.length === 1 && items[0]!.json['error'] === undefined;
		report.replies.set(question, isGood ? 'answered' : 'failed');
	}

	async function agent(question: string): Promise<void> {
		const nodes = [
			stubNode('Start', (items) => items),
			packageNode('Agent', 'functionCallingAgent', {
				...ERROR_OUTPUT,
				parameters: {
					prompt: question,
					tools: { tool: [WEATHER] },
					options: { timeout: 60 },
				},
			}),
			stubNode('Weather', () => [{ json: { sky: 'clear' } }]),
		];
		const wires = { Start: [['Agent']], Agent: [[], [], ['Weather']], Weather: [['Agent']] };
		const result = await runWorkflow(nodes, wires, 'Start', environment);
		const ended = allItems(result, 'Agent').flat();
		note(
			question,
			ended.filter(({ json }) => json['tool_call'] === undefined),
		);
	}

	async function model(question: string, stream: boolean): Promise<void> {
		const nodes = [
			packageNode('Model', 'agentVideoChatModel', {
				parameters: { options: { timeout: 60, extraBody: { marker: question } } },
			}),
			modelCallerNode('Chain', { stream }),
		];
		const { status } = await runWorkflow(nodes, {}, 'Chain', {
			...environment,
			model: { name: 'Model', of: 'Chain' },
		});
		report.replies.set(question, status === 'success' ? 'answered' : 'failed');
	}

	async function create(nth: number, seed: string): Promise<void> {
		const prompts = [...Array(1 + Math.floor(chance(seed, 'items') * 3)).keys()].map((item) =>
			`Clip ${nth}-${item} ${pick(OUTCOMES, seed, item)}`.trim(),
		);
		const { outputs } = await runNode('createVideo', {
			...environment,
			...ERROR_OUTPUT,
			retryOnFail: chance(seed, 'retries') < 0.3,
			items: prompts.map((prompt) => ({ prompt })),
			parameters: {
				prompt: '={{ $json.prompt }}',
				model: { __rl: true, mode: 'id', value: 'video-m1' },
			},
		});
		for (const { json, pairedItem } of outputs.flat()) {
			const prompt = prompts[(pairedItem as { item: number }).item]!;
			const details = json['details'] as IDataObject | undefined;
			const { task_id: taskId } = json;
			const isMade = typeof taskId === 'string';
			report.creations.set(prompt, {
				...(isMade ? { taskId } : {}),
				outcomeUnknown: isMade || details?.['outcome_unknown'] === true,
			});
			// When the outcome is unknown, a person would look up the task at the service.
			const task = emulator.tasks.all.find(({ video }) => video.prompt === prompt);
			if (task !== undefined) toWaitFor.push(task.id);
		}
	}

	async function waitFor(taskIds: readonly string[], options: Partial<RunOptions> = {}) {
		const { outputs } = await runNode('waitForVideo', {
			...environment,
			items: taskIds.map((task_id) => ({ task_id })),
			...options,
		});
		for (const { json } of outputs.flat()) {
			const { task_id: taskId, reason } = json as { task_id: string; reason?: string };
			report.endings.set(taskId, json);
			// Polling again costs nothing.
			if (reason === 'http' || reason === 'download') toWaitFor.push(taskId);
		}
	}

	const question = (name: string, nth: number) => `Weather in Rome? ${name} ${nth}`;
	const users = [
		user('chat', PATHS.chat, async (nth, seed) => {
			await chat(
				'chatCompletion',
				{ prompt: '={{ $json.question }}' },
				question('chat', nth),
				seed,
			);
		}),
		user('assistant', PATHS.chat, async (nth, seed) => {
			const session = { session: 'key', sessionKey: '={{ $json.key }}' };
			const parameters = {
				appCode: 'demo-assistant',
				message: '={{ $json.question }}',
				...session,
			};
			await chat('superAssistant', parameters, question('assistant', nth), seed);
		}),
		user('agent', PATHS.chat, async (nth) => {
			await agent(question('agent', nth));
		}),
		user('model', PATHS.chat, async (nth, seed) => {
			await model(question('model', nth), chance(seed, 'stream') < 0.5);
		}),
		user('create', PATHS.creation, create),
		...['one', 'two', 'three'].map(async (name) => {
			await user(`wait ${name}`, PATHS.query, async (_nth, seed) => {
				addRandomFault(emulator, PATHS.files, seed);
				const taken = toWaitFor.splice(0, 5);
				if (taken.length > 0) await waitFor(taken);
			});
		}),
	];
	await Promise.all(users);
	emulator.faults.clear();
	while (toWaitFor.length > 0) await waitFor(toWaitFor.splice(0));
	return report;
}

const KEY = 'demo-key';
/** Allowed heap growth in bytes: the emulator's journal and the records of the test. */
const HEAP_SLACK = LOAD_MINUTES * 1024 * 1024 + 5 * 1024 * 1024;

const WARM_UP_MS = (LOAD_MINUTES / 3) * 60_000;

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
