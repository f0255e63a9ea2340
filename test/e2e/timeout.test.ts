// @seconds 10
import { outputItems } from '../../lab/n8n/execution';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { node, workflow } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, startSession, type Session } from './support/session';

let session: Session;
let server: ScriptedServer;
/** Number of requests whose connection n8n has closed. */
let closed = 0;

beforeAll(async () => {
	server = await startScriptedServer((response) => {
		response.writeHead(200, { 'content-type': 'text/event-stream' });
		response.write('data: {"choices": [{"index": 0, "delta": {"content": "Half"}}]}\n\n');
		const beat = setInterval(() => response.write(': still there\n\n'), 100);
		response.on('close', () => {
			clearInterval(beat);
			closed++;
		});
	});
	session = await startSession();
	await session.client.createCredential({
		name: 'Endless',
		type: 'agentVideoApi',
		data: { baseUrl: server.url, apiKey: 'k' },
	});
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await session.stop();
	await server.stop();
}, RUN_LIMIT_MS);

it(
	'a reply that never ends is ended at its Timeout, in every node',
	async () => {
		const more = { credential: 'Endless', onError: 'continueRegularOutput' };
		const options = { timeout: 2 };
		const calls = [
			['Chat', 'chatCompletion', { prompt: 'Hi', options }],
			[
				'Agent',
				'functionCallingAgent',
				{ prompt: 'Hi', toolSource: 'json', toolsJson: '={{ [] }}', options },
			],
			['Assistant', 'superAssistant', { appCode: 'a', message: 'Hi', options }],
			['Video', 'createVideo', { prompt: 'A lake', options }],
		] as const;
		const ref = await session.client.importWorkflow(
			workflow('Endless', [
				node('Start', 'n8n-nodes-base.manualTrigger', 1),
				...calls.map(([name, type, parameters]) =>
					node(name, `n8n-nodes-agent-video.${type}`, 1, { parameters, ...more }),
				),
			]),
		);
		const id = await session.client.run(ref, 'Start');
		const execution = await session.client.waitForExecution(id);
		for (const [name] of calls) {
			const [item] = outputItems(execution, name);
			expect({ name, ...item?.json }).toMatchObject({
				name,
				error: expect.stringContaining(
					'The call exceeded its Timeout of 2 seconds',
				) as string,
				details: { kind: 'deadline', outcome_unknown: true },
			});
		}
		expect(JSON.stringify(outputItems(execution, 'Chat'))).toContain('Half');
		expect({ requests: server.requests.length, closed }).toStrictEqual({
			requests: 4,
			closed: 4,
		});
	},
	RUN_LIMIT_MS,
);
