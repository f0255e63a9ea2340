// @seconds 70
import { outputItems } from '../../lab/n8n/execution';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { Running } from '../../lab/services/Running';
import { json, startScriptedServer, type Script } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { drawn, node } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';
import { sharedN8nUrl } from './support/sharedN8n';

const CREDENTIAL = 'Odd answers';
const page =
	(status: number, text = '<html><h1>Not found</h1></html>'): Script =>
	(response) => {
		response.writeHead(status, { 'content-type': 'text/html' }).end(text);
	};
const own =
	(status: number): Script =>
	(response) => {
		json(response, status, { error: { message: 'own words', type: 'invalid_request_error' } });
	};

const running = new Running();
let script: Script;
let client: N8nClient;
let baseUrl: string;

beforeAll(async () => {
	const server = running.keep(
		await startScriptedServer((...args) => {
			script(...args);
		}),
	);
	baseUrl = server.url;
	client = await N8nClient.signIn(await sharedN8nUrl());
	running.keep({ stop: () => client.archiveWorkflows() });
	await client.createCredential(credential());
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

const credential = () => ({
	name: CREDENTIAL,
	type: 'agentVideoApi',
	data: { baseUrl, apiKey: 'k' },
});

/** Task IDs that are names of fields that every object has, and a number. */
const IDS = ['constructor', '__proto__', 'toString', 123];

/** Starts the node for these tasks, with Always Output Data; returns the execution at its end. */
async function wait(waitMode: string, ids: readonly unknown[]) {
	const nodes = [
		node('Start', 'n8n-nodes-base.manualTrigger', 1),
		node('Tasks', 'n8n-nodes-base.set', 3.4, {
			parameters: { mode: 'raw', jsonOutput: JSON.stringify({ ids }) },
		}),
		node('Each', 'n8n-nodes-base.splitOut', 1, { parameters: { fieldToSplitOut: 'ids' } }),
		{
			...node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1, {
				parameters: {
					taskId: '={{ $json.ids }}',
					waitMode,
					download: false,
					options: { onFailed: 'output' },
				},
				credential: CREDENTIAL,
			}),
			alwaysOutputData: true,
		},
	];
	const wires = {
		Start: [['Tasks']],
		Tasks: [['Each']],
		Each: [['Wait']],
	};
	const ref = await client.importWorkflow(drawn(waitMode, nodes, wires));
	return await client.waitForExecution(await client.run(ref, 'Start'));
}

it(
	'odd answers between good ones end no wait, and odd task IDs are delivered, in place and suspended',
	async () => {
		const asked = new Map<string, number>();
		script = (response, request, index) => {
			const { task_id: taskId } = request.body as { task_id: string };
			const nth = asked.get(taskId) ?? 0;
			asked.set(taskId, nth + 1);
			if (taskId === 'lost') own(404)(response, request, index);
			else if (taskId === 'odd' && nth === 1) page(404)(response, request, index);
			else {
				const status = nth < 1 ? 'processing' : 'completed';
				const names = { reason: 'none', error: 'none' };
				json(response, 200, {
					task_id: taskId,
					status,
					video_url: 'https://x/y',
					...names,
				});
			}
		};
		const [inPlace, suspended] = await Promise.all([
			wait('inPlace', ['odd', 'lost']),
			wait('suspend', IDS),
		]);
		expect(inPlace.status).toBe('success');
		expect(outputItems(inPlace, 'Wait', COMPLETED)).toMatchObject([
			{ json: { task_id: 'odd', status: 'completed', service_error: 'none' } },
		]);
		expect(outputItems(inPlace, 'Wait', FAILED)).toMatchObject([
			{
				json: {
					task_id: 'lost',
					error_message: 'The service does not know this task: own words',
				},
			},
		]);

		expect(suspended.status).toBe('success');
		const delivered = outputItems(suspended, 'Wait', COMPLETED);
		expect(delivered.map(({ json: fields }) => fields['task_id'])).toStrictEqual(
			IDS.map(String),
		);
		expect(outputItems(suspended, 'Wait', FAILED)).toHaveLength(0);
	},
	2 * RUN_LIMIT_MS,
);
