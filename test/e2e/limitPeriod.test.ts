// @seconds 60
import { failureOf, outputItems } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import type { Workflow } from '../../lab/n8n/workflow';
import { node, workflow } from './support/buildWorkflow';
import { CREATIONS, LEDGER } from './support/ledger';
import { startQueueSession, type QueueSession } from './support/queueSession';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const VIDEOS_EACH = 2;
let session: QueueSession;

beforeAll(async () => {
	session = await startQueueSession({ videoSeconds: 1 });
	await session.client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

/** A workflow that creates two videos, each with this text in its prompt. */
function creating(path: string, limitPeriod: string, options: object): Workflow {
	return workflow(path, [
		node('Start', 'n8n-nodes-base.webhook', 2.1, {
			parameters: { httpMethod: 'POST', path, responseMode: 'onReceived' },
			webhookId: path,
		}),
		node('Shots', 'n8n-nodes-base.code', 2, {
			parameters: {
				jsCode: `return [...Array(${VIDEOS_EACH}).keys()].map((shot) => ({ json: { prompt: '${path} ' + shot + ' ' + $execution.id } }));`,
			},
		}),
		node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
			parameters: {
				prompt: '={{ $json.prompt }}',
				duration: 5,
				options: { ...options, limitPeriod },
			},
			credential: 'Emulator',
		}),
	]);
}

async function publish(drawn: Workflow): Promise<WorkflowRef> {
	const ref = await session.client.importWorkflow(drawn);
	await session.client.activate(ref);
	return ref;
}

/** Starts executions at the same moment; returns why each has failed, an empty text for one that has not. */
async function execute(path: string, ref: WorkflowRef, count = 1): Promise<readonly string[]> {
	const { client, queue } = session;
	const before = new Set((await client.executions(ref)).map(({ id }) => id));
	await Promise.all(
		Array.from({ length: count }, () => postWebhook(`${queue.main.url}/webhook/${path}`, {})),
	);
	const begun = (await client.executions(ref)).filter(({ id }) => !before.has(id));
	const ended = await Promise.all(begun.map(({ id }) => client.waitForExecution(id)));
	return ended.map(failureOf);
}

const tasksOf = (path: string) =>
	session.emulator.tasks.all.filter(({ video }) => video.prompt.startsWith(`${path} `));
const rows = async () => (await session.client.dataTableRows(LEDGER)) ?? [];

it(
	'executions on two workers at the same moment do not exceed a limit of the day',
	async () => {
		const path = 'limited';
		const ref = await publish(creating(path, 'day', { maximumVideos: 6 }));
		const failures = await execute(path, ref, 6);
		const workers = (await session.client.executions(ref)).map(({ id }) =>
			session.workerOf(id),
		);
		expect(new Set(workers)).toStrictEqual(new Set([0, 1]));
		for (const failure of failures.filter((each) => each !== ''))
			expect(failure).toMatch(
				/Maximum Videos is 6\. This run would create [12], and this workflow has created [5-8] today/,
			);
		const { length } = tasksOf(path);
		// Two that do not fit any more are both refused, though one would.
		expect(length).toBeGreaterThanOrEqual(5);
		expect(length).toBeLessThanOrEqual(6);
		const open = Array<string>(length).fill('open');
		expect((await rows()).map(({ status }) => status)).toStrictEqual(open);

		const [later] = await execute(path, ref);
		expect(later).toMatch(`has created ${length} today`);
		expect(tasksOf(path)).toHaveLength(length);
	},
	2 * RUN_LIMIT_MS,
);

it(
	'a limit of the month counts this workflow only, and takes what fits',
	async () => {
		const path = 'fitting';
		const options = { maximumVideos: 3, takeWhatFits: true };
		const ref = await publish(creating(path, 'month', options));
		expect([await execute(path, ref), await execute(path, ref)]).toStrictEqual([[''], ['']]);
		expect(tasksOf(path)).toHaveLength(3);
		const [last] = await session.client.executions(ref);
		const items = outputItems(
			await session.client.waitForExecution(last!.id),
			'Create Video',
		).map(({ json }) => json);
		expect(items).toMatchObject([
			{ task_id: tasksOf(path)[2]!.id, status: 'queued' },
			{ task_id: '', reason: 'limit' },
		]);
	},
	RUN_LIMIT_MS,
);

it(
	'a retry creates what is missing within the limit, and counts no video twice',
	async () => {
		const { client, emulator } = session;
		const path = 'retried';
		const options = { maximumCost: 10, pricePerSecond: 1 };
		const ref = await publish(creating(path, 'day', options));
		emulator.faults.add({
			kind: 'status',
			status: 400,
			path: CREATIONS,
			contains: `${path} 1`,
		});
		const [failure] = await execute(path, ref);
		expect(failure).not.toBe('');
		expect(tasksOf(path)).toHaveLength(1);
		const [failed] = await client.executions(ref);
		const retried = await client.waitForExecution(await client.retry(failed!.id));
		expect(failureOf(retried)).toBe('');
		expect(tasksOf(path)).toHaveLength(2);
		expect(await execute(path, ref)).toStrictEqual([
			expect.stringContaining(
				'Maximum Cost is 10. This run would cost 10, and this workflow has cost 10 today',
			),
		]);
	},
	RUN_LIMIT_MS,
);
