// @seconds 25
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { binaryOf, failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { EXAMPLE_CREDENTIAL, readExampleFile } from '../../lab/n8n/readExample';
import { Running } from '../../lab/services/Running';
import { LEDGER, POLLS, until, videosWorkflow, VIDEOS } from './support/ledger';
import { makeTasksOld } from './support/oldTasks';
import { startRestartableN8n, type RestartableN8n } from '../../lab/n8n/restartableN8n';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const PATH = 'videos-to-collect';

const running = new Running();
let emulator: Emulator;
let n8n: RestartableN8n;
let collecting: WorkflowRef;

beforeAll(async () => {
	emulator = running.keep(await startEmulator({ videoSeconds: 5 }));
	n8n = running.keep(await startRestartableN8n());
	for (const name of [EXAMPLE_CREDENTIAL, 'Emulator']) {
		await n8n.client.createCredential({
			name,
			type: 'agentVideoApi',
			data: { baseUrl: emulator.url, apiKey: 'demo-key' },
		});
	}
	collecting = await n8n.client.importWorkflow(await readExampleFile('collect-videos.json'));
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

async function collect(): Promise<Execution> {
	const execution = await n8n.client.waitForExecution(
		await n8n.client.run(collecting, 'Run Now'),
	);
	expect(failureOf(execution)).toBe('');
	return execution;
}

const taskIds = () => emulator.tasks.all.map(({ id }) => id).sort();
const collectedIds = (execution: Execution) =>
	outputItems(execution, 'Finished Videos')
		.map(({ json }) => json['task_id'] as string)
		.sort();
const rows = async () => (await n8n.client.dataTableRows(LEDGER)) ?? [];

it(
	'a schedule delivers what an execution left behind when n8n was killed, once',
	async () => {
		const ref = await n8n.client.importWorkflow(videosWorkflow(PATH));
		await n8n.client.activate(ref);
		await postWebhook(`${n8n.url}/webhook/${PATH}`, { key: 'kite' });
		// All are created, and the execution waits for them.
		await until(() => emulator.journal.of(POLLS).length >= VIDEOS);
		await n8n.kill();
		await n8n.start();
		expect(taskIds()).toHaveLength(VIDEOS);
		expect(await n8n.client.lastExecution(ref)).toMatchObject({ status: 'crashed' });
		expect(collectedIds(await collect())).toStrictEqual([]);

		await makeTasksOld(n8n.client, taskIds());
		// Of two schedules at the same moment, each gets some of the tasks or all.
		const [one, other] = await Promise.all([collect(), collect()]);
		expect([...collectedIds(one), ...collectedIds(other)].sort()).toStrictEqual(taskIds());
		for (const item of [one, other].flatMap((each) => outputItems(each, 'Finished Videos'))) {
			const file = await n8n.client.download(binaryOf(item, 'data'));
			expect(file.length).toBeGreaterThan(1_000);
			expect(item.json).toMatchObject({
				prompt: expect.stringContaining('kite shot') as string,
				ledger: { workflow_id: ref.id, model: 'video-m1' },
			});
		}
		expect(collectedIds(await collect())).toStrictEqual([]);
		expect(await rows()).toMatchObject(
			Array(VIDEOS).fill({
				status: 'done',
				video_url: expect.stringContaining('.mp4') as string,
				file_name: expect.stringContaining('.mp4') as string,
				finished_at: expect.any(String) as string,
			}),
		);
	},
	2 * RUN_LIMIT_MS,
);
