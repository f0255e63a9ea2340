// @seconds 15
import { outputItems } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import type { Workflow } from '../../lab/n8n/workflow';
import { CREATIONS, ledgerRows, unanswered, until, VIDEOS, videosWorkflow } from './support/ledger';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;
let emulator: Session['emulator'];
let n8n: Session['n8n'];
let client: Session['client'];

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

afterEach(() => {
	emulator.faults.clear();
});

/** Each shot has a key; two creations are under way at the same time. */
function keyed(path: string, settings: object = {}): Workflow {
	const drawn = videosWorkflow(path, { onError: 'continueErrorOutput' });
	const nodes = drawn.nodes.map((each) => {
		if (each.name !== 'Create Video') return each;
		const options = {
			...(each.parameters['options'] as object),
			idempotencyKey: '={{ $json.prompt }}',
		};
		return { ...each, parameters: { ...each.parameters, options } };
	});
	return { ...drawn, nodes, settings: { ...drawn.settings, ...settings } };
}

/** Starts a batch whose third and fourth creation never get an answer; returns its execution. */
async function begin(path: string, settings?: object): Promise<readonly [WorkflowRef, string]> {
	const ref = await client.importWorkflow(keyed(path, settings));
	await client.activate(ref);
	emulator.journal.clear();
	emulator.faults.add({ kind: 'stall', path: CREATIONS, contains: path, skip: 2, count: 9 });
	await postWebhook(`${n8n.url}/webhook/${path}`, { key: path });
	await until(() => emulator.journal.of(CREATIONS).length === 4);
	const [newest] = await client.executions(ref);
	return [ref, newest!.id];
}

/** The ledger has two tasks, and only the two requests under way as sent. No key is kept. */
async function expectBooks(path: string): Promise<void> {
	await until(async () => (await ledgerRows(client, path)).length === 4, 20_000);
	const rows = await ledgerRows(client, path);
	expect(emulator.journal.of(CREATIONS)).toHaveLength(4);
	expect(unanswered(rows)).toHaveLength(2);
	expect(rows.filter(({ task_id }) => task_id)).toHaveLength(2);
}

it(
	'a stopped batch has only what is under way as sent, and its keys are free at once',
	async () => {
		const [ref, id] = await begin('stopped');
		await client.stop(id);
		await client.waitForExecution(id);
		await expectBooks('stopped');

		// A person finds no video of the two.
		await client.deleteDataTableRows('agent_video_tasks', 'status', 'sent');
		emulator.faults.clear();
		await postWebhook(`${n8n.url}/webhook/stopped`, { key: 'stopped' });
		const again = await client.lastExecution(ref);
		expect(outputItems(again, 'Create Video')).toHaveLength(VIDEOS);
		expect(emulator.tasks.all).toHaveLength(VIDEOS);
	},
	RUN_LIMIT_MS,
);

it(
	'so has a batch that the time limit of its workflow ends',
	async () => {
		const [, id] = await begin('limited', { executionTimeout: 5 });
		await client.waitForExecution(id);
		await expectBooks('limited');
	},
	RUN_LIMIT_MS,
);
