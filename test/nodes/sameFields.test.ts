/** Streamed and not streamed, a chat gives the same output, for everything that a request can be bound to. */
import { startEmulator } from '../../emulator/startEmulator';
import { runNode } from '../support/engine';

type Emulator = Awaited<ReturnType<typeof startEmulator>>;

let emulator: Emulator;

beforeAll(async () => {
	emulator = await startEmulator({ chunkMs: 0 });
});
afterAll(async () => {
	await emulator.stop();
});

const WEATHER = {
	type: 'function',
	function: {
		name: 'weather',
		description: 'Tells the weather in a city',
		parameters: { type: 'object', properties: { city: { type: 'string' } } },
	},
};
const QUESTION = 'What is 12 times 7?';

/** Values that differ between two calls, by field. */
const OWN = ['id', 'created', 'session_id', 'trace_id', 'tool_call_id', 'usage'];

function withoutOwn(value: unknown): unknown {
	return JSON.parse(
		JSON.stringify(value, (key, each: unknown) => (OWN.includes(key) ? typeof each : each)),
	) as unknown;
}

async function ask(node: string, parameters: object, streaming: string) {
	const { outputs } = await runNode(node, {
		credential: { baseUrl: emulator.url, apiKey: 'demo-key' },
		parameters: { ...parameters, streaming },
	});
	// Only a stream reports the progress of tools.
	const { events, ...json } = outputs.flat()[0]!.json;
	return { events, json };
}

describe.each(['simple', 'detailed'])('Output: %s', (output) => {
	test.each<[string, string, object, object]>([
		['a model', 'chatCompletion', { prompt: QUESTION }, {}],
		[
			'an application',
			'chatCompletion',
			{ prompt: QUESTION, answeredBy: 'app', appCode: 'demo-app' },
			{},
		],
		[
			'a workflow',
			'chatCompletion',
			{ prompt: QUESTION, answeredBy: 'app', appCode: 'demo-workflow' },
			{},
		],
		[
			'an assistant in Chat Completion',
			'chatCompletion',
			{ prompt: QUESTION, answeredBy: 'app', appCode: 'demo-assistant' },
			{},
		],
		[
			'an assistant',
			'superAssistant',
			{ message: QUESTION, appCode: 'demo-assistant', session: 'new' },
			{},
		],
		[
			'tools',
			'chatCompletion',
			{ prompt: 'How is the weather in Rome?' },
			{ tools: JSON.stringify([WEATHER]), toolChoice: 'required' },
		],
		['thoughts', 'chatCompletion', { prompt: QUESTION }, { thinking: 'enabled' }],
	])('%s', async (_name, node, parameters, options) => {
		// Above it the emulator writes another text for a question that is asked again.
		const asked = { ...parameters, output, options: { temperature: 0, ...options } };
		const streamed = await ask(node, asked, 'auto');
		const whole = await ask(node, asked, 'off');
		expect(Object.keys(streamed.json)).toStrictEqual(Object.keys(whole.json));
		expect(withoutOwn(streamed.json)).toStrictEqual(withoutOwn(whole.json));
		expect(whole.json).toHaveProperty('output');
		expect('session_id' in whole.json).toBe(
			output === 'detailed' && _name.includes('assistant'),
		);
	});
});

test('an assistant behind Chat Completion: its calls have run, so they are not asked for', async () => {
	const asked = { prompt: QUESTION, answeredBy: 'app', appCode: 'demo-assistant' };
	for (const streaming of ['auto', 'off']) {
		const { json } = await ask('chatCompletion', asked, streaming);
		expect(json).not.toHaveProperty('tool_calls');
		const output = 'detailed';
		const detailed = await ask('chatCompletion', { ...asked, output }, streaming);
		expect(detailed.json).toMatchObject({
			id: expect.any(String) as string,
			object: 'chat.completion',
			created: expect.any(Number) as number,
			tool_calls: [{ name: 'calculator', result: '12 times 7 = 84' }],
			tool_results: [{ content: '12 times 7 = 84' }],
		});
	}
});
