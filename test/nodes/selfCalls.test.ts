/** A workflow that calls itself, as a sub-workflow or a tool: each call is an execution of its own. */
import type { IDataObject } from 'n8n-workflow';

import { runNode, type RunOptions } from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

let server: ScriptedServer;

beforeEach(async () => {
	server = await startScriptedServer((response) => {
		const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }];
		json(response, 200, { choices, task_id: 'task-1', status: 'processing' });
	});
});
afterEach(async () => {
	await server.stop();
});

/** The ID of the workflow that the test runs. */
const OWN = 'test';
const itself = (times: number, ...others: readonly string[]) => [
	...Array<string>(times).fill(OWN),
	...others,
];

async function run(
	type: string,
	parameters: IDataObject,
	calledBy: readonly string[],
	more: Partial<RunOptions> = {},
) {
	return await runNode(type, {
		credential: { baseUrl: server.url, apiKey: 'k-secret-key' },
		execution: { id: 'own', token: 'x', calledBy },
		parameters: { streaming: 'off', ...parameters },
		...more,
	});
}

const ASKING: readonly [string, IDataObject][] = [
	['chatCompletion', { prompt: 'Hello' }],
	['functionCallingAgent', { prompt: 'Hello' }],
	['superAssistant', { appCode: 'app', message: 'Hello', session: 'new' }],
	['createVideo', { prompt: 'A kite' }],
];

describe.each(ASKING)('%s', (type, parameters) => {
	test.each(['stopWorkflow', 'continueRegularOutput'] as const)(
		'sends nothing in the eleventh call, and ends the execution: On Error is %s',
		async (onError) => {
			const calledBy = itself(11, `${type} ${onError}`);
			const { error } = await run(type, parameters, calledBy, { onError });
			expect(error!.message).toBe('A workflow has called itself 10 times in a row');
			expect(server.requests).toHaveLength(0);
		},
	);

	test.each([
		['the tenth call', itself(10)],
		['a call through other workflows', ['a', OWN, 'b', OWN, 'a', 'b', 'a', 'b', 'a', 'b', 'a']],
	])('sends %s', async (_name, calledBy) => {
		const { error } = await run(type, parameters, calledBy);
		expect(error).toBeUndefined();
		expect(server.requests).toHaveLength(1);
	});
});

test('nothing more is sent for the execution that has begun endless calls, and all for others', async () => {
	const ask = async (calledBy: readonly string[]) =>
		(await run('chatCompletion', { prompt: 'Hello' }, calledBy)).status;
	const ring = Array.from({ length: 11 }, () => [OWN, 'other']).flat();
	expect(await ask([...ring, 'first'])).toBe('error');
	expect(await ask([OWN, 'other', 'first'])).toBe('error');
	expect(server.requests).toHaveLength(0);
	expect(await ask([OWN, 'another'])).toBe('success');
});
