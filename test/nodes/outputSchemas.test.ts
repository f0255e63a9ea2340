/**
 * The fields of outputs. The schema beside each node lists them, which n8n's editor offers before the node has run. It is made
 * from real outputs, so a new field fails here until `npm run schemas` has written it.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { IDataObject } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { ROOT } from '../../lab/paths';
import { dataTables } from '../support/dataTables';
import { maps, runDrawing } from '../support/drawnAgent';
import { runNode } from '../support/engine';
import { missingFields, schemaOf, type OutputSchema } from '../support/outputSchema';

let emulator: Emulator;
const tables = dataTables();

beforeAll(async () => {
	emulator = await startEmulator({ videoSeconds: 0, chunkMs: 0 });
});
afterAll(async () => {
	await emulator.stop();
});

type Outputs = readonly IDataObject[];
/** The calls of a node, made one after another, and what they put out. */
type Made = readonly (() => Promise<Outputs>)[];

const credential = () => ({ baseUrl: emulator.url, apiKey: 'demo-key' });
const makes =
	(node: string) =>
	(parameters: IDataObject, items: IDataObject[] = [{}]) =>
	async (): Promise<Outputs> => {
		const options = { credential: credential(), parameters, items, tables };
		const { outputs, error } = await runNode(node, options);
		if (error) throw error;
		return outputs.flat().map(({ json }) => json);
	};
const chat = makes('chatCompletion');
const assist = makes('superAssistant');
const create = makes('createVideo');
const wait = makes('waitForVideo');

const created = (parameters: IDataObject) => async () => {
	const [{ task_id: taskId } = {}] = await create(parameters)();
	return await wait({ taskId })();
};

/** The answer of an agent that has called one tool. */
const agent = (parameters: IDataObject) => async (): Promise<Outputs> => {
	const { error, items } = await runDrawing(
		{
			...{ tools: 'get_weather', ways: 'get_weather > Agent' },
			questions: ['How is the weather in Rome?'],
			nodes: { get_weather: maps((json) => ({ ...json, degrees: 21 })) },
			parameters: { ...MODEL, output: 'simple', streaming: 'auto', ...parameters },
			environment: { credential: credential() },
		},
		emulator.url,
	);
	if (error) throw error;
	return ['Answers', 'Stops'].flatMap((name) => items(name).map(({ json }) => json));
};

const byId = (value: string) => ({ model: { __rl: true, mode: 'id', value } });
const MODEL = byId('chat-m1');
const DETAILED = { output: 'detailed' };
const SUM = 'What is 12 times 7?';
const RAIN = 'Does it rain in Rome? Get the weather';
const TOOLS = '[{ "type": "function", "function": { "name": "get_weather" } }]';
const ASKED = { ...MODEL, prompt: 'A lighthouse at dawn' };
const OF_APP = { answeredBy: 'app', appCode: 'demo-app', ...DETAILED };
const OF_ASSISTANT = { appCode: 'demo-assistant', session: 'new', message: SUM };
const DRAWN = { prompt: 'A lighthouse at dawn' };
const PRICE = { pricePerSecond: 0.1 };
const KEY = { idempotencyKey: 'order-7' };

/** A node with the calls that make its schema, one more that it must describe, and fields whose content is the person's or the model's. */
const ROWS: readonly (readonly [node: string, made: Made, other: Made[0], open: string[]])[] = [
	[
		'ChatCompletion',
		[
			chat(ASKED),
			chat({ ...OF_APP, prompt: 'Which aspect ratio fits best?' }),
			chat({ ...MODEL, prompt: 'As JSON: title', responseFormat: 'json' }),
			chat({ ...ASKED, ...DETAILED }),
			chat({ ...ASKED, ...byId('chat-m9'), options: { fallbacks: 'chat-m1' } }),
			chat({ ...MODEL, prompt: RAIN, options: { tools: TOOLS } }),
		],
		chat({ ...OF_APP, prompt: SUM, streaming: 'off' }),
		['json', 'tool_calls'],
	],
	[
		'FunctionCallingAgent',
		[agent({}), agent(DETAILED), agent({ options: { maxRounds: 1 } })],
		agent({ ...DETAILED, streaming: 'off' }),
		['json', 'tool_calls.arguments', 'tool_calls.result', 'messages'],
	],
	[
		'SuperAssistant',
		[assist(OF_ASSISTANT), assist({ ...OF_ASSISTANT, ...DETAILED })],
		assist({ ...OF_ASSISTANT, message: 'Hello', ...DETAILED }),
		['tool_calls.arguments', 'tool_calls.result', 'events.arguments', 'events.result'],
	],
	[
		'CreateVideo',
		[
			create({ ...DRAWN, options: PRICE }),
			create({ ...DRAWN, ...byId('video-m7'), duration: 7 }),
			create({ ...DRAWN, waitUntilFinished: true, download: false }),
			create({ ...DRAWN, options: { maximumVideos: 1, takeWhatFits: true } }, [{}, {}]),
			async () => {
				await created({ ...DRAWN, options: KEY })();
				return await create({ ...DRAWN, options: KEY })();
			},
		],
		create({ ...DRAWN, size: '1080P', options: { dryRun: true } }),
		['adjustments'],
	],
	[
		'WaitForVideo',
		[
			created(DRAWN),
			created({ prompt: 'A fail-task' }),
			async () => {
				await create({ ...DRAWN, options: { ...PRICE, ...KEY } })();
				const options = { minimumAge: 0 };
				return await wait({ tasks: 'ledger', ledgerTasks: 'project', options })();
			},
		],
		created({ prompt: 'A moderated-task' }),
		[],
	],
];

test.each(ROWS)('%s: its schema has the fields of its outputs', async (name, made, other, open) => {
	const outputs: IDataObject[] = [];
	for (const each of made) outputs.push(...(await each()));
	const expected = schemaOf(outputs, open);
	const file = join(ROOT, 'nodes', name, '__schema__', 'v1.0.0.json');
	if (process.env['WRITE_SCHEMAS'] !== undefined) {
		await mkdir(dirname(file), { recursive: true });
		await writeFile(file, `${JSON.stringify(expected, null, 2)}\n`);
	}
	const schema = JSON.parse(readFileSync(file, 'utf8')) as OutputSchema;
	expect(schema).toStrictEqual(expected);
	const others = await other();
	expect(others).not.toHaveLength(0);
	expect(others.flatMap((json) => missingFields(json, schema))).toStrictEqual([]);
});

describe('streamed and not streamed, the output is the same', () => {
	/** Values that differ between two calls, by field. */
	const OWN = ['id', 'created', 'session_id', 'trace_id', 'tool_call_id', 'usage'];
	const withoutOwn = (value: unknown): unknown =>
		JSON.parse(
			JSON.stringify(value, (key, each: unknown) => (OWN.includes(key) ? typeof each : each)),
		);
	const asked = { prompt: SUM, options: { temperature: 0 } };
	const ofApp = (appCode: string) => ({ ...asked, answeredBy: 'app', appCode });

	/** The output of both, without `events`: only a stream reports the progress of tools. */
	async function both(ask: typeof chat, parameters: IDataObject) {
		const [streamed, whole] = ['auto', 'off'].map((streaming) =>
			ask({ ...parameters, streaming }),
		) as [Made[0], Made[0]];
		const [{ events: _events, ...first } = {}] = await streamed();
		return [first, (await whole())[0]!] as const;
	}

	// Above the temperature 0 the emulator writes another text for a question that is asked again.
	test.each<[string, typeof chat, IDataObject]>([
		['a model', chat, asked],
		['an application', chat, ofApp('demo-app')],
		['a workflow', chat, ofApp('demo-workflow')],
		['an assistant in Chat Completion', chat, ofApp('demo-assistant')],
		['an assistant', assist, { ...OF_ASSISTANT, options: asked.options }],
		[
			'tools',
			chat,
			{ prompt: RAIN, options: { temperature: 0, tools: TOOLS, toolChoice: 'required' } },
		],
		['thoughts', chat, { prompt: SUM, options: { temperature: 0, thinking: 'enabled' } }],
	])('%s', async (name, ask, parameters) => {
		for (const output of ['simple', 'detailed']) {
			const [streamed, whole] = await both(ask, { ...parameters, output });
			expect(Object.keys(streamed)).toStrictEqual(Object.keys(whole));
			expect(withoutOwn(streamed)).toStrictEqual(withoutOwn(whole));
			expect(whole).toHaveProperty('output');
			const hasSession = output === 'detailed' && name.includes('assistant');
			expect('session_id' in whole).toBe(hasSession);
		}
	});

	test('the calls of an assistant behind Chat Completion have run, so they are not asked for', async () => {
		for (const simple of await both(chat, ofApp('demo-assistant')))
			expect(simple).not.toHaveProperty('tool_calls');
		for (const detailed of await both(chat, { ...ofApp('demo-assistant'), ...DETAILED }))
			expect(detailed).toMatchObject({
				id: expect.any(String) as string,
				object: 'chat.completion',
				created: expect.any(Number) as number,
				tool_calls: [{ name: 'calculator', result: '12 times 7 = 84' }],
				tool_results: [{ content: '12 times 7 = 84' }],
			});
	});
});
