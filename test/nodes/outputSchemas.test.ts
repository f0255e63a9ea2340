/**
 * The schema beside each node lists the fields of its output, which n8n's editor offers before the node has run. It is made from
 * real outputs, so a new field fails here until `npm run schemas` has written it.
 */
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import type { IDataObject } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { ROOT } from '../../lab/paths';
import { dataTables } from '../support/dataTables';
import { allItems, packageNode, runNode, runWorkflow, stubNode } from '../support/engine';
import { schemaOf, missingFields, type OutputSchema } from '../support/outputSchema';

let emulator: Emulator;
const tables = dataTables();

beforeAll(async () => {
	emulator = await startEmulator({ videoSeconds: 0 });
});

afterAll(async () => {
	await emulator.stop();
});

const MODEL = { model: { __rl: true, mode: 'id', value: 'chat-m1' } };
const APP = { answeredBy: 'app', appCode: 'demo-app' };
const ASSISTANT = { appCode: 'demo-assistant', session: 'new' };
const PROMPT = 'A lighthouse at dawn';
const DETAILED = { output: 'detailed' };

const run = async (
	node: string,
	parameters: IDataObject,
	items: IDataObject[] = [{}],
): Promise<readonly IDataObject[]> => {
	const credential = { baseUrl: emulator.url, apiKey: 'demo-key' };
	const { outputs, error } = await runNode(node, { credential, parameters, items, tables });
	if (error) throw error;
	return outputs.flat().map(({ json }) => json);
};

/** The answer of an agent that has called one tool. */
async function askAgent(parameters: IDataObject): Promise<readonly IDataObject[]> {
	const tool = {
		name: 'get_weather',
		description: 'Tells the weather of a city',
		define: 'fields',
		parameters: { parameter: [{ name: 'city', type: 'string', required: true }] },
	};
	const agent = packageNode('Agent', 'functionCallingAgent', {
		parameters: {
			...MODEL,
			prompt: 'How is the weather in Rome?',
			...parameters,
			tools: { tool: [tool] },
		},
	});
	const weather = stubNode('Weather', (items) =>
		items.map(({ json }, item) => ({ json: { ...json, degrees: 21 }, pairedItem: { item } })),
	);
	const after = stubNode('After', (items) => items);
	const wires = { Agent: [['After'], ['After'], ['Weather']], Weather: [['Agent']] };
	const credential = { baseUrl: emulator.url, apiKey: 'demo-key' };
	const result = await runWorkflow([agent, weather, after], wires, 'Agent', {
		credential,
		items: [{}],
	});
	if (result.error) throw result.error;
	return allItems(result, 'After').flatMap((items) => items.map(({ json }) => json));
}

async function waitFor(
	prompt: string,
	parameters: IDataObject = {},
): Promise<readonly IDataObject[]> {
	const [{ task_id: taskId } = {}] = await run('createVideo', { prompt, ...parameters });
	return await run('waitForVideo', { taskId });
}

/** A node with outputs that make its schema, and others that it must describe. */
interface Row {
	/** Fields whose content is the person's or the model's. */
	readonly open?: readonly string[];
	readonly made: () => Promise<readonly IDataObject[]>;
	readonly others: () => Promise<readonly IDataObject[]>;
}

const inTurn = async (...runs: readonly (() => Promise<readonly IDataObject[]>)[]) => {
	const outputs: IDataObject[] = [];
	for (const each of runs) outputs.push(...(await each()));
	return outputs;
};

const CHAT = 'chatCompletion';
const CREATE = 'createVideo';
const UNKNOWN = { model: { ...MODEL.model, value: 'chat-m9' } };
const RAIN = 'Does it rain in Rome? Get the weather';
const TOOLS = '[{ "type": "function", "function": { "name": "get_weather" } }]';
const SNAPPING = { __rl: true, mode: 'id', value: 'video-m7' };
const FITTING = { maximumVideos: 1, takeWhatFits: true };
const KEYED = { options: { idempotencyKey: 'order-7' } };
const COLLECTED = { tasks: 'ledger', ledgerTasks: 'project', options: { minimumAge: 0 } };
const SUM = 'What is 12 times 7?';

const ROWS: Readonly<Record<string, Row>> = {
	ChatCompletion: {
		open: ['json', 'tool_calls'],
		made: () =>
			inTurn(
				() => run(CHAT, { ...MODEL, prompt: PROMPT }),
				() => run(CHAT, { ...APP, prompt: 'Which aspect ratio fits best?', ...DETAILED }),
				() => run(CHAT, { ...MODEL, prompt: 'As JSON: title', responseFormat: 'json' }),
				() => run(CHAT, { ...MODEL, prompt: PROMPT, ...DETAILED }),
				() => run(CHAT, { ...UNKNOWN, prompt: PROMPT, options: { fallbacks: 'chat-m1' } }),
				() => run(CHAT, { ...MODEL, prompt: RAIN, options: { tools: TOOLS } }),
			),
		others: () => run(CHAT, { ...APP, prompt: PROMPT, ...DETAILED, streaming: 'off' }),
	},
	FunctionCallingAgent: {
		open: ['json', 'tool_calls.arguments', 'tool_calls.result', 'messages'],
		made: () =>
			inTurn(
				() => askAgent({}),
				() => askAgent(DETAILED),
				() => askAgent({ options: { maxRounds: 1 } }),
			),
		others: () => askAgent({ ...DETAILED, streaming: 'off' }),
	},
	SuperAssistant: {
		open: ['tool_calls.arguments', 'tool_calls.result', 'events.arguments', 'events.result'],
		made: () =>
			inTurn(
				() => run('superAssistant', { ...ASSISTANT, message: SUM }),
				() => run('superAssistant', { ...ASSISTANT, message: SUM, ...DETAILED }),
			),
		others: () => run('superAssistant', { ...ASSISTANT, message: 'Hello', ...DETAILED }),
	},
	CreateVideo: {
		open: ['adjustments'],
		made: () =>
			inTurn(
				() => run(CREATE, { prompt: PROMPT, options: { pricePerSecond: 0.1 } }),
				() => run(CREATE, { prompt: PROMPT, model: SNAPPING, duration: 7 }),
				() => run(CREATE, { prompt: PROMPT, waitUntilFinished: true, download: false }),
				() => run(CREATE, { prompt: PROMPT, options: FITTING }, [{}, {}]),
				async () => {
					await waitFor(PROMPT, KEYED);
					return await run(CREATE, { prompt: PROMPT, ...KEYED });
				},
			),
		others: () => run(CREATE, { prompt: PROMPT, size: '1080P', options: { dryRun: true } }),
	},
	WaitForVideo: {
		made: () =>
			inTurn(
				() => waitFor(PROMPT),
				() => waitFor('A fail-task'),
				async () => {
					await run(CREATE, {
						prompt: PROMPT,
						options: { pricePerSecond: 0.1, ...KEYED.options },
					});
					return await run('waitForVideo', COLLECTED);
				},
			),
		others: () => waitFor('A moderated-task'),
	},
};

const fileOf = (name: string) => join(ROOT, 'nodes', name, '__schema__', 'v1.0.0.json');

test.each(Object.entries(ROWS))(
	'%s: its schema has the fields of its outputs',
	async (name, row) => {
		const made = schemaOf(await row.made(), row.open);
		const file = fileOf(name);
		if (process.env['WRITE_SCHEMAS'] !== undefined) {
			await mkdir(dirname(file), { recursive: true });
			await writeFile(file, `${JSON.stringify(made, null, 2)}\n`);
		}
		const schema = JSON.parse(readFileSync(file, 'utf8')) as OutputSchema;
		expect(schema).toStrictEqual(made);
		const others = await row.others();
		expect(others).not.toHaveLength(0);
		expect(others.flatMap((json) => missingFields(json, schema))).toStrictEqual([]);
	},
);
