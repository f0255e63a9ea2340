import type { IDataObject } from 'n8n-workflow';

import { dataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

const server = serverForEach((response) => {
	json(response, 500, {});
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

test.each<[IDataObject, string, RegExp]>([
	[{ maximumVideos: 1.5 }, 'Maximum Videos is 1.5', /^Enter a whole number of at least 0/],
	[{ maximumVideos: -1 }, 'Maximum Videos is -1', /^Enter a whole number of at least 0/],
	[{ maximumCost: '={{ "10 EUR" }}' }, 'Maximum Cost is 10 EUR', /^Enter a number of at least 0/],
	[{ maximumVideos: '={{ $json.limit }}' }, 'Maximum Videos is empty', /^Enter an expression/],
	[{ maximumCost: '={{ $json.limit }}' }, 'Maximum Cost is empty', /^Enter an expression/],
	[{ dryRun: '={{ "yes" }}' }, 'Dry Run is yes', /^Enter true or false/],
	[{ idempotencyKey: '={{ $json.id }}' }, 'Idempotency Key is empty', /^Enter an expression/],
	[
		// What a person types into a field in the mode Fixed is text.
		{ idempotencyKey: '{{ $json.topic }}' },
		'Idempotency Key has the text {{ $json.topic }}, which n8n does not evaluate',
		/^Switch the field from Fixed to Expression/,
	],
	[{ pricePerSecond: '={{ "0,1" }}' }, 'Price per Second is 0,1', /^Enter a number of/],
])('Create Video with %j fails by name before any request', async (options, message, remedy) => {
	const { error } = await run('createVideo', {}, { parameters: { prompt: 'Hi', options } });
	expect(error).toMatchObject({
		message,
		description: expect.stringMatching(remedy) as string,
	});
	expect(server.requests).toHaveLength(0);
});

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

test.each(NODES)('%s quotes the beginning of a value of any length', async (name, parameters) => {
	const concurrency = '={{ "x".repeat(1_000_000) }}';
	const { error } = await run(
		name,
		{},
		{ parameters: { ...parameters, options: { concurrency } } },
	);
	expect(error!.message).toMatch(/^Concurrency is x{900,1000}…$/);
});

/** What a language model writes for a choice: its label, its plural, a boolean. */
test.each<[string, IDataObject, string]>([
	['waitForVideo', { waitMode: 'Suspend' }, 'Wait Mode is Suspend'],
	['waitForVideo', { tasks: 'Ledger' }, 'Tasks is Ledger'],
	['waitForVideo', { tasks: 'ledger', ledgerTasks: 'open' }, 'Which Tasks is open'],
	['createVideo', { options: { limitPeriod: 'daily' } }, 'Limit Period is daily'],
	['chatCompletion', { streaming: true }, 'Streaming is true'],
	['chatCompletion', { answeredBy: 'application' }, 'Answered By is application'],
	['superAssistant', { session: 'Remembered per Key' }, 'Session is Remembered per Key'],
	['functionCallingAgent', { memory: true }, 'Memory is true'],
])(
	'%s with the invented choice %j fails by name before any request',
	async (name, more, message) => {
		const [, own] = NODES.find(([each]) => each === name)!;
		const parameters = { ...own, ...more };
		const { error } = await run(name, {}, { parameters });
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message,
			description: expect.stringMatching(/^Choose one of: /) as string,
		});
		const { outputs } = await run(name, {}, { parameters, onError: 'continueErrorOutput' });
		const errors = outputs.flat().map(({ json: { error: said } }) => said);
		expect(errors.length).toBeGreaterThan(0);
		expect(new Set(errors)).toStrictEqual(new Set([message]));
		expect(server.requests).toHaveLength(0);
	},
);

const byId = (value: string) => ({ __rl: true, mode: 'id', value });

/** A switch that is neither on nor off would be off, and with it what it protects. Wait Until Finished takes no expression. */
test.each<[string, IDataObject, string]>([
	['createVideo', { waitUntilFinished: '={{ true }}' }, 'Wait Until Finished is {{ true }}'],
	['createVideo', { options: { taskLedger: '={{ "on" }}' } }, 'Task Ledger is on'],
	['waitForVideo', { options: { taskLedger: '={{ "on" }}' } }, 'Task Ledger is on'],
	['chatCompletion', { options: { downloadMedia: '={{ 2 }}' } }, 'Download Media is 2'],
	[
		'createVideo',
		{ model: byId('={{ "video-m1" }}'), watermark: '={{ "on" }}' },
		'Watermark is on',
	],
	['waitForVideo', { download: '={{ "on" }}' }, 'Download Video is on'],
])('%s with %j fails by name before any request', async (name, more, message) => {
	const [, own] = NODES.find(([each]) => each === name)!;
	const parameters = { ...own, ...more };
	const { error } = await run(name, {}, { parameters });
	expect(error).toMatchObject({ message, description: 'Enter true or false' });
	const { outputs } = await run(name, {}, { parameters, onError: 'continueErrorOutput' });
	const errors = outputs.flat().map(({ json: { error: said } }) => said);
	expect(errors).toStrictEqual([message, message]);
	expect(server.requests).toHaveLength(0);
});

const ENTRY = 'Images: entry 1';
const NO_URL = `${ENTRY} has no URL`;
const image = (entry: IDataObject) => ({ prompt: 'Hi', images: { image: [entry] } });

test.each<[string, IDataObject, string]>([
	['chatCompletion', image({ source: 'url', url: '={{ null }}' }), NO_URL],
	['chatCompletion', image({ source: 'url', url: '={{ 5 }}' }), `${ENTRY} is not a valid URL`],
	['chatCompletion', image({ source: 'url', url: '={{ [null] }}' }), NO_URL],
	[
		'chatCompletion',
		image({ source: 'binary', binaryProperty: '={{ null }}' }),
		`${ENTRY} has no name of a binary field, but null`,
	],
	[
		'createVideo',
		{
			prompt: 'Hi',
			references: { file: [{ source: 'binary', binaryProperty: '={{ $json }}' }] },
		},
		'References: entry 1 has no name of a binary field, but {"topic":"a"}',
	],
])(
	'%s with a file that an expression does not give fails by name: %j',
	async (name, parameters, message) => {
		const { error } = await run(name, {}, { parameters });
		expect(error).toMatchObject({ name: 'NodeOperationError', message });
		expect(server.requests).toHaveLength(0);
	},
);

test('a number as the content of a message is its text, also beside an image', async () => {
	const images = { image: [{ source: 'url', url: 'http://127.0.0.1/a.png' }] };
	const message = [{ role: 'user', content: '={{ 5 }}', images }];
	const parameters = { input: 'messages', messages: { message } };
	await run('chatCompletion', {}, { parameters, items: [{}] });
	const [{ body }] = server.requests as unknown as [{ body: { messages: unknown } }];
	expect(body.messages).toMatchObject([{ content: [{ type: 'text', text: '5' }, {}] }]);
});

test.each(['={{ $json }}', '={{ ["a"] }}'])(
	'a model that is no code is an error, not the default model: %s',
	async (value) => {
		for (const name of ['chatCompletion', 'functionCallingAgent', 'createVideo']) {
			const { error } = await run(
				name,
				{},
				{ parameters: { prompt: 'Hi', model: byId(value) } },
			);
			expect(error?.message).toMatch(/^Model is [[{]/);
		}
		expect(server.requests).toHaveLength(0);
	},
);

/** The JSON of a list, as Aggregate makes one, names no task, and a key of it would be another one each time. */
test.each<[string, IDataObject, string]>([
	['waitForVideo', { taskId: '={{ $json.list }}' }, 'Task ID is ["a","b"]'],
	['waitForVideo', { taskId: '={{ $json }}' }, 'Task ID is {"list":["a","b"]}'],
	[
		'waitForVideo',
		{ tasks: 'ledger', workflowId: '={{ $json.list }}' },
		'Workflow ID is ["a","b"]',
	],
	['waitForVideo', { options: { fileName: '={{ $json.list }}' } }, 'File Name is ["a","b"]'],
	[
		'createVideo',
		{ options: { idempotencyKey: '={{ $json.list }}' } },
		'Idempotency Key is ["a"',
	],
	['chatCompletion', { answeredBy: 'app', appCode: '={{ $json.list }}' }, 'App Code is ["a"'],
	['chatCompletion', { memory: 'key', memoryKey: '={{ $json.list }}' }, 'Memory Key is ["a"'],
	['chatCompletion', { options: { reasoningEffort: '={{ $json.list }}' } }, 'Effort is ["a"'],
	['superAssistant', { appCode: '={{ $json.list }}' }, 'App Code is ["a","b"]'],
	['superAssistant', { session: 'id', sessionId: '={{ $json.list }}' }, 'Session ID is ["a"'],
	['superAssistant', { session: 'key', sessionKey: '={{ $json.list }}' }, 'Key is ["a","b"]'],
])('%s with %j is an error before any request: the field names one thing', async (...row) => {
	const [name, more, message] = row;
	const [, own] = NODES.find(([each]) => each === name)!;
	const { error } = await run(
		name,
		{},
		{ parameters: { ...own, ...more }, items: [{ list: ['a', 'b'] }], tables: dataTables() },
	);
	expect(error?.message).toContain(message);
	expect(error?.description).toContain('Split Out');
	expect(server.requests).toHaveLength(0);
});

test('a date of an expression is its text', async () => {
	const parameters = { answeredBy: 'app', appCode: '={{ new Date(0) }}', prompt: 'Hi' };
	await run('chatCompletion', {}, { parameters });
	expect(JSON.stringify(server.requests[0])).toContain('1970-01-01T00:00:00.000Z');
});

test('numbers of expressions are sent as texts: model, stop words and reasoning effort', async () => {
	const options = { stop: '={{ [1, "END"] }}', reasoningEffort: '={{ 5 }}' };
	const parameters = { prompt: 'Hi', model: byId('={{ 7 }}'), options };
	await run('chatCompletion', {}, { parameters, items: [{}] });
	const [{ body }] = server.requests as unknown as [{ body: object }];
	expect(body).toMatchObject({ model: '7', stop: ['1', 'END'], reasoning_effort: '5' });
});
