// @seconds 10
import { outputItems } from '../../lab/n8n/execution';
import { node, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;

beforeAll(async () => {
	session = await startSession({ videoSeconds: 1 });
	await session.client.createCredential({
		name: 'Emulator',
		type: 'agentVideoApi',
		data: { baseUrl: session.emulator.url, apiKey: 'demo-key' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

it(
	'a reply has the fields that the form defines',
	async () => {
		const field = [
			{ name: 'title', type: 'string' },
			{ name: 'seconds', type: 'integer' },
			{ name: 'kind', type: 'string', values: 'clip, film', required: false },
		];
		const { client } = session;
		const ref = await client.importWorkflow(
			workflow('JSON by Schema', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Ask', 'n8n-nodes-agent-video.chatCompletion', 1, {
					parameters: {
						prompt: 'Plan a video about a lake',
						responseFormat: 'schema',
						fields: { field },
					},
					credential: 'Emulator',
				}),
			]),
		);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const item = outputItems(execution, 'Ask')[0]!.json;
		expect(item).toMatchObject({
			json: {
				title: expect.any(String) as string,
				seconds: expect.any(Number) as number,
				kind: 'clip',
			},
		});
		expect(JSON.parse(String(item['output']))).toStrictEqual(item['json']);
	},
	RUN_LIMIT_MS,
);
