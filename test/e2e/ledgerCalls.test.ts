// @seconds 40
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { ListedExecution, WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { thorough } from '../support/thorough';
import {
	callingWorkflow,
	compareBooks,
	CREATIONS,
	IN_ORDER,
	ledgerRows,
	until,
	VIDEOS,
} from './support/ledger';
import { RUN_LIMIT_MS } from './support/session';
import { useSession } from './support/useSession';

/** A Retry in a sub-workflow is shown by the others, and the matching of equal prompts by the engine in process. */
const itThoroughly = thorough(it.skip, it);
const IN_BACKGROUND = { mode: 'once', options: { waitForSubWorkflow: false } };

const session = useSession({ videoSeconds: 0.01 });

let tries = 0;
let key = '';

beforeEach(() => {
	tries++;
	key = `${expect.getState().currentTestName!.replace(/\W+/g, '-')}-${tries}`;
});

/** Publishes a workflow that calls a sub-workflow, and starts it; returns both. */
async function begin(
	drawing: Parameters<typeof callingWorkflow>[2],
): Promise<Record<'calling' | 'called', WorkflowRef>> {
	const { called, ...rest } = await callingWorkflow(key, session.client, drawing);
	const calling = await session.publish(rest);
	await postWebhook(`${session.n8n.url}/webhook/${key}`, { key });
	return { calling, called };
}

/**
 * The end of the first execution of a workflow that others call. The table operations of its nodes are listed for a moment
 * as later ones, and without it while it begins.
 */
async function firstCalled(ref: WorkflowRef): Promise<Execution> {
	let first: ListedExecution | undefined;
	await until(async () => {
		first = (await session.client.executions(ref)).at(-1);
		return first !== undefined && !['new', 'running'].includes(first.status);
	});
	return await session.client.waitForExecution(first!.id);
}

async function retry({ id }: Pick<Execution, 'id'>): Promise<Execution> {
	return await session.client.readExecution(await session.client.retry(id));
}

async function expectVideos(execution: Execution, node = 'Create Video'): Promise<void> {
	expect(execution.status).toBe('success');
	expect(outputItems(execution, node)).toHaveLength(VIDEOS);
	expect(await compareBooks(session.emulator, session.client, key)).toStrictEqual(IN_ORDER);
}

/** The creation of the fifth video fails for certain. */
function refuse(): void {
	session.emulator.faults.add({ kind: 'status', status: 409, path: CREATIONS, skip: 4 });
}

// Once for all items: whatIsLeft.test.ts.
it(
	'the retry of an execution that has called a sub-workflow for each item repeats no creation',
	async () => {
		refuse();
		const { calling } = await begin({ mode: 'each' });
		const failed = await session.client.lastExecution(calling);
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
		session.emulator.faults.add(SECOND_ROUND);
		const parameters = { prompt, options: { concurrency: 1 } };
		const { calling } = await begin({ mode: 'once', isLoop: true, more: { parameters } });
		const failed = await session.client.lastExecution(calling);
		expect(failed.status).toBe('error');
		return failed;
	}

	it(
		'a Retry with other prompts pays for none',
		async () => {
			const failed = await beginLoop('={{ $json.prompt }} of {{ $execution.id }}');
			session.emulator.journal.clear();
			const execution = await retry(failed);
			expect(failureOf(execution)).toMatch(
				/shot 2 of \d+".*was the prompt ".*shot 2 of \d+"/,
			);
			expect(session.emulator.journal.of(CREATIONS)).toHaveLength(0);
		},
		RUN_LIMIT_MS,
	);

	itThoroughly(
		'equal prompts have videos of their own after two Retries',
		async () => {
			const failed = await beginLoop(`${key} shot`);
			// The last one of the third round.
			session.emulator.faults.add({ ...SECOND_ROUND, skip: 2 });
			const again = await retry(failed);
			expect(again.status).toBe('error');
			const execution = await retry(again);
			expect(execution.status).toBe('success');
			const ids = outputItems(execution, 'Wait for Video').map(({ json }) => json['task_id']);
			expect(new Set(ids).size).toBe(VIDEOS);
			expect(await ledgerRows(session.client, key)).toHaveLength(VIDEOS);
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
