// @seconds 100
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import type { Worker } from '../../lab/n8n/startQueue';
import { seededRandom } from '../support/seededRandom';
import { thorough } from '../support/thorough';
import { COMPLETED } from '../support/waitOutputs';
import { node, webhook, workflow } from '../e2e/support/buildWorkflow';
import { start } from '../e2e/support/drawAgent';
import {
	compareBooks,
	CREATIONS,
	expectEnd,
	expectFile,
	IN_ORDER,
	LEDGER,
	ledgerRows,
	MOMENTS,
	POLLS,
	prepare,
	requestsOf,
	until,
	VIDEOS,
	videosWorkflow,
} from '../e2e/support/ledger';
import { isAlive, SHORT_INTERVALS, startQueueSession } from '../e2e/support/queueSession';
import { SET_UP_LIMIT_MS } from '../e2e/support/session';
import { useSessionOf } from '../e2e/support/useSession';

const LIMIT_MS = 5 * 60_000;
const random = seededRandom(81);

/** One execution for each kind of moment; the first kind last, right before the kill. */
const EXECUTIONS = MOMENTS.map((kind, index) => ({
	key: `Queue-${index}`,
	moment: kind(Math.floor(random() * VIDEOS)),
})).reverse();

/** The execution whose videos have an Idempotency Key. */
const KEYED = 'Keyed';

/** How the worker of an execution ends whose videos have an Idempotency Key. */
const ENDS = {
	Killed: async (worker: Worker) => {
		await worker.kill();
	},
	// n8n goes on for 30 s.
	'Shut-down': async ({ pid }: Worker) => {
		process.kill(pid, 'SIGTERM');
		await Promise.resolve();
	},
} as const;
/** How many of its videos have a task by then. */
const KNOWN = 3;

/** The executions in which the main process is killed. */
const MAIN_KEYS = thorough(['Main-1'], ['Main-1', 'Main-2']);
const CHATS = '/v1/chat/completions';

const OPTIONS = { videoSeconds: 0.01, settings: SHORT_INTERVALS };
const session = useSessionOf((running) => startQueueSession(running, OPTIONS));
let collecting: WorkflowRef;
const refs = new Map<string, WorkflowRef>();

beforeAll(async () => {
	for (const key of [...EXECUTIONS.map((each) => each.key), ...MAIN_KEYS])
		refs.set(key, await session.publish(videosWorkflow(key)));
	for (const key of [KEYED, ...Object.keys(ENDS)])
		refs.set(key, await session.publish(videosWorkflow(key, { isKeyed: true })));
	const asking = node('Plan', 'n8n-nodes-agent-video.superAssistant', 1, {
		parameters: { appCode: 'demo-assistant', message: 'Make a plan' },
		credential: 'Emulator',
	});
	refs.set('Plan', await session.publish(workflow('Plan', [webhook('Plan'), asking])));
	collecting = await session.client.importWorkflow(
		workflow('Collect', [
			start,
			node('Wait for Video', 'n8n-nodes-agent-video.waitForVideo', 1, {
				parameters: { tasks: 'ledger', ledgerTasks: 'project', options: { minimumAge: 0 } },
				credential: 'Emulator',
			}),
		]),
	);
}, SET_UP_LIMIT_MS);

/** Starts an execution by its webhook; returns its ID. */
async function begin(key: string, videos = VIDEOS): Promise<string> {
	const list = async () =>
		(await session.client.executions(refs.get(key)!)).map(({ id }) => Number(id));
	const known = await list();
	await postWebhook(`${session.queue.main.url}/webhook/${key}`, { key, videos });
	// n8n may list it a little later; the operations on tables are executions of the workflow, too.
	let id = Infinity;
	await until(async () => {
		id = Math.min(...(await list()).filter((each) => !known.includes(each)));
		return id < Infinity;
	});
	return String(id);
}

const finished = (execution: Execution) =>
	outputItems(execution, 'Wait for Video', COMPLETED).map(({ json }) => json['task_id']);

it(
	'the workers are killed in six executions at six moments',
	async () => {
		const { client, emulator, queue } = session;
		const ids = new Map<string, string>();
		for (const { key, moment } of EXECUTIONS) {
			prepare(emulator, key, moment);
			ids.set(key, await begin(key));
			await until(() => moment.hasCome(requestsOf(emulator, key)));
		}
		// The call of the assistant is never answered.
		emulator.faults.add({ kind: 'stall', path: CHATS });
		ids.set('Plan', await begin('Plan'));
		await until(() => emulator.journal.of(CHATS).length > 0);
		await begin(KEYED, VIDEOS / 2);
		await until(
			() => requestsOf(emulator, KEYED).filter(({ path }) => path === POLLS).length > 0,
		);
		await Promise.all(queue.workers.map((worker) => worker.kill()));
		emulator.faults.clear();
		await queue.addWorker();

		const ends = EXECUTIONS.map(async ({ key }) => {
			const killed = await client.waitForExecution(ids.get(key)!);
			const books = await compareBooks(emulator, client, key);
			const retry = await client.readExecution(await client.retry(killed.id));
			return { key, status: killed.status, books, ran: retry.data.resultData.runData };
		});
		// n8n has forgotten the start of an execution whose worker died: its Retry runs no node, and the ledger is all that
		// is left of the videos.
		expect(await Promise.all(ends)).toStrictEqual(
			EXECUTIONS.map(({ key }) => ({ key, status: 'error', books: IN_ORDER, ran: {} })),
		);
		const plan = await client.waitForExecution(ids.get('Plan')!);
		expect(failureOf(plan)).toContain('failed to be processed too many times');
		expect(emulator.journal.of(CHATS)).toHaveLength(1);
	},
	LIMIT_MS,
);

it(
	'a workflow with an Idempotency Key creates only what is missing when it is run again',
	async () => {
		const { client, emulator } = session;
		const execution = await client.waitForExecution(await begin(KEYED));
		expect(await compareBooks(emulator, client, KEYED)).toStrictEqual(IN_ORDER);
		await expectEnd(client, KEYED, execution);
		// The main process can read what a worker has stored.
		const [video] = outputItems(execution, 'Wait for Video', COMPLETED);
		await expectFile(client, video!);
		const created = outputItems(execution, 'Create Video').map(({ json }) => json['reused']);
		expect(created).toStrictEqual(
			Array.from({ length: VIDEOS }, (_, shot) => (shot < VIDEOS / 2 ? true : undefined)),
		);
	},
	LIMIT_MS,
);

it(
	'a later execution delivers what the killed ones have left open',
	async () => {
		const rows = (await session.client.dataTableRows(LEDGER))!;
		const open = rows
			.filter((row) => row['finished_at'] === null && row['task_id'])
			.map((row) => row['task_id']);
		expect(open.length).toBeGreaterThan(VIDEOS);
		const collected = await session.execute(collecting);
		expect(finished(collected).sort()).toStrictEqual(open.sort());
		expect(finished(await session.execute(collecting))).toStrictEqual([]);
	},
	LIMIT_MS,
);

it(
	'the main process is killed: the worker finishes the videos',
	async () => {
		const { client, emulator, queue } = session;
		for (const key of MAIN_KEYS) {
			emulator.faults.add({ kind: 'hold', path: CREATIONS, contains: `${key} `, count: 9 });
			const id = await begin(key);
			await until(() => requestsOf(emulator, key).length === 2);
			await queue.replaceMain();
			emulator.faults.clear();
			const execution = await client.waitForExecution(id);
			expect(await compareBooks(emulator, client, key)).toStrictEqual(IN_ORDER);
			await expectEnd(client, key, execution);
		}
	},
	LIMIT_MS,
);

// A worker that shuts down and a key that is in use take 30 s and 90 s.
thorough(it.skip, it)(
	'workers end in the middle of creations with keys: running again delivers the known tasks, and its retry the rest',
	async () => {
		const { client, emulator, queue } = session;
		const ended: Worker[] = [];
		for (const [key, end] of Object.entries(ENDS)) {
			// These are lost: nobody can tell, and they have no task.
			const lost = { kind: 'stall', contains: `${key} `, skip: KNOWN, count: 99 } as const;
			emulator.faults.add({ ...lost, path: CREATIONS });
			const id = await begin(key);
			await until(async () => {
				const rows = await ledgerRows(client, key);
				const isKnown = rows.filter((row) => row['task_id']).length === KNOWN;
				return isKnown && requestsOf(emulator, key).length === KNOWN + 2;
			});
			const worker = queue.workers[session.workerOf(id)]!;
			await end(worker);
			ended.push(worker);
			await queue.addWorker();
		}
		// One that shuts down may take another execution from the queue, which n8n then fails.
		await until(() => !ended.some(isAlive));
		emulator.faults.clear();

		const keys = Object.keys(ENDS);
		const ids = await Promise.all(keys.map(async (key) => await begin(key)));
		const again = await Promise.all(
			ids.map(async (id) => await client.waitForExecution(id, { limitMs: LIMIT_MS })),
		);
		expect(again.map((each) => [finished(each).length, failureOf(each)])).toStrictEqual(
			keys.map(() => [KNOWN, expect.stringContaining('Idempotency Key is in use') as string]),
		);

		// A person looks for them at the service.
		await client.deleteDataTableRows(LEDGER, 'status', 'sent');
		for (const [index, key] of keys.entries()) {
			const retry = await client.readExecution(await client.retry(ids[index]!));
			expect(failureOf(retry)).toBe('');
			const books = await compareBooks(emulator, client, key);
			expect(books).toStrictEqual(IN_ORDER);
			const rows = await ledgerRows(client, key);
			expect(rows.map((row) => row['status'])).toStrictEqual(Array(VIDEOS).fill('done'));
		}
	},
	LIMIT_MS,
);
