// @seconds 40
import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { ListedExecution, N8nClient, WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { thorough } from '../support/thorough';
import { workflow } from './support/buildWorkflow';
import {
	callingWorkflow,
	compareBooks,
	CREATIONS,
	IN_ORDER,
	ledgerRows,
	POLLS,
	until,
	VIDEOS,
	videosWorkflow,
} from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

/** A Retry in a sub-workflow is shown by the others, and the matching of equal prompts by the engine in process. */
const itThoroughly = thorough(it.skip, it);
const IN_BACKGROUND = { mode: 'once', options: { waitForSubWorkflow: false } };

let session: Session;
let emulator: Session['emulator'];
let n8n: Session['n8n'];
let client: N8nClient;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 0.01 });
	({ emulator, n8n, client } = session);
	await client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

let tries = 0;
let key = '';

beforeEach(() => {
	tries++;
	key = `${expect.getState().currentTestName!.replace(/\W+/g, '-')}-${tries}`;
});

afterEach(() => {
	emulator.faults.clear();
});

/** Publishes a workflow that calls a sub-workflow, and starts it; returns both. */
async function begin(
	drawing: Parameters<typeof callingWorkflow>[2],
): Promise<Record<'calling' | 'called', WorkflowRef>> {
	const { called, ...rest } = await callingWorkflow(key, client, drawing);
	await client.activate(called);
	const calling = await client.importWorkflow(rest);
	await client.activate(calling);
	await postWebhook(`${n8n.url}/webhook/${key}`, { key });
	return { calling, called };
}

/**
 * The end of the first execution of a workflow that others call. The table operations of its nodes are listed for a moment
 * as later ones, and without it while it begins.
 */
async function firstCalled(ref: WorkflowRef): Promise<Execution> {
	let first: ListedExecution | undefined;
	await until(async () => {
		first = (await client.executions(ref)).at(-1);
		return first !== undefined && !['new', 'running'].includes(first.status);
	});
	return await client.waitForExecution(first!.id);
}

async function retry({ id }: Pick<Execution, 'id'>): Promise<Execution> {
	return await client.readExecution(await client.retry(id));
}

async function expectVideos(execution: Execution, node = 'Create Video'): Promise<void> {
	expect(execution.status).toBe('success');
	expect(outputItems(execution, node)).toHaveLength(VIDEOS);
	expect(await compareBooks(emulator, client, key)).toStrictEqual(IN_ORDER);
}

/** The creation of the fifth video fails for certain. */
function refuse(): void {
	emulator.faults.add({ kind: 'status', status: 409, path: CREATIONS, skip: 4 });
}

// Once for all items: whatIsLeft.test.ts.
it(
	'the retry of an execution that has called a sub-workflow for each item repeats no creation',
	async () => {
		refuse();
		const { calling } = await begin({ mode: 'each' });
		const failed = await client.lastExecution(calling);
		expect(failed.status).toBe('error');
		await expectVideos(await retry(failed), 'Call');
	},
	RUN_LIMIT_MS,
);

describe('a loop over sub-workflows', () => {
	/** The last creation of the second of three rounds fails for certain. */
	const SECOND_ROUND = { kind: 'status', status: 409, path: CREATIONS, skip: 3 } as const;

	/** Starts such a loop; returns its failed execution. */
	async function beginLoop(prompt: string): Promise<Execution> {
		emulator.faults.add(SECOND_ROUND);
		const parameters = { prompt, options: { concurrency: 1 } };
		const { calling } = await begin({ mode: 'once', isLoop: true, more: { parameters } });
		const failed = await client.lastExecution(calling);
		expect(failed.status).toBe('error');
		return failed;
	}

	it(
		'a Retry with other prompts pays for none',
		async () => {
			const failed = await beginLoop('={{ $json.prompt }} of {{ $execution.id }}');
			emulator.journal.clear();
			const execution = await retry(failed);
			expect(failureOf(execution)).toMatch(
				/shot 2 of \d+".*was the prompt ".*shot 2 of \d+"/,
			);
			expect(emulator.journal.of(CREATIONS)).toHaveLength(0);
		},
		RUN_LIMIT_MS,
	);

	itThoroughly(
		'equal prompts have videos of their own after two Retries',
		async () => {
			const failed = await beginLoop(`${key} shot`);
			// The last one of the third round.
			emulator.faults.add({ ...SECOND_ROUND, skip: 2 });
			const again = await retry(failed);
			expect(again.status).toBe('error');
			const execution = await retry(again);
			expect(execution.status).toBe('success');
			const ids = outputItems(execution, 'Wait for Video').map(({ json }) => json['task_id']);
			expect(new Set(ids).size).toBe(VIDEOS);
			expect(await ledgerRows(client, key)).toHaveLength(VIDEOS);
		},
		RUN_LIMIT_MS,
	);
});

itThoroughly(
	'Retry On Fail repeats no creation in a sub-workflow whose caller has ended',
	async () => {
		refuse();
		const more = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1_000 };
		const { called } = await begin({ ...IN_BACKGROUND, more });
		await expectVideos(await firstCalled(called));
	},
	RUN_LIMIT_MS,
);

describe('a node that waits itself', () => {
	/** Starts such a workflow; returns the ID of its execution. */
	async function beginWaiting(): Promise<string> {
		const [start, shots, create] = videosWorkflow(key).nodes;
		const parameters = { ...create!.parameters, waitUntilFinished: true };
		const drawn = workflow(key, [start!, shots!, { ...create!, parameters }]);
		const ref = await client.importWorkflow(drawn);
		await client.activate(ref);
		emulator.journal.clear();
		await postWebhook(`${n8n.url}/webhook/${key}`, { key });
		const [newest] = await client.executions(ref);
		return newest!.id;
	}

	/** Expects a file of each video, and that each was created once. */
	async function expectFiles(execution: Execution): Promise<void> {
		const items = outputItems(execution, 'Create Video');
		expect(items.map(({ json }) => json['status'])).toStrictEqual(
			Array(VIDEOS).fill('completed'),
		);
		for (const item of items)
			expect((await client.download(binaryOf(item, 'data'))).length).toBeGreaterThan(1_000);
		expect(await compareBooks(emulator, client, key)).toStrictEqual(IN_ORDER);
		expect(await ledgerRows(client, key)).toMatchObject(
			Array(VIDEOS).fill({ status: 'done', finished_at: expect.any(String) as string }),
		);
	}

	it(
		"goes on with the same videos after n8n's Stop and Retry",
		async () => {
			emulator.faults.add({ kind: 'holdBody', path: POLLS, count: 99 });
			const id = await beginWaiting();
			await until(() => emulator.journal.of(POLLS).length > 1);
			await client.stop(id);
			expect((await client.waitForExecution(id)).status).toBe('canceled');
			emulator.faults.clear();
			// n8n leaves the error of the stop in the retry, whose node succeeds.
			await expectFiles(await retry({ id }));
		},
		RUN_LIMIT_MS,
	);
});
