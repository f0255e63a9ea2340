// @seconds 30
import { failureOf } from '../../lab/n8n/execution';
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
			parameters: { prompt: '={{ $json.prompt }}', duration: 5, limitPeriod, options },
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
	'executions on two workers at the same moment use a limit of the day, and do not exceed it together',
	async () => {
		const path = 'limited';
		const ref = await publish(creating(path, 'day', { maximumVideos: 6 }));
		const failures = await execute(path, ref, 6);
		const workers = (await session.client.executions(ref)).map(({ id }) =>
			session.workerOf(id),
		);
		expect(new Set(workers)).toStrictEqual(new Set([0, 1]));
		expect(failures.filter((each) => each === '')).toHaveLength(3);
		for (const failure of failures.filter((each) => each !== ''))
			expect(failure).toMatch(
				/Maximum Videos is 6\. This run would create 2, and this workflow has created [56] today/,
			);
		expect(tasksOf(path)).toHaveLength(6);
		expect((await rows()).map(({ status }) => status)).toStrictEqual(Array(6).fill('queued'));

		const [later] = await execute(path, ref);
		expect(later).toMatch(/has created 6 today/);
		expect(tasksOf(path)).toHaveLength(6);
	},
	2 * RUN_LIMIT_MS,
);

it(
	'a limit of the project counts other workflows, and needs the cost of their videos',
	async () => {
		const videos = await publish(creating('all', 'projectMonth', { maximumVideos: 7 }));
		expect(await execute('all', videos)).toStrictEqual([
			expect.stringMatching(/this project has created 6 this month/),
		]);
		const options = { maximumCost: 50, pricePerSecond: 1 };
		const costs = await publish(creating('costs', 'projectMonth', options));
		expect(await execute('costs', costs)).toStrictEqual([
			expect.stringMatching(/6 videos of this project this month have no estimated cost/),
		]);
		expect([...tasksOf('all'), ...tasksOf('costs')]).toStrictEqual([]);
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
