import { ServiceError } from '../../nodes/client/errors';
import { normalizeBaseUrl } from '../../nodes/client/http/publicUrl';
import { errorDetails, errorIn, excerpt, messageOf } from '../../nodes/client/http/request';
import { exceededBound, MAX_JSON, parseJson, type JsonValue } from '../../nodes/client/json';
import { runNode } from '../support/engine';
import { events, json, startScriptedServer, type Script } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';
import { seededRandom } from '../support/seededRandom';

const MEGABYTE = 1_000_000;
const fill = (text: string, length = MEGABYTE) => text.repeat(Math.ceil(length / text.length));

// Code that takes quadratic time on one of these ends in jest's timeout.
test.each([
	['<'],
	['<script'],
	['<script>'],
	['<style '],
	['</script'],
	['<script></scrip'],
	['<a'],
	['< '],
	[' '],
	['\u0000'],
	['<!--'],
	['<scr<script>ipt>'],
])('the excerpt of a megabyte of %j', (piece) => {
	expect(excerpt(fill(piece)).length).toBeLessThan(250);
	expect(excerpt(`<p>Login</p>${fill(piece)}`)).toContain('Login');
});

test.each([
	['<html><script>var a = 1 < 2;</script><p>Login</p></html>', 'Login'],
	['<style media="all">p { }</style >Login', 'Login'],
	['<script>a</scripts>b</script>Login', 'Login'],
	['<SCRIPT>if (1 < 2) {}</SCRIPT> 2 < 3 and 4 > 3', '2 3'],
	['<p>Login</p><script>never ends', 'Login'],
	['a < b', 'a < b'],
])('the excerpt of %j', (page, words) => {
	expect(excerpt(page)).toContain(words);
});

test('slashes in the Base URL stay, but for those at its end', () => {
	const url = `http://127.0.0.1/${fill('/', 1_900)}x`;
	expect(normalizeBaseUrl(`${url}//`)).toBe(`${url}/v1`);
});

describe('the bounds of JSON', () => {
	const nested = (levels: number, open = '[', close = ']') =>
		`${fill(open, levels * open.length)}1${fill(close, levels * close.length)}`;

	test.each([
		['[', ']'],
		['{"a":', '}'],
		['[{"":', '}]'],
	])('100 levels of %s', (open, close) => {
		const levels = 100 / open.replace(/[^[{]/g, '').length;
		const deepest = nested(levels, open, close);
		expect(JSON.stringify(parseJson(deepest))).toBe(deepest);
		expect(exceededBound(`[${deepest}]`)).toBe('more than 100 levels');
		expect(parseJson(nested(2_000_000, open, close))).toBeUndefined();
	});

	test.each([
		['0', 199_999],
		['{}', 199_999],
		['{"a":[]}', 99_999],
		['"\\\\",["\\"",0]', 49_999],
	])('200,000 values such as %s', (value, most) => {
		const list = (length: number) => `[${Array(length).fill(value).join(',')}]`;
		expect(exceededBound(list(most))).toBeUndefined();
		expect(exceededBound(list(most + 1))).toBe('more than 200,000 values');
		expect(parseJson(list(most + 1))).toBeUndefined();
	});

	test('16 MB of text', () => {
		const text = JSON.stringify('x'.repeat(MAX_JSON.characters - 2));
		expect(parseJson(text)).toHaveLength(MAX_JSON.characters - 2);
		expect(exceededBound(`${text} `)).toBe('more than 16 MB of text');
	});

	test('count as an independent walk does, with any quotes and backslashes', () => {
		const random = seededRandom(49);
		const below = (limit: number) => Math.floor(random() * limit);
		const pieces = ['"', '\\', '\\"', '[[[', '{', '}', ']', ',', ':', 'a', '\n', ''];
		const text = () => Array.from({ length: below(6) }, () => pieces[below(12)]!).join('');
		function value(depth: number): JsonValue {
			const kind = below(depth > 0 ? 4 : 2);
			if (kind < 2) return kind === 0 ? text() : below(1_000);
			const parts = Array.from({ length: below(4) }, () => value(depth - 1));
			return kind === 2 ? parts : Object.fromEntries(parts.map((part) => [text(), part]));
		}
		const size = (part: JsonValue | undefined): [values: number, levels: number] => {
			if (typeof part !== 'object' || part === null) return [1, 0];
			const sizes = Object.values(part).map(size);
			const values = sizes.reduce((sum, [each]) => sum + each, 1);
			return [values, 1 + Math.max(0, ...sizes.map(([, levels]) => levels))];
		};
		for (let round = 0; round < 50; round++) {
			const part = value(6);
			const [values, levels] = size(part);
			const json = JSON.stringify(part);
			// As many as fit, and one more.
			const copies = Math.floor((MAX_JSON.values - 1) / values);
			const rest = MAX_JSON.values - 1 - copies * values;
			const all = [...Array<string>(copies).fill(json), ...Array<string>(rest).fill('0')];
			expect(exceededBound(`[${all.join(',')}]`)).toBeUndefined();
			expect(exceededBound(`[0,${all.join(',')}]`)).toBe('more than 200,000 values');
			const outer = 100 - levels;
			expect(exceededBound(fill('[', outer) + json + fill(']', outer))).toBeUndefined();
			expect(exceededBound(fill('[', outer + 1) + json + fill(']', outer + 1))).toBe(
				'more than 100 levels',
			);
		}
	});

	test.each([[fill('"')], [fill('\\')], [`"${fill('\\')}`], [`"${fill('\\"')}`], [fill('{')]])(
		'take linear time (%#)',
		(text) => {
			expect(parseJson(text)).toBeUndefined();
		},
	);
});

describe('texts of the service in an error', () => {
	const long = fill('long ');
	const controls = 'a\u0000b\u001b[31mc\u202ed\u200be';

	test('have a limit', () => {
		const error = { message: long, type: long };
		const { details } = new ServiceError(
			'http',
			'm',
			'tryLater',
			errorDetails({ error, trace_id: long }),
		);
		expect(details.serviceMessage!.length).toBeLessThanOrEqual(2_001);
		expect(details.serviceType!.length).toBeLessThanOrEqual(201);
		expect(details.traceId!.length).toBeLessThanOrEqual(201);
	});

	test('have no control characters', () => {
		const error = { message: `${controls}\nline`, type: controls };
		const { details } = new ServiceError(
			'http',
			'm',
			'tryLater',
			errorDetails({ error, trace_id: controls }),
		);
		expect(details.traceId).toBe('a b [31mc d e');
		expect(details.serviceType).toBe('a b [31mc d e');
		expect(details.serviceMessage).toBe('a b [31mc d e\nline');
	});

	test.each([
		[{ error: { message: 'm' } }, true],
		[{ error: 'm' }, true],
		[{ trace_id: 't' }, true],
		[{ message: 'm' }, undefined],
		[{ error: true }, undefined],
		[[], undefined],
		['error', undefined],
		[undefined, undefined],
	])('%j: is it the form of the service?', (body, expected) => {
		expect(errorDetails(body).isServiceForm).toBe(expected);
	});
});

describe('the words of an error', () => {
	const loc = ['body', 'messages', 0, 'role'];
	test.each([
		[{ message: 'a' }, 'a'],
		[{ error_message: 'a', message: 'b' }, 'a'],
		[{ error: { message: 'a' }, message: 'Bad Request' }, 'a'],
		[{ error: 'Bad Request', message: ['a', 'b'] }, 'a; b'],
		[{ error: 'a' }, 'a'],
		[{ detail: [{ loc, msg: 'field required' }] }, 'body.messages.0.role: field required'],
		[{ detail: [{ loc: ['query'], msg: 'a' }, { msg: 'b' }] }, 'query: a; b'],
		[{ message: 'Provider error', metadata: { raw: 'upstream' } }, 'Provider error: upstream'],
		[{ message: 'a', metadata: { raw: { error: 'b' } } }, 'a: {"error":"b"}'],
		[{ metadata: { raw: 'upstream' } }, 'upstream'],
		[{ fail_reason: 'a' }, 'a'],
		[{ message: ' ', code: 'x' }, undefined],
		[{ message: { text: 'a' } }, undefined],
		[{}, undefined],
	])('%j: %j', (fields, words) => {
		expect(messageOf(fields)).toBe(words);
	});
});

describe('a body reports an error', () => {
	const WORDS = { message: 'no' };
	const CHOICES = [{ index: 0, delta: { content: 'Hi' } }];
	test.each([
		[{ error: WORDS }],
		[{ error: 'no' }],
		[{ error: true, ...WORDS }],
		[{ error: WORDS, choices: CHOICES }],
		[{ choices: [{ error: WORDS, delta: {} }] }],
		[{ code: 1102, ...WORDS, data: null }],
		[{ code: 'busy', ...WORDS, choices: [] }],
		[{ error_code: 17, error_msg: 'no' }],
		[{ base_resp: { status_code: 1008, status_msg: 'no' }, choices: null }],
		[{ success: false, msg: 'no' }],
		[{ object: 'error', ...WORDS, code: null }],
	])('%j', (body) => {
		expect(messageOf(errorIn(body)!)).toBe('no');
	});

	test.each([
		[{ message: 'queued' }],
		[{ detail: 'warming up' }],
		[{ detail: [{ loc: ['body'], msg: 'no' }] }],
		[{ reason: 'no', usage: {} }],
		[{ code: 0, ...WORDS }],
		[{ code: 200, ...WORDS }],
		[{ code: 'Success', ...WORDS }],
		[{ code: 'busy' }],
		[{ code: 'busy', ...WORDS, choices: CHOICES }],
		[{ error: '', choices: CHOICES }],
		[{ error: false, ...WORDS }],
		[{ error: {}, ...WORDS }],
		[{ base_resp: { status_code: 0, status_msg: 'success' } }],
		[{ extension: { type: 'tool_start', data: WORDS } }],
	])('not: %j', (body) => {
		expect(errorIn(body)).toBeUndefined();
	});
});

async function runChat(script: Script, parameters = {}) {
	const server = await startScriptedServer(script);
	try {
		return await runNode('chatCompletion', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			parameters: { prompt: 'Hi', ...parameters },
		});
	} finally {
		await server.stop();
	}
}
const NOT_STREAMED = { streaming: 'off' };
const REPLY = [
	{ choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] },
	'[DONE]',
];

describe('a stream in answer to a request for a whole reply', () => {
	test('is the reply', async () => {
		const { outputs, error } = await runChat((response) => {
			events(response, REPLY);
		}, NOT_STREAMED);
		expect(error).toBeUndefined();
		expect(outputs[0]![0]!.json).toMatchObject({ output: 'Hi' });
	});

	test('is the error in it', async () => {
		const { error } = await runChat((response) => {
			events(response, [{ error: { message: 'No seats', type: 'invalid_request' } }]);
		}, NOT_STREAMED);
		expect(error?.message).toContain(FAILURE.malformed);
		expect(error?.description).toContain('No seats');
	});
});

test('a whole reply in answer to a request for a stream is the reply', async () => {
	const { outputs } = await runChat((response) => {
		const message = { role: 'assistant', content: 'Hi' };
		json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	});
	expect(outputs[0]![0]!.json).toMatchObject({ output: 'Hi' });
});
