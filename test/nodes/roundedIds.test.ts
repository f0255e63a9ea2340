import type { IDataObject } from 'n8n-workflow';

import { dataTables } from '../support/dataTables';
import { runNode } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED } from '../support/waitOutputs';

// A number above 2^53 is rounded before a node gets it: it is the ID of something else.

const server = serverForEach((response) => {
	json(response, 200, { task_id: undefined, status: 'completed', video_url: 'https://a/v' });
});

const TASK = { taskId: '={{ $json.id }}', download: false };
const IN_TEXT = { taskId: '=task-{{ $json.id }}', download: false };
const KEY = { prompt: 'Hi', options: { idempotencyKey: '=order {{ $json.id }}' } };

const byKey = (memoryKey: string) => ({ prompt: 'Hi', memory: 'key', memoryKey });
const ASSIST = { appCode: 'a', message: 'Hi' };
const SESSION = { ...ASSIST, session: 'key', sessionKey: '={{ $json.id }}' };
const BY_ID = { ...ASSIST, session: 'id', sessionId: '={{ $json.id }}' };

const run = async (
	name: string,
	parameters: IDataObject,
	id: IDataObject[string],
	onError?: 'continueErrorOutput',
) =>
	await runNode(name, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ id: 7 }, { id }],
		parameters,
		...(onError && { onError }),
	});

// As JSON, or a sheet, has it.
const LONG = JSON.parse('12345678901234567891') as number;

test.each<[string, IDataObject, number, RegExp]>([
	[
		'waitForVideo',
		TASK,
		LONG,
		/^Task ID is 12345678901234567000: a number above 9007199254740991/,
	],
	['waitForVideo', TASK, 2 ** 53, /^Task ID is 9007199254740992: /],
	['waitForVideo', TASK, 1e21, /^Task ID is 1e\+21: /],
	['waitForVideo', IN_TEXT, LONG, /^Task ID is task-12345678901234567000: /],
	['createVideo', KEY, LONG, /^Idempotency Key is order 12345678901234567000: /],
])('%s with %j and %d sends nothing', async (name, parameters, id, message) => {
	const { error } = await run(name, parameters, id);
	expect(error!.message).toMatch(message);
	expect(error!.description).toMatch(/^Pass it on as text/);
	expect(server.requests).toHaveLength(0);
});

test.each<[IDataObject, IDataObject[string]]>([
	[TASK, '12345678901234567000'],
	[IN_TEXT, '12345678901234567891'],
	[TASK, 2 ** 53 - 1],
])('%j takes %j', async (parameters, id) => {
	const { outputs } = await run('waitForVideo', parameters, id);
	expect(outputs[COMPLETED]).toHaveLength(2);
});

test('with On Error: Continue the others are polled', async () => {
	const { outputs } = await run('waitForVideo', TASK, LONG, 'continueErrorOutput');
	expect(outputs[COMPLETED]).toHaveLength(1);
	expect(server.requests).toHaveLength(1);
});

test.each<[string, IDataObject, string]>([
	['chatCompletion', byKey('={{ $json.id }}'), 'Memory Key is 12345678901234567000: '],
	['functionCallingAgent', byKey('=c {{ $json.id }}'), 'Memory Key is c 12345678901234567000: '],
	['superAssistant', SESSION, 'Key is 12345678901234567000: '],
	['superAssistant', BY_ID, 'Session ID is 12345678901234567000: '],
	['chatCompletion', { prompt: 'Hi', memory: 'chat' }, 'sessionId is 12345678901234567000: '],
	['superAssistant', { ...ASSIST, session: 'chat' }, 'sessionId is 12345678901234567000: '],
])('%s with %j continues no conversation of somebody else', async (name, parameters, message) => {
	const { error } = await runNode(name, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ id: LONG, ...(message.startsWith('sessionId') && { sessionId: LONG }) }],
		parameters,
		tables: dataTables(),
	});
	expect(error!.message).toContain(`${message}a number above 9007199254740991 is rounded`);
	expect(error!.description).toMatch(/^Pass it on as text/);
	expect(server.requests).toHaveLength(0);
});
