import { completeChat } from '../../nodes/client/chat/completeChat';
import type { ChatCompletion } from '../../nodes/client/chat/types';
import { ServiceError } from '../../nodes/client/errors';
import { axiosHttp } from '../support/axiosHttp';
import { startScriptedServer } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

interface Response {
	readonly type?: string;
	/** Whether the connection is reset after the text. */
	readonly breaks?: boolean;
	readonly stream?: boolean;
}

/** The reply, or the error, that a response with this text leads to. */
async function outcome(text: string, { type, breaks, stream = true }: Response = {}) {
	const server = await startScriptedServer((response) => {
		response.writeHead(200, { 'content-type': type ?? 'text/event-stream' });
		if (breaks === true) response.write(text, () => response.socket!.resetAndDestroy());
		else response.end(text);
	});
	try {
		return await completeChat(
			axiosHttp(server.url, 'key'),
			{ messages: [{ role: 'user', content: 'Hi' }] },
			{ stream, idleTimeoutMs: 5_000 },
		).catch((error: unknown) => {
			if (error instanceof ServiceError) return error;
			throw error;
		});
	} finally {
		await server.stop();
	}
}

const event = (data: unknown, fields = '') =>
	`${fields}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const says = (content: string, more: object = {}) => ({
	choices: [{ index: 0, delta: { content } }],
	...more,
});
const END = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const DONE = event('[DONE]');
const reply = (content: string) => ({ choices: [{ message: { content } }] });
const CUT = 'The stream ended before the reply was complete';

describe('a finished reply is a reply, however its stream ends', () => {
	const FINISHED = event(says('Hi')) + END;
	test.each<[string, string, Response]>([
		['[DONE] and a space', `${FINISHED}data: [DONE] \n\n`, {}],
		[
			'[DONE] without a space before it, and without a line break',
			`${FINISHED}data:[DONE]`,
			{},
		],
		['a part of [DONE]', `${FINISHED}data: [DO`, {}],
		['a part of another chunk', `${FINISHED}data: {"choices`, {}],
		['text that is not JSON', `${FINISHED}${event('goodbye')}`, {}],
		['a lost connection', FINISHED, { breaks: true }],
		['an error event', FINISHED + event({ error: { message: 'too late', code: 500 } }), {}],
		['an event that is named error', FINISHED + event('too late', 'event: error\n'), {}],
	])('%s', async (_name, text, options) => {
		expect(await outcome(text, options)).toMatchObject(reply('Hi'));
	});
});

test.each([
	['empty events', 'data:\n\ndata: \n\ndata\n\n'],
	['comments', ': keep-alive\n\n:\n\n'],
	['other fields', 'retry: 3000\n\nevent: ping\n\n'],
])('%s keep a connection alive and add nothing', async (_name, alive) => {
	const text = alive + event(says('Half')) + alive + event(says(' and whole')) + alive + END;
	expect(await outcome(text + alive + DONE)).toMatchObject(reply('Half and whole'));
});

test.each([
	['only keep-alive comments', ': keep-alive\n\n', {}],
	['only empty events', 'data:\n\n', {}],
	['a part of the first event', 'data: {"choices":[', {}],
	['a part of the name of a field', 'dat', {}],
	['a part of the first event, with another content type', 'data: {"cho', { type: 'text/html' }],
])('a stream with %s is cut', async (_name, text, options) => {
	expect(await outcome(text, options)).toMatchObject({
		kind: 'stream',
		message: CUT,
		details: { retryable: true, outcomeUnknown: true },
	});
});

describe('an error event', () => {
	const WORDS = { message: 'Own words', type: 'own_type' };

	test.each([
		['in the format of the service', event({ error: WORDS, trace_id: 't' }), WORDS.type, 't'],
		['that is named so', event({ ...WORDS, trace_id: 't' }, 'event: error\n'), WORDS.type, 't'],
		['with an error as text', event({ error: 'Own words' }), undefined, undefined],
		['of plain text', event('Own words', 'event: error\n'), undefined, undefined],
		[
			'in fields of its own',
			event({ msg: 'Own words' }, 'event: error\n'),
			undefined,
			undefined,
		],
	])('%s keeps the words of the service', async (_name, text, type, trace) => {
		const error = (await outcome(event(says('Half')) + text)) as ServiceError;
		expect(error).toMatchObject({
			kind: 'stream',
			message: 'The service reported an error during the reply',
			details: { outcomeUnknown: true, partial: reply('Half') },
		});
		expect(error.details.serviceMessage).toContain('Own words');
		expect(error.details).toMatchObject({
			...(type === undefined ? {} : { serviceType: type }),
			...(trace === undefined ? {} : { traceId: trace }),
		});
	});

	const LIMIT = FAILURE.tooMany;
	const CALM = { retryable: true, outcomeUnknown: false };
	const FINAL = { retryable: false, outcomeUnknown: false };
	test.each([
		['a status', { ...WORDS, status: 429 }, LIMIT, { status: 429, ...CALM }],
		['a numeric code', { ...WORDS, code: 429 }, LIMIT, { status: 429, ...CALM }],
		['a code as text', { ...WORDS, code: '429' }, LIMIT, { status: 429, ...CALM }],
		['a type', { ...WORDS, type: 'rate_limit_error' }, LIMIT, { status: 429, ...CALM }],
		['a code name', { ...WORDS, code: 'rate_limit_exceeded' }, LIMIT, { status: 429, ...CALM }],
		[
			'the type of the specification',
			{ ...WORDS, type: 'invalid_request_error' },
			FAILURE.malformed,
			{ status: 400, ...FINAL },
		],
		[
			'a status after which the outcome is unknown',
			{ ...WORDS, code: 503 },
			FAILURE.unavailable,
			{ status: 503, retryable: true, outcomeUnknown: true },
		],
		['nothing', WORDS, FAILURE.noStatus, {}],
	])(
		'that comes first is the error status that it stands for: %s',
		async (_n, error, message, d) => {
			const expected = {
				kind: 'http',
				message,
				details: { serviceMessage: 'Own words', ...d },
			};
			expect(await outcome(event({ error }))).toMatchObject(expected);
			expect(await outcome(event(error, 'event: error\n'))).toMatchObject(expected);
			const body = JSON.stringify({ error });
			const whole = { type: 'application/json', stream: false };
			expect(await outcome(body, whole)).toMatchObject(expected);
		},
	);
});

test.each([
	['one ID, such as a time in seconds, for all events', ['7', '7', '7']],
	['an ID that comes again', ['1', '1', '2']],
	['IDs that come again as a group', ['1', '2', '1']],
	['no ID', []],
])('every event counts: %s', async (_name, ids) => {
	const text = ['ha', 'ha', '!']
		.map((each, at) => event(says(each), ids[at] === undefined ? '' : `id: ${ids[at]}\n`))
		.join('');
	expect(await outcome(text + END + DONE)).toMatchObject(reply('haha!'));
});

describe('what is no chunk', () => {
	const STATUSES: readonly (readonly [name: string, text: string, words: string])[] = [
		['a message', event({ message: 'queued' }), 'queued'],
		['a detail', event({ detail: 'warming up' }), 'warming up'],
		['a message with the code of a success', event({ code: 0, message: 'queued' }), 'queued'],
		['a list of details', event({ detail: [{ msg: 'queued' }] }), 'queued'],
		['a code alone', event({ code: 102 }), '102'],
		['a word', event('heartbeat'), 'heartbeat'],
		['a JSON text', event('"queued"'), 'queued'],
		['a list', event(['queued']), 'queued'],
	];

	test.each(STATUSES)('%s before and within an answer changes nothing', async (_name, text) => {
		const stream = text + event(says('Hi')) + text + event(says(' you')) + END + text + DONE;
		const { choices, ...more } = (await outcome(stream)) as ChatCompletion;
		expect(choices[0]).toMatchObject({ message: { content: 'Hi you' } });
		expect(more).toStrictEqual({});
	});

	test.each(STATUSES)(
		'%s is the reason of a stream without an answer',
		async (_name, text, words) => {
			expect(await outcome(text + DONE)).toMatchObject({
				kind: 'protocol',
				details: { serviceMessage: expect.stringContaining(words) as string },
			});
			expect(await outcome(text)).toMatchObject({
				message: CUT,
				details: { serviceMessage: expect.stringContaining(words) as string },
			});
		},
	);

	test.each(STATUSES)(
		'%s after half an answer is why it has no end',
		async (_name, text, words) => {
			expect(await outcome(event(says('Half')) + text + DONE)).toMatchObject({
				message: CUT,
				details: {
					serviceMessage: expect.stringContaining(words) as string,
					partial: reply('Half'),
				},
			});
		},
	);

	test('an answer without a finish reason has an end all the same: [DONE]', async () => {
		const text = event({ message: 'queued' }) + event(says('Hi')) + DONE;
		expect(await outcome(text)).toMatchObject(reply('Hi'));
	});

	test('its words are bounded, the latest count', async () => {
		const words = Array.from({ length: 20 }, (_each, at) => event({ message: `step ${at}` }));
		const { details } = (await outcome(words.join('') + DONE)) as ServiceError;
		expect(details.serviceMessage).toBe(
			[15, 16, 17, 18, 19].map((at) => `step ${at}`).join('\n'),
		);
	});
});

describe('events with a name', () => {
	test.each([
		['a message', { message: 'queued' }],
		['an error in its data', { error: { message: 'no' } }],
		['a list', ['queued']],
		['a text', 'queued'],
		['half of a chunk', '{"choices":['],
		['the end', '[DONE]'],
		['a chunk', says('no')],
	])('that the standard does not have are ignored: %s', async (_name, data) => {
		for (const name of ['status', 'ping', 'progress']) {
			const other = event(data, `event: ${name}\n`);
			const text = other + event(says('Hi')) + other + END + DONE;
			expect(await outcome(text)).toMatchObject(reply('Hi'));
		}
	});

	test('message is the name of those without one', async () => {
		const name = 'event: message\n';
		const text =
			event(says('Hi'), name) + END.replace('data', `${name}data`) + event('[DONE]', name);
		expect(await outcome(text)).toMatchObject(reply('Hi'));
	});
});

test.each([
	['a code and a message', { code: 1302, message: 'Own words' }],
	['both as text', { code: 'Throttling', message: 'Own words', request_id: 'r' }],
	['an error beside an answer', says('!', { error: { message: 'Own words' } })],
])('%s end a stream with an error', async (_name, chunk) => {
	const text = event(says('Half')) + event(chunk) + END + DONE;
	const error = (await outcome(text)) as ServiceError;
	expect(error).toMatchObject({ kind: 'stream', details: { outcomeUnknown: true } });
	expect(error.details.serviceMessage).toContain('Own words');
	expect(JSON.stringify(error.details.partial)).toContain('Half');
});

test.each([
	['its end', '{"choices":[{"delta":{"content":"l'],
	['its beginning', '"content":"l"}}]}'],
	['a brace', '{"choices":[{"delta":{"content":"l"}}]'],
])('a chunk without %s is an error', async (_name, data) => {
	const text = event(says('A')) + event(data) + END + DONE;
	expect(await outcome(text)).toMatchObject({
		message: 'The stream contains invalid JSON',
		details: { partial: reply('A') },
	});
});

describe('nothing of a response is lost', () => {
	test.each(['text/plain', 'text/event-stream', 'application/json'])(
		'a JSON body in response to a streaming request, with the type %s',
		async (type) => {
			const body = { ...reply('Hi'), session_id: 's-1' };
			expect(await outcome(JSON.stringify(body, null, 2), { type })).toMatchObject(body);
		},
	);

	const SESSION = { session_id: 's-1', usage: { total_tokens: 3 } };
	test.each([
		['a choice without a message', { choices: [{ text: 'Hi' }], ...SESSION }],
		['no choices', SESSION],
		['an error', { error: { message: 'no' }, ...SESSION }],
	])('a body with %s', async (_name, body) => {
		const text = JSON.stringify(body);
		expect(await outcome(text, { type: 'application/json', stream: false })).toMatchObject({
			details: { partial: body, subject: { session_id: 's-1' } },
		});
	});

	test('a whole message in one event, and one that repeats the text of the others', async () => {
		const whole = { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] };
		expect(await outcome(event(whole) + DONE)).toMatchObject(reply('Hi'));
		expect(await outcome(event(says('Hi')) + event(whole) + DONE)).toMatchObject(reply('Hi'));
	});

	test.each([false, '', 0, [], {}])('no error: %j', async (error) => {
		const text = event(says('Hi', { error })) + END;
		expect(await outcome(text)).toMatchObject(reply('Hi'));
	});

	test('fragments of fields that the specification does not have are joined', async () => {
		const fragments = [
			{
				role: 'assistant',
				text_content: 'Dee',
				reasoning: 'I ',
				audio: { id: 'a', data: 'AA' },
			},
			{
				role: 'assistant',
				text_content: 'per',
				reasoning: 'think',
				audio: { id: 'a', data: 'BB' },
			},
			{
				reasoning: '',
				reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'I ' }],
			},
			{
				reasoning: '',
				reasoning_details: [
					{ type: 'reasoning.text', index: 0, text: 'think', signature: 's' },
				],
			},
			{
				reasoning: '',
				reasoning_details: [{ type: 'reasoning.text', index: 1, text: 'so' }],
			},
			{ content: 'Hi' },
		];
		const text = fragments.map((delta) => event({ choices: [{ index: 0, delta }] })).join('');
		const end = {
			index: 0,
			delta: {},
			finish_reason: 'stop',
			img_urls: ['https://a.example/1'],
		};
		expect(await outcome(text + event({ choices: [end] }) + DONE)).toMatchObject({
			choices: [
				{
					img_urls: ['https://a.example/1'],
					message: {
						role: 'assistant',
						content: 'Hi',
						text_content: 'Deeper',
						reasoning_content: 'I think',
						audio: { id: 'a', data: 'AABB' },
						reasoning_details: [
							{ type: 'reasoning.text', index: 0, text: 'I think', signature: 's' },
							{ type: 'reasoning.text', index: 1, text: 'so' },
						],
					},
				},
			],
		});
	});

	test('a tool call keeps what its service wants back', async () => {
		const called = (extra: object) => ({
			choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...extra }] } }],
		});
		const thought = (signature: string) => ({ extra_content: { google: { signature } } });
		const head = { id: 'c', type: 'function', function: { name: 'a', arguments: '' } };
		const chunks = [
			called({ ...head, ...thought('si') }),
			called({ function: { arguments: '{}' }, ...thought('gn') }),
			{ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
		];
		const { choices } = (await outcome(
			chunks.map((chunk) => event(chunk)).join('') + DONE,
		)) as ChatCompletion;
		expect(choices[0]!.message.tool_calls).toStrictEqual([
			{ ...head, function: { name: 'a', arguments: '{}' }, ...thought('sign') },
		]);
	});

	test('an error beside an empty message', async () => {
		const body = { ...reply(''), error: { message: 'Own words', code: 429 } };
		const answer = { type: 'application/json', stream: false };
		expect(await outcome(JSON.stringify(body), answer)).toMatchObject({
			details: { status: 429, serviceMessage: 'Own words' },
		});
		const said = JSON.stringify({ ...body, ...reply('Hi') });
		expect(await outcome(said, answer)).toMatchObject(reply('Hi'));
	});

	test('a stream that is cut before its text', async () => {
		expect(await outcome(event(SESSION))).toMatchObject({
			message: CUT,
			details: { partial: SESSION, subject: { session_id: 's-1' } },
		});
	});

	test('an empty list of choices is an empty reply, streamed or not', async () => {
		const body = { choices: [], ...SESSION };
		const expected = { ...SESSION, choices: [{ message: { content: '' } }] };
		const text = JSON.stringify(body);
		expect(await outcome(text, { stream: false })).toMatchObject(expected);
		expect(await outcome(event(body) + DONE)).toMatchObject(expected);
	});
});
