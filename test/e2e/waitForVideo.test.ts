// @seconds 85
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { binaryOf, outputItems } from '../../lab/n8n/execution';
import { N8nClient, type WorkflowRef } from '../../lab/n8n/N8nClient';
import { startN8n, type N8n } from '../../lab/n8n/startN8n';
import { newUserFolder } from '../../lab/n8n/userFolder';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { node, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

const CREDENTIAL = 'Emulator';
const SHOTS = `const scenes = ['A lighthouse', 'A paper boat', 'A tram', 'A kite', 'A market'];
const lights = ['at dawn', 'at noon', 'in the rain', 'at night'];
return scenes.flatMap((scene) => lights.map((light) => ({ json: { scene, light } })));`;
const linked = (name: string) => `={{ $('Shots').item.json.${name} }}`;

/** Twenty videos that are waited for in a suspended execution. */
const DURABLE = workflow('Durable Waiting', [
	node('Start', 'n8n-nodes-base.manualTrigger', 1),
	node('Shots', 'n8n-nodes-base.code', 2, { parameters: { jsCode: SHOTS } }),
	node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
		parameters: { prompt: '={{ $json.scene }} {{ $json.light }}' },
		credential: CREDENTIAL,
	}),
	node('Wait for Video', 'n8n-nodes-agent-video.waitForVideo', 1, {
		parameters: {
			waitMode: 'suspend',
			options: { fileName: `${linked('scene')} ${linked('light').slice(1)}` },
		},
		credential: CREDENTIAL,
	}),
	node('Finished', 'n8n-nodes-base.set', 3.4, {
		parameters: {
			assignments: {
				assignments: ['scene', 'light'].map((name) => ({
					...{ id: name, name, type: 'string', value: linked(name) },
				})),
			},
			includeOtherFields: true,
			options: { stripBinary: false },
		},
	}),
]);

const POLLS = '/v1/videos/tasks';
/** Timeout, in milliseconds: a wait of a minute and two starts of n8n. */
const LIMIT_MS = 5 * 60_000;

let emulator: Emulator;
let userFolder: string;
const started: N8n[] = [];

beforeAll(async () => {
	// The tasks progress only when the test advances the clock.
	emulator = await startEmulator({ clock: 'virtual', videoSeconds: 30 });
	userFolder = await newUserFolder();
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	for (const n8n of started) await n8n.stop();
	await emulator.stop();
	await rm(userFolder, { recursive: true, force: true });
}, RUN_LIMIT_MS);

async function start(): Promise<{ n8n: N8n; client: N8nClient }> {
	const n8n = await startN8n({ userFolder, editor: false });
	started.push(n8n);
	return { n8n, client: await N8nClient.signIn(n8n.url) };
}

/** Waits until an execution is suspended after this number of polls. */
async function untilSuspended(client: N8nClient, ref: WorkflowRef, polls: number): Promise<void> {
	for (const deadline = Date.now() + RUN_LIMIT_MS; Date.now() < deadline;) {
		const count = emulator.journal.of(POLLS).length;
		// An older n8n cannot read an execution whose data it has not saved yet.
		const [{ status } = { status: 'new' }] = await client.executions(ref);
		if (!['new', 'running', 'waiting'].includes(status))
			throw new Error(`The execution ended with status ${status}`);
		if (status === 'waiting' && count === polls) return;
		await sleep(500);
	}
	throw new Error(`${emulator.journal.of(POLLS).length} polls, not ${polls}`);
}

it(
	'a suspended execution survives a crash of n8n and delivers every video',
	async () => {
		const first = await start();
		await first.client.createCredential({
			name: CREDENTIAL,
			type: 'agentVideoApi',
			data: { baseUrl: emulator.url, apiKey: 'demo-key' },
		});
		const ref = await first.client.importWorkflow(DURABLE);
		const id = await first.client.run(ref, 'Start');
		await untilSuspended(first.client, ref, 20);
		await first.n8n.kill();
		await emulator.clock.advance(60_000);

		const { client } = await start();
		const execution = await client.waitForExecution(id);

		expect(execution.status).toBe('success');
		expect(emulator.journal.of(POLLS)).toHaveLength(40);
		const created = outputItems(execution, 'Create Video').map(({ json }) => json['task_id']);
		expect(new Set(created)).toStrictEqual(new Set(emulator.tasks.all.map((task) => task.id)));
		const delivered = outputItems(execution, 'Wait for Video', COMPLETED);
		expect(delivered.map(({ json }) => json['task_id'])).toStrictEqual(created);
		expect(outputItems(execution, 'Wait for Video', FAILED)).toHaveLength(0);

		// Each result is still linked to its original item.
		const finished = outputItems(execution, 'Finished');
		const shots = outputItems(execution, 'Shots').map(({ json }) => json);
		expect(finished.map(({ json: { scene, light } }) => ({ scene, light }))).toStrictEqual(
			shots,
		);
		expect(finished.map((item) => binaryOf(item, 'data').fileName)).toStrictEqual(
			shots.map(({ scene, light }) => `${String(scene)} ${String(light)}.mp4`),
		);
		for (const item of finished) {
			expect((await client.download(binaryOf(item, 'data'))).length).toBeGreaterThan(1_000);
		}
	},
	LIMIT_MS,
);
