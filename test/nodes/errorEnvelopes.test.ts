/**
 * Errors of other OpenAI-compatible services, as their public documentation and their users' reports show them: with status
 * 200 in place of the reply, in both forms, and in the middle of a stream.
 */
import corpus from '../fixtures/errorEnvelopes.json';
import { askThrough, CHAT_NODE_NAMES } from '../support/fourNodes';
import { eventsOf, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const SAID = 'Half a word';
const FORMS = {
	'as a body': (body: object) => ['application/json', JSON.stringify(body)],
	'as the first event of a stream': (body: object) => [
		'text/event-stream',
		eventsOf([body, '[DONE]']),
	],
	'in the middle of a stream': (body: object) => [
		'text/event-stream',
		eventsOf([{ choices: [{ index: 0, delta: { content: SAID } }] }, body, '[DONE]']),
	],
} as const;

let server: ScriptedServer;
let answer: readonly string[];

beforeAll(async () => {
	server = await startScriptedServer((response) => {
		const [type = '', text = ''] = answer;
		response.writeHead(200, { 'content-type': type }).end(text);
	});
});
afterAll(async () => {
	await server.stop();
});

test('the corpus has enough of them', () => {
	expect(corpus.length).toBeGreaterThanOrEqual(30);
	expect(new Set(corpus.map(({ dialect }) => dialect)).size).toBeGreaterThanOrEqual(7);
	for (const { source, words } of corpus) expect([source, words]).not.toContain('');
});

describe.each(CHAT_NODE_NAMES)('%s', (node) => {
	test.each(Object.keys(FORMS) as (keyof typeof FORMS)[])(
		'an error %s fails with the words of the service, and keeps the text so far',
		async (form) => {
			const silent: unknown[] = [];
			for (const { dialect, name, body, words } of corpus) {
				answer = FORMS[form](body);
				const isStream = form !== 'as a body';
				const { error } = await askThrough(node, isStream, server.url);
				const isKept = form !== 'in the middle of a stream' || error.includes(SAID);
				const [shown = ''] = error.split(JSON.stringify({}).slice(0, 1));
				if (!shown.includes(words) || !isKept) silent.push({ dialect, name, error });
			}
			expect(silent).toStrictEqual([]);
		},
		60_000,
	);
});
