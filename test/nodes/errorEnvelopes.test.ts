/**
 * Errors of other OpenAI-compatible services, as their public documentation and their users' reports show them: with status
 * 200 in place of the reply, in both forms, and in the middle of a stream.
 */
import corpus from '../fixtures/errorEnvelopes.json';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';
import { askThrough, CHAT_NODE_NAMES } from '../support/fourNodes';
import { eventsOf, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { thorough } from '../support/thorough';

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

/** HTTP status, error, what it means, and how many requests are sent. */
const MEANT = [
	[429, { message: 'exceeded the rate quota, retry in 10 s' }, FAILURE.tooMany, 4],
	[503, { message: 'upstream billing timeout' }, FAILURE.unavailable, 1],
	[502, { message: 'content-filter sidecar restarting' }, FAILURE.proxy, 1],
	[500, { message: 'model not found in cache, warming up' }, FAILURE.proxy, 1],
	[429, { message: 'No.', code: 'insufficient_quota' }, FAILURE.noCredit, 1],
	[403, { message: 'No', code: 'insufficient_user_quota' }, FAILURE.noCredit, 1],
	[404, { message: 'No', code: 'model_not_found' }, FAILURE.noModel, 1],
	[200, { code: 1102, message: 'Account balance not enough', data: null }, FAILURE.noCredit, 1],
] as const;

const PAGE = '<!DOCTYPE html><title>Just a moment...</title><p>Enable JavaScript</p>';
const CUT = `{"choices":[{"message":{"content":"${'All of <b> it. '.repeat(20)}End`;
const error = (fields: object) => JSON.stringify({ error: fields });
/** HTTP status, body, what it means, and the words of the service in it. */
const QUOTED = [
	[
		403,
		PAGE,
		'A firewall or proxy in front of the service rejected the request',
		'Just a moment',
	],
	[403, error({ message: '<p>No access</p>' }), '', '<p>No access</p>'],
	[400, `[${error({ message: 'API key expired' })}]`, FAILURE.malformed, 'API key expired"'],
	[
		400,
		error({ message: 'Failed to call', failed_generation: '<function=weather>' }),
		FAILURE.malformed,
		'Failed to call: <function=weather>"',
	],
	[404, error({ message: 'No endpoint supports tool use' }), FAILURE.notFound, 'No endpoint'],
	// What was paid for.
	[200, CUT, 'The response is truncated or not valid JSON', CUT],
] as const;

let server: ScriptedServer;
let answer: readonly string[];
let httpStatus = 200;

beforeAll(async () => {
	server = await startScriptedServer((response) => {
		const [type = '', text = ''] = answer;
		const headers = { 'content-type': type, 'retry-after': '0' };
		response.writeHead(httpStatus, headers).end(text);
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
	const turn = CHAT_NODE_NAMES.indexOf(node);
	beforeEach(() => {
		httpStatus = 200;
	});

	test.each(Object.keys(FORMS) as (keyof typeof FORMS)[])(
		'an error %s fails with the words of the service, and keeps the text so far',
		async (form) => {
			const silent: unknown[] = [];
			// One reader of errors serves all nodes: usually each of them has a quarter of the corpus, in turn.
			const own = corpus.filter((_each, index) => thorough(index % 4 === turn, true));
			for (const { dialect, name, body, words, streamed = true } of own) {
				if (form !== 'as a body' && !streamed) continue;
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

	test.each(MEANT)('%i, %j: %s, after %i requests', async (status, error, message, requests) => {
		httpStatus = status;
		for (const stream of [true, false]) {
			const body = status === 200 ? error : { error };
			answer = ['application/json', JSON.stringify(body)];
			server.requests.length = 0;
			const { error: shown } = await withFakeTimers(
				async () => await askThrough(node, stream, server.url),
			);
			const { message: words } = error;
			// What happened, the words of the service, then what to do.
			expect(shown.replace(`: ${words}\n`, '\n')).toMatch(
				RegExp(`^${message}\nThe service said: "${words}[^]*[^.]\\.\n`),
			);
			expect(server.requests).toHaveLength(requests);
		}
	});

	test.each([{ tool_calls: [] }, { tool_calls: null }, { function_call: null }])(
		'an error beside a message without an answer, %j, is one',
		async (fields) => {
			const message = { role: 'assistant', content: '', ...fields };
			const choices = [{ index: 0, message, delta: message, finish_reason: null }];
			const body = { choices, error: { code: 429, message: 'slow down' } };
			for (const form of ['as a body', 'as the first event of a stream'] as const) {
				answer = FORMS[form](body);
				server.requests.length = 0;
				const stream = form !== 'as a body';
				const { error: shown } = await withFakeTimers(
					async () => await askThrough(node, stream, server.url),
				);
				expect(shown).toMatch(RegExp(`^${FAILURE.tooMany}`));
				expect(server.requests).toHaveLength(4);
			}
		},
	);

	test.each(QUOTED)('%i, %s: %s', async (status, body, message, words) => {
		httpStatus = status;
		for (const stream of [true, false]) {
			answer = ['text/html', body];
			const { error: shown } = await askThrough(node, stream, server.url);
			expect(shown.startsWith(message)).toBe(true);
			expect(shown).toContain(`The service said: "${words}`);
		}
	});
});
