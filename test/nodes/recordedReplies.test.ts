/** The replies of test/fixtures/replies through the four chat nodes, in n8n's engine: usually each through one, in turn. */
import { runNode } from '../support/engine';
import { askThrough, CHAT_NODE_NAMES } from '../support/fourNodes';
import { RECORDED } from '../support/recordedReplies';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { thorough } from '../support/thorough';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

let server: ScriptedServer;
let answer: readonly [type: string, text: string];
let asked = 0;

beforeAll(async () => {
	server = await startScriptedServer((response) => {
		const [type, text] = answer;
		// An agent asks again once its calls have results.
		const done = {
			choices: [{ index: 0, message: { content: 'Done' }, finish_reason: 'stop' }],
		};
		if (asked++ > 0) json(response, 200, done);
		else response.writeHead(200, { 'content-type': type }).end(text);
	});
});
beforeEach(() => {
	asked = 0;
});
afterAll(async () => {
	await server.stop();
});

const TOOLS = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }];
const ERRORS = {
	'cut call': 'The reply was cut off in a tool call',
	'written call': 'The model has written a tool call as text',
} as const;

describe.each(CHAT_NODE_NAMES)('%s', (node) => {
	const turn = CHAT_NODE_NAMES.indexOf(node);
	const own = RECORDED.filter((_each, index) => thorough(index % 4 === turn, true));

	test.each(own)('$file', async ({ file, type, text, expected }) => {
		answer = [type, text];
		const { content, shown = content, calls = [], form } = expected;
		const parameters = node === 'model' ? {} : { output: 'simple' };
		const tools = node === 'reply' ? { options: { tools: JSON.stringify(TOOLS) } } : {};
		const seen = await askThrough(node, file.endsWith('sse'), server.url, {
			...parameters,
			...tools,
		});
		const said = JSON.stringify(seen.json);
		// An assistant has run its calls, and a chain has declared no tools.
		const isCall = form === 'calls' || form === 'cut call';
		if (node === 'assistant' && isCall) return;
		if ((node === 'assistant' || node === 'model') && form === 'written call') {
			expect(seen.error).toBe('');
		} else if (form === 'cut call' || form === 'written call') {
			expect(seen.error).toContain(ERRORS[form]);
		} else if (form === 'cut' && node === 'model') {
			expect(seen.error).toContain('The reply was cut off');
		} else {
			expect(seen.error).toBe('');
		}
		if (form === 'calls') {
			const sent = node === 'agent' ? JSON.stringify(server.requests.at(-1)!.body) : said;
			for (const { name, arguments: args } of calls) {
				expect(sent).toContain(name);
				for (const [field, value] of Object.entries(args))
					expect(sent.replaceAll('\\', '')).toContain(
						`"${field}":${JSON.stringify(value)}`.replaceAll('\\', ''),
					);
			}
			if (node === 'agent') expect(seen.json['output']).toBe('Done');
		}
		if (form !== 'answer' && form !== 'cut') return;
		if (node !== 'model') {
			expect(seen.json['output']).toBe(shown);
			expect(seen.hints.join().includes('The reply was cut off')).toBe(form === 'cut');
		}
	});
});

describe('a thought in tags', () => {
	const TAGGED = RECORDED.filter(({ file }) => file.startsWith('thought-in-tags-think'));

	test.each(
		TAGGED.flatMap((each) => (['text', 'reasoning'] as const).map((how) => ({ ...each, how }))),
	)(
		'$file is shown to the visitor of a chat only if it was asked for: $how',
		async ({ type, text, how }) => {
			answer = [type, text];
			const { chunks } = await runNode('chatCompletion', {
				credential: { baseUrl: server.url, apiKey: 'k' },
				parameters: { prompt: 'Hi', streaming: how === 'text' ? 'auto' : how },
				streaming: true,
			});
			const shown = chunks.map(({ content = '' }) => content).join('');
			expect(shown.trim().replace(/\s+/g, ' ')).toBe(
				how === 'text' ? 'Sunny' : 'I think so Sunny',
			);
		},
	);

	test.each([
		'<think>{"a":0}</think>{"a":1}',
		'<thinking>{"a":0}</thinking>{"a":1}',
		'{"a":0}\n</think>\n{"a":1}',
	])('is no part of the JSON: %j', async (content) => {
		const body = { choices: [{ index: 0, message: { content }, finish_reason: 'stop' }] };
		answer = ['application/json', JSON.stringify(body)];
		const { json: item, error } = await askThrough('reply', false, server.url, {
			responseFormat: 'json',
		});
		expect([error, item['json']]).toStrictEqual(['', { a: 1 }]);
	});
});

test('a call that is written as text is one only where tools were declared', async () => {
	const [written] = RECORDED.filter(({ file }) => file === 'written-call-tool-call.json');
	answer = [written!.type, written!.text];
	const { error, json: item } = await askThrough('reply', false, server.url);
	expect([error, item['output']]).toStrictEqual(['', written!.expected.content]);
});
