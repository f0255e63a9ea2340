// @seconds 15
import type { INode } from 'n8n-workflow';

import { outputItems } from '../../lab/n8n/execution';
import { node, withSubNodes, workflow } from '../e2e/support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from '../e2e/support/session';

const LANGCHAIN = '@n8n/n8n-nodes-langchain';
const MODEL = { __rl: true, mode: 'id', value: 'chat-m2' };
const QUESTION = 'What is 17 * 3?';
const ANSWER = '17 * 3 = 51';

let session: Session;

beforeAll(async () => {
	session = await startSession({ openai: true });
	await session.client.createCredential({
		name: 'OpenAI',
		type: 'openAiApi',
		data: { apiKey: 'demo-key', url: `${session.emulator.url}/v1` },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

const openAi = (name: string, type: string, version: number, parameters: object): INode => ({
	...node(name, `${LANGCHAIN}.${type}`, version, { parameters }),
	credentials: { openAiApi: { id: '', name: 'OpenAI' } },
});
const start = node('Start', 'n8n-nodes-base.manualTrigger', 1);
const text = (operation: string, messages: object) => ({
	resource: 'text',
	...{ operation, modelId: MODEL, ...messages },
});
const said = { values: [{ content: QUESTION }] };
const chain = (responsesApiEnabled: boolean) =>
	withSubNodes(
		workflow('OpenAI Chat Model', [
			start,
			node('Ask', `${LANGCHAIN}.chainLlm`, 1.9, {
				parameters: { promptType: 'define', text: QUESTION },
			}),
		]),
		'Ask',
		[
			[
				openAi('Model', 'lmChatOpenAi', 1.3, { model: MODEL, responsesApiEnabled }),
				'ai_languageModel',
			],
		],
	);
const alone = (version: number, parameters: object) =>
	workflow('OpenAI', [start, openAi('Ask', 'openAi', version, parameters)]);

it.each([
	['OpenAI, responses', alone(2.3, text('response', { responses: said })), '/v1/responses'],
	['OpenAI 1.8', alone(1.8, text('message', { messages: said })), '/v1/chat/completions'],
	['OpenAI Chat Model, responses', chain(true), '/v1/responses'],
	['OpenAI Chat Model', chain(false), '/v1/chat/completions'],
])(
	"n8n's own node asks the emulator: %s",
	async (_name, drawn, path) => {
		const { client, emulator } = session;
		emulator.journal.clear();
		const ref = await client.importWorkflow(drawn);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		expect(JSON.stringify(outputItems(execution, 'Ask').map(({ json }) => json))).toContain(
			ANSWER,
		);
		expect(emulator.journal.entries.map((entry) => entry.path)).toContain(path);
	},
	RUN_LIMIT_MS,
);
