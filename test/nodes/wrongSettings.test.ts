/**
 * What a person, an expression, or an AI that writes JSON gets wrong in a node. n8n validates nothing of community nodes, so the
 * node says it, before anything is sent. Every number of every form: numberFields.test.ts.
 */
import { globSync } from 'node:fs';

import type { IDataObject } from 'n8n-workflow';

import { exampleFiles, readExampleFile } from '../../lab/n8n/readExample';
import { ROOT } from '../../lab/paths';
import { checkNames } from '../../nodes/shared/run/names';
import { formOwners, readSaved, savedVersions } from '../../scripts/savedWorkflows';
import { read } from '../package/pages';
import { dataTables } from '../support/dataTables';
import { NODE_TYPES, runNode, type RunOptions } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

const server = serverForEach((response) => {
	json(response, 500, {});
});

/** Each node with its smallest form. */
const NODES = {
	chat: ['chatCompletion', { prompt: 'Hi' }],
	agent: ['functionCallingAgent', { prompt: 'Hi' }],
	assistant: ['superAssistant', { appCode: 'a', message: 'Hi' }],
	create: ['createVideo', { prompt: 'Hi' }],
	wait: ['waitForVideo', { taskId: 't-1' }],
} as const;
type Name = keyof typeof NODES;

async function run(name: Name, parameters: IDataObject, more: Partial<RunOptions> = {}) {
	const [type, usual] = NODES[name];
	return await runNode(type, {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: ['a', 'b'].map((topic) => ({ topic, list: ['a', 'b'] })),
		tables: dataTables(),
		parameters: { ...usual, ...parameters },
		...more,
	});
}

/** A node, what is wrong in its parameters, and the message: where it ends with `…`, its beginning. */
type Wrong = readonly [node: Name, parameters: IDataObject, message: string];
const remedied = (remedy: string, rows: readonly Wrong[]) =>
	rows.map((row) => [...row, remedy] as const);

const byId = (value: string) => ({ model: { __rl: true, mode: 'id', value } });

const NONE = '={{ $json.none }}';
const [ON, ITEM, LIST] = ['={{ "on" }}', '={{ $json }}', '={{ $json.list }}'];
const URL = 'https://example.com/boat.jpg';
const TOOL = '[{ "type": "function", "function": { "name": "a" } }]';
const MISSING = 'Tools are missing: this agent could only answer';

test.each([
	// Options that protect from paying too much.
	...remedied('Enter an expression', [
		['create', { options: { maximumVideos: NONE } }, 'Maximum Videos is empty'],
		['create', { options: { maximumCost: NONE } }, 'Maximum Cost is empty'],
		['create', { options: { idempotencyKey: NONE } }, 'Idempotency Key is empty'],
	]),
	...remedied('Enter a whole number of at least 0', [
		['create', { options: { maximumVideos: 1.5 } }, 'Maximum Videos is 1.5'],
	]),
	...remedied('Enter a number of at least 0', [
		['create', { options: { maximumCost: '={{ "10 EUR" }}' } }, 'Maximum Cost is 10 EUR'],
	]),
	// What a person types into a field in the mode Fixed is text.
	...remedied('Switch the field from Fixed to Expression', [
		[
			'create',
			{ options: { idempotencyKey: '{{ $json.topic }}' } },
			'Idempotency Key is the text {{ $json.topic }}, the same for every item',
		],
	]),
	// A switch that is neither on nor off would be off, and with it what it protects.
	...remedied('Enter true or false', [
		// It takes no expression.
		['create', { waitUntilFinished: '={{ true }}' }, 'Wait Until Finished is {{ true }}'],
		['create', { options: { dryRun: ON } }, 'Dry Run is on'],
		['create', { options: { taskLedger: ON } }, 'Task Ledger is on'],
		['wait', { options: { taskLedger: ON } }, 'Task Ledger is on'],
		['chat', { options: { downloadMedia: '={{ 2 }}' } }, 'Download Media is 2'],
		['create', { ...byId('={{ "video-m1" }}'), watermark: ON }, 'Watermark is on'],
		['wait', { download: ON }, 'Download Video is on'],
	]),
	// What a language model writes for a choice: its label, its plural, a boolean.
	...remedied('Choose one of: ', [
		['wait', { waitMode: 'Suspend' }, 'Wait Mode is Suspend'],
		['wait', { tasks: 'Ledger' }, 'Tasks is Ledger'],
		['wait', { options: { onFailed: 'failed' } }, 'On Failed Videos is failed'],
		['chat', { output: 'full' }, 'Output is full'],
		['assistant', { output: 'full' }, 'Output is full'],
		['agent', { output: 'full' }, 'Output is full'],
		['wait', { tasks: 'ledger', ledgerTasks: 'open' }, 'Which Tasks is open'],
		['create', { options: { limitPeriod: 'daily' } }, 'Limit Period is daily'],
		['chat', { streaming: true }, 'Streaming is true'],
		...(['chat', 'agent', 'assistant'] as const).map((node): Wrong => [
			node,
			{ responseFormat: 'xml' },
			'Response Format is xml',
		]),
		['chat', { answeredBy: 'application' }, 'Answered By is application'],
		['assistant', { session: 'Remembered per Key' }, 'Session is Remembered per Key'],
		['agent', { memory: true }, 'Memory is true'],
	]),
	// No code, and not the default model.
	...remedied(
		'',
		(['chat', 'agent', 'create'] as const).flatMap((node): Wrong[] => [
			[node, byId(ITEM), 'Model is {…'],
			[node, byId(LIST), 'Model is […'],
		]),
	),
	// The JSON of a list, as Aggregate makes one, names no task, and a key of it would be another one each time.
	...remedied('Split Out', [
		['wait', { taskId: LIST }, 'Task ID is ["a","b"]'],
		['wait', { taskId: ITEM }, 'Task ID is {"topic":…'],
		['wait', { tasks: 'ledger', workflowId: LIST }, 'Workflow ID is ["a","b"]'],
		['wait', { options: { fileName: LIST } }, 'File Name is ["a","b"]'],
		['create', { options: { idempotencyKey: LIST } }, 'Idempotency Key is ["a","b"]'],
		['chat', { answeredBy: 'app', appCode: LIST }, 'App Code is ["a","b"]'],
		['chat', { memory: 'key', memoryKey: LIST }, 'Memory Key is ["a","b"]'],
		['chat', { options: { reasoningEffort: LIST } }, 'Reasoning Effort is ["a","b"]'],
		['assistant', { appCode: LIST }, 'App Code is ["a","b"]'],
		['assistant', { session: 'id', sessionId: LIST }, 'Session ID is ["a","b"]'],
		['assistant', { session: 'key', sessionKey: LIST }, 'Key is ["a","b"]'],
	]),
	// Names that the form does not have, or not there.
	...(
		[
			['create', { dryRun: true }, 'dryRun', 'options.dryRun'],
			['create', { options: { maxVideos: 5 } }, 'options.maxVideos', 'options.maximumVideos'],
			['create', { options: { download: true } }, 'options.download', 'download'],
			['create', { options: { batching: {} } }, 'options.batching', 'options.batchInterval'],
			['create', { images: [URL] }, 'images', 'references'],
			['create', { options: { images: [URL] } }, 'options.images', 'references'],
			['create', { aspect_ratio: '9:16' }, 'aspect_ratio', 'aspectRatio'],
			['create', { references: { image: [1] } }, 'references.image', 'references.file'],
			['chat', { temperature: 0.2 }, 'temperature', 'options.temperature'],
			['chat', { tools: '[]' }, 'tools', 'options.tools'],
			['agent', { options: { tools: '[]' } }, 'options.tools', 'tools'],
			['agent', { options: { maxRound: 3 } }, 'options.maxRound', 'options.maxRounds'],
			['assistant', { options: { sessionId: 's' } }, 'options.sessionId', 'sessionId'],
			['wait', { maximumWait: 5 }, 'maximumWait', 'options.maximumWait'],
		] as const
	).flatMap(([node, wrong, name, instead]) =>
		remedied(`Write ${instead} instead`, [
			[node, wrong as IDataObject, `${name} is no parameter of this node`],
		]),
	),
	// Values of another shape.
	...remedied('file', [['create', { references: [URL] }, 'references has another shape']]),
	...remedied('Write references.file.url instead', [
		['create', { references: [{ url: URL }] }, 'references.url…'],
	]),
	...remedied('Enter a URL', [
		['create', { references: { file: [{ image: URL }] } }, 'References: entry 1…'],
	]),
	...remedied('720P, 480P or 1080P', [['create', { size: '4K' }, 'Size…']]),
	...remedied('Name the field', [
		[
			'chat',
			{ responseFormat: 'schema', fields: { field: [{ key: 'a' }] } },
			'Response Format has a field without a name',
		],
	]),
	...remedied('Add a tool', [
		['agent', { tools: {} }, MISSING],
		['agent', { toolSource: 'form', toolsJson: TOOL, tools: {} }, MISSING],
	]),
	...remedied('connect a tool node', [['agent', { tools: { tool: [] } }, MISSING]]),
	...remedied('Chat Completion', [
		['agent', { toolSource: 'json', toolsJson: '[]', tools: {} }, MISSING],
	]),
])('%s with %j: %s; %s', async (name, wrong, message, remedy) => {
	const { outputs } = await run(name, wrong, { onError: 'continueErrorOutput' });
	const failures = outputs.flat().map((item) => item.json);
	expect(failures.length).toBeGreaterThan(0);
	const [begin = '', ...cut] = message.split('…');
	for (const { error: said, message: advice } of failures) {
		if (cut.length === 0) expect(said).toBe(begin);
		else expect(String(said).startsWith(begin)).toBe(true);
		expect(advice).toContain(remedy);
	}
	expect(server.requests).toHaveLength(0);
});

// That it fails by name, before any request: numberFields.test.ts.
test.each(
	(Object.keys(NODES) as Name[]).flatMap((name) =>
		(['continueRegularOutput', 'continueErrorOutput'] as const).map(
			(onError) => [name, onError] as const,
		),
	),
)(
	'%s with a Concurrency that is no number has with %s an error for every item, and none leaves as a success',
	async (name, onError) => {
		const options = { concurrency: '={{ "abc" }}' };
		const { status, outputs } = await run(name, { options }, { onError });
		expect(status).toBe('success');
		expect(outputs.flat().map(({ json: { error } }) => error)).toStrictEqual(
			Array(2).fill('Concurrency is abc'),
		);
		expect(server.requests).toHaveLength(0);
	},
);

test.each(['chat', 'agent', 'assistant'] as const)(
	'%s with a broken expression in Streaming: every item is an error',
	async (name) => {
		const streaming = "={{ $('Nope').item.json.x }}";
		const { outputs } = await run(name, { streaming }, { onError: 'continueErrorOutput' });
		const errors = outputs.flat().map(({ json: { error } }) => typeof error);
		expect(errors).toStrictEqual(['string', 'string']);
		expect(server.requests).toHaveLength(0);
	},
);

test.each(['chat', 'agent', 'assistant', 'create'] as const)(
	'%s: of a value of any length the beginning is quoted, as the error of no item',
	async (name) => {
		const options = { concurrency: '={{ "x".repeat(1_000_000) }}' };
		const { error } = await run(name, { options });
		expect(error!.message).toMatch(/^Concurrency is x{900,1000}…$/);
		expect(error).toHaveProperty('context.itemIndex', undefined);
	},
);

describe('a value of an expression that is no text is sent as one', () => {
	const url = 'http://127.0.0.1/a.png';
	const images = { image: [{ source: 'url', url }] };
	const message = [{ role: 'user', content: '={{ 5 }}', images }];
	const content = [
		{ type: 'text', text: '5' },
		{ type: 'image_url', image_url: { url } },
	];

	test.each<[string, IDataObject, object]>([
		[
			'a number beside an image',
			{ input: 'messages', messages: { message } },
			{ messages: [{ content }] },
		],
		[
			'a date',
			{ answeredBy: 'app', appCode: '={{ new Date(0) }}' },
			{ app_code: '1970-01-01T00:00:00.000Z' },
		],
		[
			'model, stop words and reasoning effort',
			{
				...byId('={{ 7 }}'),
				options: { stop: '={{ [1, "END"] }}', reasoningEffort: '={{ 5 }}' },
			},
			{ model: '7', stop: ['1', 'END'], reasoning_effort: '5' },
		],
	])('%s', async (_what, parameters, sent) => {
		await run('chat', { options: { retries: 0 }, ...parameters });
		expect(server.requests[0]!.body).toMatchObject(sent);
	});
});

/** The keys of the examples, and of the workflows that an AI reads. That of the nightly list has whatever an item has. */
const KEYS = ['examples/*.json', 'nodes/*/*.node.json']
	.flatMap((files) => globSync(files, { cwd: ROOT }))
	.flatMap((file) => [
		...read(file)
			.replaceAll('\\"', '"')
			.matchAll(/idempotencyKey"?: (?:expr\()?(["'])=?(.*?)\1/g),
	])
	.map(([, , key]) => `=${key!.replace(/\$\('[\w ]*'\)\.item\.json/g, '$json')}`)
	.filter((key) => !key.includes('isExecuted'));

test.each(KEYS)('the key %s is empty where a part of it is missing', async (idempotencyKey) => {
	const found = [...idempotencyKey.matchAll(/\$json\.(\w+)\b(?! \|\|)/g)];
	const parts = [...new Set(found.map(([, part]) => part!))];
	const items = parts.map((missing) =>
		Object.fromEntries(parts.map((part) => [part, part === missing ? undefined : 'x'])),
	);
	const more = { items, onError: 'continueErrorOutput' } as const;
	const { outputs } = await run('create', { options: { idempotencyKey } }, more);
	const said = outputs[1]!.map(({ json: { error } }) => error);
	expect(said).toStrictEqual(items.map(() => 'Idempotency Key is empty'));
});

test('every name in the examples and in stored forms is one of the form', async () => {
	const examples = await Promise.all((await exampleFiles()).map(readExampleFile));
	const nodes = examples.flatMap(({ nodes: drawn }) => drawn);
	const own = nodes.filter(({ type }) => type.replace(/Tool$/, '') in NODE_TYPES);
	expect(own.length).toBeGreaterThan(20);
	for (const { type, parameters } of own) {
		const { properties } = NODE_TYPES[type.replace(/Tool$/, '')]!.description;
		checkNames(parameters, properties);
	}
	const owners = await formOwners();
	const forms = savedVersions().flatMap((version) => readSaved(version).owners);
	for (const { name, forms: saved } of forms) {
		const { properties } = owners.find((owner) => owner.name === name)!;
		for (const { saved: parameters, defaults } of saved)
			checkNames({ ...parameters, ...defaults }, properties);
	}
});
