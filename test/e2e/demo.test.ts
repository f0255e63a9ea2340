// @seconds 24
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { INode } from 'n8n-workflow';

import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { Credential, N8nClient } from '../../lab/n8n/N8nClient';
import { ROOT } from '../../lab/paths';
import { EXAMPLE_CREDENTIAL, EXAMPLES, readExample, webhookIdOf } from '../../lab/n8n/readExample';
import { runBatch, saveVideos } from '../../lab/demo/runBatch';
import { chatText, chatUrl, streamChat } from '../../lab/n8n/streamChat';
import type { Workflow } from '../../lab/n8n/workflow';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const KEY = 'demo-key';
/** The videos that the topics of the batch example request. */
const REQUESTED = [
	{ topic: 'A lighthouse at dawn', model: 'video-m1', seconds: 5, width: 1280, height: 720 },
	{ topic: 'A paper boat in the rain', model: 'video-m5', seconds: 3, width: 720, height: 1280 },
	{
		topic: 'A tram at night',
		model: 'video-m3',
		seconds: 10,
		width: 1080,
		height: 1080,
	},
] as const;

let session: Session;
let client: N8nClient;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 8 });
	({ client } = session);
	await client.createCredential(credential(EXAMPLE_CREDENTIAL, KEY));
	await client.createCredential(credential('Wrong key', 'no-such-key'));
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

function credential(name: string, apiKey: string): Credential {
	return { name, type: 'agentVideoApi', data: { baseUrl: session.emulator.url, apiKey } };
}

/** The batch example with changes to some nodes. */
async function changedBatch(change: (node: INode) => Partial<INode>): Promise<Workflow> {
	const batch = await readExample('batch');
	return { ...batch, nodes: batch.nodes.map((node) => ({ ...node, ...change(node) })) };
}

async function runToEnd(workflow: Workflow): Promise<Execution> {
	const ref = await client.importWorkflow(workflow);
	return await client.waitForExecution(await client.run(ref, EXAMPLES.batch.trigger));
}

describe('the batch example', () => {
	const folder = join(ROOT, '.cache', 'e2e-output');
	afterAll(async () => {
		await rm(folder, { recursive: true, force: true });
	});

	it(
		'generates a video of the requested duration and size for each topic',
		async () => {
			const batch = await client.importWorkflow(await readExample('batch'));
			const lines: string[] = [];
			const execution = await runBatch(client, batch, {
				emulator: session.emulator,
				onProgress: (line) => lines.push(line),
			});

			expect(execution.status).toBe('success');
			expect(lines).toContainEqual(
				expect.stringMatching(/^video-m1 \w+, video-m5 processing, video-m3 \w+$/),
			);
			expect(outputItems(execution, 'Wait for Video', COMPLETED)).toHaveLength(3);
			expect(outputItems(execution, 'Wait for Video', FAILED)).toHaveLength(0);
			expect(await saveVideos(client, execution, folder)).toEqual(
				REQUESTED.map(
					(video) => expect.objectContaining({ ...video, codec: 'h264' }) as unknown,
				),
			);
		},
		RUN_LIMIT_MS,
	);

	it(
		'says what to do if the API key is wrong',
		async () => {
			const execution = await runToEnd(
				await changedBatch(({ credentials }) =>
					credentials
						? { credentials: { agentVideoApi: { id: '', name: 'Wrong key' } } }
						: {},
				),
			);

			expect(execution.status).toBe('error');
			expect(failureOf(execution)).toContain(
				'Check the API Key in the Agent Video API credential',
			);
			expect(failureOf(execution)).not.toContain('no-such-key');
		},
		RUN_LIMIT_MS,
	);

	it(
		'names the field if a prompt is empty',
		async () => {
			const execution = await runToEnd(
				await changedBatch(({ name, parameters }) =>
					name === 'Create Video'
						? { parameters: { ...parameters, prompt: '={{ $json.nothing }}' } }
						: {},
				),
			);

			expect(execution.status).toBe('error');
			expect(failureOf(execution)).toMatch(/^Create Video: .*Prompt.* is empty/);
		},
		RUN_LIMIT_MS,
	);
});

describe('the chat example', () => {
	it(
		'streams the answer that its execution contains',
		async () => {
			const workflow = await readExample('chat');
			const chat = await client.importWorkflow(workflow);
			await client.activate(chat);

			const lines = await streamChat(
				chatUrl(session.n8n.url, webhookIdOf(workflow)),
				'Give me one idea for a short video about the sea.',
			);
			const execution = await client.lastExecution(chat);

			const chunks = lines.filter(({ type }) => type === 'item');
			expect(chunks.length).toBeGreaterThan(3);
			expect(lines.at(-1)!.type).toBe('end');
			const [answer] = outputItems(execution, EXAMPLES.chat.answer);
			expect(chatText(lines)).toBe(answer!.json['output']);
		},
		RUN_LIMIT_MS,
	);
});

describe('the credential test', () => {
	it('passes with a valid API key', async () => {
		const { status } = await client.testCredential(credential(EXAMPLE_CREDENTIAL, KEY));
		expect(status).toBe('OK');
	});

	it('fails with an invalid API key', async () => {
		const result = await client.testCredential(credential('Wrong key', 'no-such-key'));
		expect(result.status).toBe('Error');
		expect(result.message).toContain('API key');
	});

	it('fails if the service cannot be reached', async () => {
		const { name, type, data } = credential(EXAMPLE_CREDENTIAL, KEY);
		const result = await client.testCredential({
			name,
			type,
			data: { ...data, baseUrl: 'http://127.0.0.1:9' },
		});
		expect(result.status).toBe('Error');
	});
});
