import { setTimeout as sleep } from 'node:timers/promises';

import type { Fault } from '../../../emulator/faults/fault';
import type { JournalEntry } from '../../../emulator/journal';
import type { Emulator } from '../../../emulator/startEmulator';
import { binaryOf, failureOf, outputItems, type Execution } from '../../../lab/n8n/execution';
import type { DataTableRow, N8nClient, WorkflowRef } from '../../../lab/n8n/N8nClient';
import type { Workflow } from '../../../lab/n8n/workflow';
import { COMPLETED } from '../../support/waitOutputs';
import { calledTrigger, calls, drawn, node, webhook, workflow } from './buildWorkflow';
import { publish } from './session';

/** The data table of the paid tasks. */
export const LEDGER = 'agent_video_tasks';
/** What a wait writes into the row of a video that it has given up: the task stays open. */
export const LATE = 'Not finished after 600 seconds; the task may still complete';
export const CREATIONS = '/v1/videos/generations';
export const POLLS = '/v1/videos/tasks';
/** Videos per execution, created two at a time. */
export const VIDEOS = 6;
const CONCURRENCY = 2;
/** More than any execution sends. */
const ALL = 100;
/** The error of a creation without an answer: it says what may exist, and what to do. */
const REPORTED = /may exist.*Retry If Outcome Is Unknown/s;

/** A moment in an execution, and how the service treats its creations until then. */
export interface Moment {
	readonly name: string;
	readonly faults: readonly Fault[];
	/** Whether it has come, by the requests of the execution so far. */
	hasCome(requests: readonly JournalEntry[]): boolean;
}

const to = (path: string) => (entry: JournalEntry) => entry.path === path;
const creations = (requests: readonly JournalEntry[]) => requests.filter(to(CREATIONS));
const answered = (requests: readonly JournalEntry[]) =>
	creations(requests).filter(({ status }) => status !== undefined);

/** The moments by kind, the first before all others; `k` is the number of creations before, from 0. */
export const MOMENTS: readonly ((k: number) => Moment)[] = [
	() => ({ name: 'before the first creation', faults: [], hasCome: () => true }),
	(k) => ({
		name: `when request ${k + 1} is lost`,
		faults: [{ kind: 'stall', path: CREATIONS, skip: k, count: ALL }],
		hasCome: (requests) => creations(requests).length > k,
	}),
	(k) => ({
		name: `when request ${k + 1} has arrived, whose task is created later`,
		faults: [{ kind: 'hold', path: CREATIONS, skip: k, count: ALL }],
		hasCome: (requests) => creations(requests).length > k,
	}),
	(k) => ({
		name: `when task ${k + 1} exists without an answer`,
		faults: [{ kind: 'holdBody', path: CREATIONS, skip: k, count: ALL }],
		hasCome: (requests) => answered(requests).length > k,
	}),
	(k) => ({
		name: `when task ${k + 1} is answered`,
		faults: [{ kind: 'stall', path: CREATIONS, skip: k + 1, count: ALL }],
		hasCome: (requests) => answered(requests).length > k,
	}),
	() => ({
		name: 'while Wait for Video polls',
		faults: [],
		hasCome: (requests) => requests.some(to(POLLS)),
	}),
];

/** What happens to an item of Create Video that fails: n8n's default, or the error output. */
export type OnError = 'stopWorkflow' | 'continueErrorOutput';

interface VideosOptions {
	readonly onError?: OnError;
	/** Other parameters of Create Video. */
	readonly parameters?: object;
	/** Whether the prompt of an item is the Idempotency Key of its video. */
	readonly isKeyed?: boolean;
	/** More settings of Create Video. */
	readonly more?: object;
}

/**
 * A workflow that creates VIDEOS videos, or as many as the body says, and waits for them. Its prompts begin with the key in the body of the
 * webhook: every retry asks for the same.
 */
export function videosWorkflow(
	path: string,
	{ onError = 'stopWorkflow', parameters = {}, isKeyed = false, more = {} }: VideosOptions = {},
): Workflow {
	const key = isKeyed ? { idempotencyKey: '={{ $json.prompt }}' } : {};
	const options = { concurrency: CONCURRENCY, ...key };
	const create = {
		...createNode,
		parameters: { ...createNode.parameters, options, ...parameters },
		...{ onError, ...more },
	};
	return workflow(path, [...startNodes(path), create, waitNode]);
}

const credential = 'Emulator';
const waitNode = node('Wait for Video', 'n8n-nodes-agent-video.waitForVideo', 1, { credential });
const createNode = node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
	parameters: {
		prompt: '={{ $json.prompt }}',
		options: { concurrency: CONCURRENCY },
	},
	credential,
});
const startNodes = (path: string) => [
	webhook(path),
	node('Shots', 'n8n-nodes-base.code', 2, {
		parameters: {
			jsCode: `return [...Array($json.body.videos ?? ${VIDEOS}).keys()].map((shot) => ({ json: { prompt: $json.body.key + ' shot ' + shot } }));`,
		},
	}),
];

/** The same videos, two in each round of a loop. */
export function loopWorkflow(path: string): Workflow {
	return loopOver(path, createNode);
}

function loopOver(path: string, body: Workflow['nodes'][number]): Workflow {
	const loop = node('Loop', 'n8n-nodes-base.splitInBatches', 3, {
		parameters: { batchSize: 2, options: {} },
	});
	return drawn(path, [...startNodes(path), loop, body, waitNode], {
		Start: [['Shots']],
		Shots: [['Loop']],
		Loop: [['Wait for Video'], [body.name]],
		[body.name]: [['Loop']],
	});
}

/**
 * The same videos, created by a sub-workflow that is called for each item, or once; or once in each round of a loop over two.
 *
 * @param more More settings of Create Video.
 */
export async function callingWorkflow(
	path: string,
	client: N8nClient,
	{ mode = 'each', options = {}, more = {}, isLoop = false } = {},
): Promise<Workflow & { readonly called: WorkflowRef }> {
	const nodes = [calledTrigger('When Called'), { ...createNode, ...more }];
	const called = await publish(client, workflow(`${path} called`, nodes));
	const call = calls(called, { mode, options });
	if (isLoop) return { ...loopOver(path, call), called };
	return { ...workflow(path, [...startNodes(path), call, waitNode]), called };
}

/** Milliseconds between two looks at the emulator, in this process, and between two requests to n8n. */
const LOOK_MS = 5;
const ASK_MS = 100;

/** Waits until something is true that the emulator or n8n tells. */
export async function until(
	isTrue: () => boolean | Promise<boolean>,
	limitMs = 100_000,
): Promise<void> {
	for (const deadline = Date.now() + limitMs; Date.now() < deadline;) {
		const answer = isTrue();
		if (await answer) return;
		await sleep(answer instanceof Promise ? ASK_MS : LOOK_MS);
	}
	throw new Error(`Still not true after ${limitMs / 1000} s: ${isTrue.toString()}`);
}

/** The requests of the executions with this key so far. */
export function requestsOf({ journal, tasks }: Emulator, key: string): readonly JournalEntry[] {
	const prompts = new Map(tasks.all.map(({ id, video }) => [id, video.prompt]));
	const promptOfRequest = ({ body }: JournalEntry) =>
		prompts.get((body as { task_id?: string } | undefined)?.task_id ?? '') ?? promptOf(body);
	return journal.entries.filter((entry) => promptOfRequest(entry).startsWith(`${key} `));
}

/** Adds the faults of a moment for the executions with one key; no execution ends before it is killed. */
export function prepare({ faults }: Emulator, key: string, moment: Moment): void {
	faults.add(...moment.faults.map((fault) => ({ ...fault, contains: `${key} ` })));
	faults.add({ kind: 'stall', path: POLLS, count: ALL });
}

/** What the service's books and the ledger say of the executions with one key. */
export interface Books {
	/** Shots that have more than one task. */
	readonly createdTwice: readonly string[];
	/** Tasks that the ledger neither names nor expects. */
	readonly forgotten: readonly string[];
	/** Task IDs in the ledger more than once. */
	readonly listedTwice: readonly string[];
	/** Task IDs in the ledger that the service does not know. */
	readonly invented: readonly string[];
}

/** No video is created twice, and none is forgotten. */
export const IN_ORDER: Books = { createdTwice: [], forgotten: [], listedTwice: [], invented: [] };

/** Compares the books of the emulator with the ledger. */
export async function compareBooks(
	emulator: Emulator,
	client: N8nClient,
	key: string,
): Promise<Books> {
	const tasks = emulator.tasks.all.filter(({ video }) => video.prompt.startsWith(`${key} `));
	const rows = await ledgerRows(client, key);
	const listed = rows.map(taskIdOf).filter(Boolean);
	const expected = new Set(unanswered(rows).map(({ prompt }) => prompt));
	return {
		createdTwice: repeated(tasks.map(({ video }) => shotOf(video.prompt))),
		forgotten: tasks
			.filter(({ id, video }) => !listed.includes(id) && !expected.has(video.prompt))
			.map(({ video }) => shotOf(video.prompt)),
		listedTwice: repeated(listed),
		invented: listed.filter((id) => !tasks.some((task) => task.id === id)),
	};
}

/**
 * Checks how the last execution with a key has ended: it delivers every video that was answered, and the error names what
 * to do about the others.
 */
export async function expectEnd(
	client: N8nClient,
	key: string,
	execution: Execution,
	onError: OnError = 'stopWorkflow',
): Promise<void> {
	const open = unanswered(await ledgerRows(client, key)).map(({ prompt }) => shotOf(prompt));
	const delivered = outputItems(execution, 'Wait for Video', COMPLETED);
	const reasons = outputItems(execution, 'Create Video', 1).map(({ json }) =>
		[json['error'], json['message']].join(' – '),
	);
	if (onError === 'stopWorkflow' && open.length > 0) {
		expect({ status: execution.status, reason: failureOf(execution) }).toStrictEqual({
			status: 'error',
			reason: expect.stringMatching(REPORTED) as string,
		});
		return;
	}
	expect({ failure: failureOf(execution), status: execution.status }).toStrictEqual({
		failure: '',
		status: 'success',
	});
	expect(new Set(delivered.map(({ json }) => json['task_id'])).size).toBe(VIDEOS - open.length);
	expect(reasons).toStrictEqual(open.map(() => expect.stringMatching(REPORTED) as string));
}

/** Checks that n8n has the file of an item. */
export async function expectFile(
	client: N8nClient,
	item: Parameters<typeof binaryOf>[0],
): Promise<void> {
	expect((await client.download(binaryOf(item, 'data'))).length).toBeGreaterThan(1_000);
}

/** The rows of the executions with a key. */
export async function ledgerRows(client: N8nClient, key: string): Promise<readonly DataTableRow[]> {
	const rows = (await client.dataTableRows(LEDGER)) ?? [];
	return rows.filter((row) => promptOf(row).startsWith(`${key} `));
}

/** The creations without an answer. A call has two rows for a moment: one with the task is valid, or either of them. */
export function unanswered(rows: readonly DataTableRow[]): readonly { prompt: string }[] {
	const known = new Set(rows.filter(taskIdOf).map(({ call }) => call));
	const sent = rows.filter((row) => row['status'] === 'sent' && !known.has(row['call']));
	return [...new Map(sent.map((row) => [row['call'], { prompt: promptOf(row) }])).values()];
}

/** The texts of the hints below the output of a node. */
export function hintsOf({ data }: Execution, name: string): string {
	const runs = data.resultData.runData[name] ?? [];
	return runs.flatMap(({ hints = [] }) => hints.map(({ message }) => message)).join('\n');
}

const taskIdOf = (row: DataTableRow) => String(row['task_id'] ?? '');
const promptOf = (holder: unknown) => String((holder as { prompt?: unknown } | null)?.prompt);
/** `shot 3` of a prompt: the key before it differs. */
const shotOf = (prompt: string) => /shot \d+/.exec(prompt)?.[0] ?? prompt;
const repeated = (texts: readonly string[]) =>
	[...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))].sort();
