// @seconds 30
import { join } from 'node:path';

import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { Workflow } from '../../lab/n8n/workflow';
import { COMPLETED } from '../support/waitOutputs';
import { node, withSubNodes, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const PACKAGE = 'n8n-nodes-agent-video';
const credential = 'Emulator';
const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);

let session: Session;

beforeAll(async () => {
	const hook = join(__dirname, 'support', 'withoutAiNodeSdk.ts');
	session = await startSession({ videoSeconds: 1 }, { NODE_OPTIONS: `--require ${hook}` });
	await session.client.createCredential({
		name: credential,
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

async function run(drawn: Workflow): Promise<Execution> {
	const { client } = session;
	const ref = await client.importWorkflow(drawn);
	return await client.waitForExecution(await client.run(ref, 'Start'));
}

describe('an n8n without @n8n/ai-node-sdk', () => {
	it(
		'runs all nodes except the chat model',
		async () => {
			const ask = { prompt: 'What is 6 times 7?' };
			const execution = await run(
				workflow('Without SDK', [
					start,
					node('Chat', `${PACKAGE}.chatCompletion`, 1, { parameters: ask, credential }),
					node('Assistant', `${PACKAGE}.superAssistant`, 1, {
						parameters: { appCode: 'demo-assistant', message: ask.prompt },
						credential,
					}),
					node('Agent', `${PACKAGE}.functionCallingAgent`, 1, {
						parameters: ask,
						credential,
					}),
					node('Create', `${PACKAGE}.createVideo`, 1, {
						parameters: { prompt: 'A lighthouse at dawn' },
						credential,
					}),
					node('Wait', `${PACKAGE}.waitForVideo`, 1, { credential }),
				]),
			);
			expect(failureOf(execution)).toBe('');
			for (const name of ['Chat', 'Assistant', 'Agent']) {
				expect(outputItems(execution, name)[0]!.json['output']).toContain('42');
			}
			expect(outputItems(execution, 'Wait', COMPLETED)[0]!.json['status']).toBe('completed');
		},
		RUN_LIMIT_MS,
	);

	it(
		'shows what to do in the error of the chat model',
		async () => {
			const execution = await run(
				withSubNodes(
					workflow('Model without SDK', [
						start,
						node('Chain', '@n8n/n8n-nodes-langchain.chainLlm', 1.9, {
							parameters: { promptType: 'define', text: 'Hello' },
						}),
					]),
					'Chain',
					[
						[
							node('Model', `${PACKAGE}.agentVideoChatModel`, 1, { credential }),
							'ai_languageModel',
						],
					],
				),
			);
			expect(execution.status).toBe('error');
			expect(failureOf(execution)).toBe(
				'Chain: Error in sub-node Model – This n8n does not support chat models of community packages. Update n8n to 2.41 or later, or use the Chat Completion node',
			);
		},
		RUN_LIMIT_MS,
	);
});
