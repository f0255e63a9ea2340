import type { IDataObject } from 'n8n-workflow';

import {
	modelCallerNode,
	packageNode,
	runNode,
	runWorkflow,
	type RunResult,
} from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const server = serverForEach((response) => {
	const message = { role: 'assistant', content: 'Hello' };
	json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
});

const byId = (value: string) => ({ __rl: true, mode: 'id', value });
/** Everything that can be entered: what is not shown was entered before the choice was changed. */
const ENTERED = {
	model: byId('chat-m1'),
	appCode: 'demo-app',
	prompt: 'Hi',
};

/** The nodes whose form has the choice. */
const NODES = ['chatCompletion', 'functionCallingAgent', 'agentVideoChatModel'];

async function run(node: string, parameters: IDataObject, hasApp = false): Promise<RunResult> {
	const credential = {
		...{ baseUrl: server.url, apiKey: hasApp ? 'k-demo-app' : 'k' },
		keyIncludesApp: hasApp,
	};
	if (node !== 'agentVideoChatModel') return await runNode(node, { credential, parameters });
	const nodes = [
		packageNode('Model', node, { parameters }),
		modelCallerNode('Chain', { stream: false }),
	];
	const model = { name: 'Model', of: 'Chain' };
	return await runWorkflow(nodes, {}, 'Chain', { credential, model });
}

/** The fields of the request that say who answers. */
async function sentBy(node: string, parameters: IDataObject, hasApp = false) {
	const { error } = await run(node, parameters, hasApp);
	expect(error).toBeUndefined();
	const { app_code: app, model } = server.requests[0]!.body as IDataObject;
	return { app, model };
}

describe.each(NODES)('%s, Answered By', (node) => {
	test.each([
		['a model', {}, { model: 'chat-m1' }],
		['an application', { answeredBy: 'app', model: byId('') }, { app: 'demo-app' }],
		[
			'an application with another model',
			{ answeredBy: 'app' },
			{ app: 'demo-app', model: 'chat-m1' },
		],
		['the default model', { model: byId('') }, {}],
	])('%s: nothing that is hidden is sent', async (_name, chosen, sent) => {
		expect(await sentBy(node, { ...ENTERED, ...chosen })).toStrictEqual({
			...{ app: undefined, model: undefined },
			...sent,
		});
	});

	test('an application without its code is an error that names the field, before anything is sent', async () => {
		const { error } = await run(node, { ...ENTERED, answeredBy: 'app', appCode: ' ' });
		expect(`${error!.message}. ${error!.description}`).toContain('App Code is empty');
		expect(server.requests).toHaveLength(0);
	});

	test('the application that the API key ends with needs no code', async () => {
		const chosen = { answeredBy: 'app', appCode: '' };
		const sent = await sentBy(node, { ...ENTERED, ...chosen }, true);
		expect(sent).toStrictEqual({ app: undefined, model: 'chat-m1' });
	});
});
