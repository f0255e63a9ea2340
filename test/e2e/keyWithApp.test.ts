// @seconds 10
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { node, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

const CREDENTIAL = 'Key with an app code';

let session: Session;
beforeAll(async () => {
	session = await startSession();
}, SET_UP_LIMIT_MS);
afterAll(async () => {
	await session.stop();
}, RUN_LIMIT_MS);

test(
	'Super Assistant runs with a key that ends with its app code, and the credential test accepts the key',
	async () => {
		const { client, emulator } = session;
		const credential = {
			name: CREDENTIAL,
			type: 'agentVideoApi',
			data: {
				baseUrl: emulator.url,
				apiKey: 'demo-key-demo-assistant',
				keyIncludesApp: true,
			},
		};
		await client.createCredential(credential);
		expect(await client.testCredential(credential)).toMatchObject({ status: 'OK' });

		const ref = await client.importWorkflow(
			workflow('Assistant of the key', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				node('Assistant', 'n8n-nodes-agent-video.superAssistant', 1, {
					parameters: { message: 'Calculate 17 * 4' },
					credential: CREDENTIAL,
				}),
			]),
		);
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		expect(failureOf(execution)).toBe('');
		const [{ json }] = outputItems(execution, 'Assistant') as [{ json: object }];
		expect(JSON.stringify(json)).toContain('68');
		const [sent] = emulator.journal.of('/v1/chat/completions');
		expect(sent!.body).not.toHaveProperty('app_code');
	},
	RUN_LIMIT_MS,
);
