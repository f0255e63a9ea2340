import type { IDataObject } from 'n8n-workflow';

import { runNode, type RunOptions } from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

let server: ScriptedServer;

beforeEach(async () => {
	server = await startScriptedServer((response) => {
		json(response, 500, {});
	});
});
afterEach(async () => {
	await server.stop();
});

/** Each node with its smallest form. */
const NODES: readonly [string, IDataObject][] = [
	['chatCompletion', { prompt: 'Hi' }],
	['functionCallingAgent', { prompt: 'Hi' }],
	['superAssistant', { appCode: 'a', message: 'Hi' }],
	['createVideo', { prompt: 'Hi' }],
	['waitForVideo', { taskId: 't-1' }],
];

const run = async (name: string, parameters: IDataObject, more: Partial<RunOptions> = {}) =>
	await runNode(name, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ topic: 'a' }, { topic: 'b' }],
		parameters: { ...parameters, options: { concurrency: '={{ "abc" }}' } },
		...more,
	});

test.each(['chatCompletion', 'functionCallingAgent', 'superAssistant'])(
	'%s with a broken expression in Streaming: every item is an error with On Error: Continue',
	async (name) => {
		const [, parameters] = NODES.find(([each]) => each === name)!;
		const { outputs } = await run(
			name,
			{},
			{
				parameters: { ...parameters, streaming: "={{ $('Nope').item.json.x }}" },
				onError: 'continueErrorOutput',
			},
		);
		const errors = outputs.flat().map(({ json: { error } }) => typeof error);
		expect(errors).toStrictEqual(['string', 'string']);
		expect(server.requests).toHaveLength(0);
	},
);

describe.each(NODES)('%s with a Concurrency that is no number', (name, parameters) => {
	test('fails by name, with the remedy, before any request', async () => {
		const { error } = await run(name, parameters);
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message: 'Concurrency is abc',
			description: expect.stringMatching(/^Enter a whole number from 1 to \d+/) as string,
		});
		expect(server.requests).toHaveLength(0);
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'with %s every item is an error, and none leaves as a success',
		async (onError) => {
			const { status, outputs } = await run(name, parameters, { onError });
			expect(status).toBe('success');
			const items = outputs.flat();
			expect(items.map(({ json: { error } }) => error)).toStrictEqual([
				'Concurrency is abc',
				'Concurrency is abc',
			]);
			expect(server.requests).toHaveLength(0);
		},
	);
});
