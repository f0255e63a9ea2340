import type { IDataObject } from 'n8n-workflow';

import { runNode } from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

/** What would be a header, a path or a query anywhere but in a JSON body. */
const HOSTILE = 'x\r\nX-Injected: 1\r\n\r\nGET /v1/../admin?key=1#"}';
const KEY = 'k-secret';
const AS_ID = { __rl: true, mode: 'id', value: HOSTILE };

/** Each text that goes to the service and is not the question: the node, the form, and where it stands in the body. */
const FIELDS: readonly [string, string, IDataObject, string][] = [
	[
		'chatCompletion',
		'App Code',
		{ prompt: 'Hi', answeredBy: 'app', appCode: HOSTILE },
		'app_code',
	],
	['chatCompletion', 'Model', { prompt: 'Hi', model: AS_ID }, 'model'],
	[
		'functionCallingAgent',
		'App Code',
		{ prompt: 'Hi', answeredBy: 'app', appCode: HOSTILE },
		'app_code',
	],
	['functionCallingAgent', 'Model', { prompt: 'Hi', model: AS_ID }, 'model'],
	['superAssistant', 'App Code', { message: 'Hi', appCode: HOSTILE }, 'app_code'],
	[
		'superAssistant',
		'Session ID',
		{ message: 'Hi', appCode: 'a', session: 'id', sessionId: HOSTILE },
		'session_id',
	],
	['createVideo', 'Model', { prompt: 'Hi', model: AS_ID }, 'model'],
	['waitForVideo', 'Task ID', { taskId: HOSTILE, download: false }, 'task_id'],
];

const PATHS: Readonly<Record<string, string>> = {
	chatCompletion: '/v1/chat/completions',
	functionCallingAgent: '/v1/chat/completions',
	superAssistant: '/v1/chat/completions',
	createVideo: '/v1/videos/generations',
	waitForVideo: '/v1/videos/tasks',
};

let server: ScriptedServer;
beforeAll(async () => {
	server = await startScriptedServer((response, { body }) => {
		const choice = {
			index: 0,
			message: { role: 'assistant', content: 'Hi' },
			finish_reason: 'stop',
		};
		json(response, 200, {
			choices: [choice],
			task_id: (body as { task_id?: string }).task_id ?? 't-1',
			status: 'completed',
			model: 'm',
			video_url: 'https://cdn.example.com/a.mp4',
		});
	});
});
afterAll(async () => {
	await server.stop();
});

test.each(FIELDS)('%s: %s stays in the body', async (node, _name, parameters, field) => {
	server.requests.length = 0;
	const { status } = await runNode(node, {
		credential: { baseUrl: server.url, apiKey: KEY },
		parameters,
	});
	expect(status).toBe('success');
	expect(server.requests).toHaveLength(1);
	const [{ path, headers, body }] = server.requests as [ScriptedServer['requests'][number]];
	expect(path).toBe(PATHS[node]);
	expect(headers.authorization).toBe(`Bearer ${KEY}`);
	expect(Object.keys(headers)).not.toContain('x-injected');
	expect(JSON.stringify(headers)).not.toContain('admin');
	expect(body).toMatchObject({ [field]: HOSTILE });
});
