/** What is entered stands in the body of the request, and nowhere else; what is hidden is not sent. */
import type { IDataObject } from 'n8n-workflow';

import { bodyOf } from '../support/chatReplies';
import { runNode, type RunResult } from '../support/engine';
import { json, serverForEach, type SeenRequest } from '../support/scriptedServer';

const server = serverForEach((response, { body }) => {
	json(response, 200, {
		...bodyOf({ content: 'Hi' }),
		task_id: (body as { task_id?: string }).task_id ?? 't-1',
		status: 'completed',
		model: 'm',
		video_url: 'https://cdn.example.com/a.mp4',
	});
});

const byId = (value: string) => ({ __rl: true, mode: 'id', value });

async function run(node: string, parameters: IDataObject, apiKey = 'k'): Promise<RunResult> {
	const keyIncludesApp = apiKey.endsWith('-demo-app');
	const credential = { baseUrl: server.url, apiKey, keyIncludesApp };
	return await runNode(node, { credential, parameters });
}

/** What would be a header, a path or a query anywhere but in a JSON body. */
const HOSTILE = 'x\r\nX-Injected: 1\r\n\r\nGET /v1/../admin?key=1#"}';
const APP = { prompt: 'Hi', answeredBy: 'app', appCode: HOSTILE };
const MODEL = { prompt: 'Hi', model: byId(HOSTILE) };
const IN_SESSION = { message: 'Hi', appCode: 'a', session: 'id', sessionId: HOSTILE };
const CHAT = '/v1/chat/completions';

/** Each text that goes to the service and is not the question: the node, where it stands in the body, the form, and the path. */
test.each<[string, string, IDataObject, string]>([
	['chatCompletion', 'app_code', APP, CHAT],
	['chatCompletion', 'model', MODEL, CHAT],
	['functionCallingAgent', 'app_code', APP, CHAT],
	['functionCallingAgent', 'model', MODEL, CHAT],
	['superAssistant', 'app_code', { message: 'Hi', appCode: HOSTILE }, CHAT],
	['superAssistant', 'session_id', IN_SESSION, CHAT],
	['createVideo', 'model', MODEL, '/v1/videos/generations'],
	['waitForVideo', 'task_id', { taskId: HOSTILE, download: false }, '/v1/videos/tasks'],
])('%s: %s stays in the body', async (node, field, parameters, path) => {
	const { status } = await run(node, parameters, 'k-secret');
	expect(status).toBe('success');
	expect(server.requests).toMatchObject([{ path, body: { [field]: HOSTILE } }]);
	const [{ headers }] = server.requests as [SeenRequest];
	expect(headers.authorization).toBe('Bearer k-secret');
	expect(Object.keys(headers)).not.toContain('x-injected');
	expect(JSON.stringify(headers)).not.toContain('admin');
});

describe.each(['chatCompletion', 'functionCallingAgent', 'agentVideoChatModel'])(
	'%s, Answered By',
	(node) => {
		/** Everything that can be entered: what is not shown was entered before the choice was changed. */
		const entered = { model: byId('chat-m1'), appCode: 'demo-app', prompt: 'Hi' };

		test.each([
			['a model', {}, 'k', { model: 'chat-m1' }],
			[
				'an application',
				{ answeredBy: 'app', model: byId('') },
				'k',
				{ app_code: 'demo-app' },
			],
			[
				'an application with another model',
				{ answeredBy: 'app' },
				'k',
				{ app_code: 'demo-app', model: 'chat-m1' },
			],
			[
				'the application that the API key ends with, which needs no code',
				{ answeredBy: 'app', appCode: '' },
				'k-demo-app',
				{ model: 'chat-m1' },
			],
			['the default model', { model: byId('') }, 'k', {}],
		])('%s: nothing that is hidden is sent', async (_name, chosen, key, sent) => {
			const { error } = await run(node, { ...entered, ...chosen }, key);
			expect(error).toBeUndefined();
			const { app_code, model } = server.requests[0]!.body as IDataObject;
			expect({ app_code, model }).toStrictEqual({
				...{ app_code: undefined, model: undefined },
				...sent,
			});
		});

		test('an application without its code is an error that names the field, before anything is sent', async () => {
			const { error } = await run(node, { ...entered, answeredBy: 'app', appCode: ' ' });
			expect(`${error!.message}. ${error!.description}`).toContain('App Code is empty');
			expect(server.requests).toHaveLength(0);
		});
	},
);
