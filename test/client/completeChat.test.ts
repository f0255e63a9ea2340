import { completeChat } from '../../nodes/client/chat/completeChat';
import { toolCall } from '../../nodes/client/chat/toolCalls';
import type { ChatCompletion, ChatDelta } from '../../nodes/client/chat/types';
import type { ServiceError } from '../../nodes/client/errors';
import { canceledError } from '../../nodes/client/http/failures';
import type { HttpPort, HttpRequest } from '../../nodes/client/ports';
import { createVideo } from '../../nodes/client/video/tasks';
import { answeringPort, outcomeOf } from '../support/answeringPort';
import { axiosHttp } from '../support/axiosHttp';
import { delta, replyOf } from '../support/chatPieces';
import { FAILURE } from '../support/failureTexts';
import { eventsOf, scripted } from '../support/scriptedServer';

const MESSAGES = [{ role: 'user', content: 'Hi' }] as const;
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

interface Response {
	readonly status?: number;
	readonly headers?: Readonly<Record<string, string>>;
	readonly type?: string;
	/** What ends the body in place of its end. */
	readonly breaks?: Error;
	readonly stream?: boolean;
	readonly onDelta?: (delta: ChatDelta) => void;
	readonly binding?: object;
	/** Where the body is split. */
	readonly at?: number;
}
const WHOLE = { type: 'application/json', stream: false } as const;

let sent: HttpRequest;

/** The reply, or the error, that a response with this body leads to. */
async function outcome(body: string | object, response: Response = {}) {
	const { status = 200, type = 'text/event-stream', breaks, stream = true, at = 0 } = response;
	const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
	const pieces = function* () {
		yield bytes.subarray(0, at);
		yield bytes.subarray(at);
		if (breaks !== undefined) throw breaks;
	};
	const headers = { 'content-type': type, ...response.headers };
	const http: HttpPort = async (request) => {
		sent = request;
		return await answeringPort(pieces(), type, { status, headers })(request);
	};
	const { onDelta, binding } = response;
	const options = { stream, idleTimeoutMs: 5_000, onDelta };
	return await outcomeOf(completeChat(http, { messages: MESSAGES, ...binding }, options));
}

const event = (data: unknown, fields = '') => `${fields}${eventsOf([data])}`;
const says = (content: string, more: object = {}) => ({ ...delta({ content }), ...more });
const ended = (finish_reason = 'stop') => delta({}, { finish_reason });
const HI = event(says('Hi'));
const END = event(ended());
const DONE = event('[DONE]');
const MESSAGE = event({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] });
const NAMED = 'event: message\n';
const reply = (content: string) => ({ choices: [{ message: { content } }] });
const CUT = 'The stream ended before the reply was complete';

describe('not streamed (spec 2.4)', () => {
	test('returns the body unchanged, requests stream: false', async () => {
		const body = { ...replyOf('Hello'), usage: USAGE, trace_id: 't-1' };
		expect(await outcome(body, { ...WHOLE, binding: { app_code: 'a' } })).toStrictEqual(body);
		expect(sent.body).toStrictEqual({ messages: MESSAGES, app_code: 'a', stream: false });
	});

	test.each([
		[
			'an HTML page',
			'<html><head><title>Welcome</title></head><body>nginx</body></html>',
			'Welcome nginx',
		],
		['an empty body', '', ''],
		['a JSON list', '[1]', '[1]'],
		['a body without choices', '{"ok":true}', '{"ok":true}'],
		['a choice without a message', '{"choices":[{}]}', '{"choices":[{}]}'],
	])('%s is reported as an unexpected response', async (_name, text, serviceMessage) => {
		expect(await outcome(text, { type: 'text/html', stream: false })).toMatchObject({
			kind: 'protocol',
			advice: ['checkAddress'],
			details: { serviceMessage },
		});
	});

	test.each([{}, { choices: [] }])(
		'an error body with status 200 is an error: %j',
		async (more) => {
			const error = { message: 'no quota', type: 'billing' };
			for (const stream of [false, true]) {
				const failed = await outcome({ ...more, error }, { ...WHOLE, stream });
				const words = { serviceMessage: 'no quota', serviceType: 'billing' };
				expect(failed).toMatchObject({ kind: 'http', details: words });
				expect(failed).not.toHaveProperty('details.partial');
			}
		},
	);
});

test.each([{}, 'x', null, [{ type: 'image_url', image_url: { url: 'https://a.example/b' } }]])(
	'a field parts of the service itself is not taken for parts of the content: %j',
	async (parts) => {
		const picture = { type: 'image_url', image_url: { url: 'https://cdn.example/1' } };
		for (const content of ['Hi', ['Hi', picture]]) {
			const message = { content, parts };
			const read = { content: 'Hi', ...(content === 'Hi' ? {} : { parts: [picture] }) };
			const choices = [{ message, finish_reason: 'stop' }];
			const whole = (await outcome({ choices }, WHOLE)) as ChatCompletion;
			expect(whole.choices[0]!.message).toStrictEqual(read);
			const stream = eventsOf([delta(message), delta({ parts }, { finish_reason: 'stop' })]);
			const streamed = (await outcome(stream)) as ChatCompletion;
			expect(streamed.choices[0]!.message).toStrictEqual({ role: 'assistant', ...read });
		}
	},
);

describe('streamed (spec 2.5)', () => {
	const knowledge_base = { search_hit: true, first_similarity: 0.9 };
	const more = { trace_id: 't-2', suggested_questions: ['More?'] };
	const STREAM = eventsOf([
		delta({ role: 'assistant' }),
		delta({ reasoning_content: 'Grüße? ' }),
		delta({ reasoning_content: 'Ja.' }),
		delta({ content: 'Grü' }),
		{ session_id: null, knowledge_base },
		delta({ content: 'ß Gott 🌄' }),
		delta({}, { finish_reason: 'stop', usage: USAGE }),
		{ choices: [], ...more },
		'[DONE]',
	]);
	const message = {
		role: 'assistant',
		content: 'Grüß Gott 🌄',
		reasoning_content: 'Grüße? Ja.',
	};
	const BODY = {
		choices: [{ index: 0, message, finish_reason: 'stop', usage: USAGE }],
		knowledge_base,
		...more,
	};

	test('chunks are accumulated into a body, token usage is requested', async () => {
		const texts: ChatDelta[] = [];
		const onDelta = (text: ChatDelta) => texts.push(text);
		expect(await outcome(STREAM, { onDelta })).toStrictEqual(BODY);
		expect(texts.map(({ reasoning }) => reasoning).join('|')).toBe('|Grüße? |Ja.|||||');
		expect(texts.map(({ content }) => content).join('')).toBe('Grüß Gott 🌄');
		const asked = { stream: true, stream_options: { include_usage: true } };
		expect(sent.body).toMatchObject(asked);
	});

	test('chunk boundaries do not change the reply', async () => {
		const text = STREAM.replaceAll('\n', '\r\n');
		for (let at = 1; at < Buffer.byteLength(text); at++)
			expect(await outcome(text, { at })).toStrictEqual(BODY);
	});
});

describe('fragments of tool calls (spec 2.3)', () => {
	/** Calls, or fragments of them: index, ID, name and arguments, each of which may be empty. */
	const fragmentsOf = (text: string) => text.split(' ').map((each) => each.split('/'));

	test.each([
		[
			'are joined by index',
			'0/a/weather/ 0///{"city": 1/b/time/{} 0///"Rome"}',
			'0/a/weather/{"city":"Rome"} 1/b/time/{}',
		],
		[
			'without an index are joined by ID',
			'/a/x/{ ///"n": /b/y/[ /a//1} /b//]',
			'/a/x/{"n":1} /b/y/[]',
		],
		[
			'without an ID belong to the latest call with their index, where all have the index 0',
			'0/f/f/ 0///{} 0/g/g/ 0///{}',
			'0/f/f/{} 0/g/g/{}',
		],
		[
			'stay apart where they are whole calls without IDs that all have the index 0',
			'0//f/{"a":1} 0//g/{"b":2}',
			'0//f/{"a":1} 0//g/{"b":2}',
		],
	])('%s', async (_name, fragments, calls) => {
		const chunks = fragmentsOf(fragments).map(([index, id, name, args]) => {
			const called = { function: { ...(name && { name }), arguments: args } };
			const place = index && { index: Number(index) };
			const head = id && { id, type: 'function' };
			return delta({ tool_calls: [{ ...place, ...head, ...called }] });
		});
		const { choices } = (await outcome(
			eventsOf([...chunks, ended('tool_calls')]),
		)) as ChatCompletion;
		const read = fragmentsOf(calls).map(([, id = '', name = '', args = '']) => ({
			...toolCall(id, name, args),
			...(id === '' && { id: expect.any(String) as string }),
		}));
		expect(choices[0]).toMatchObject({ index: 0, finish_reason: 'tool_calls' });
		expect(choices[0]!.message).toStrictEqual({
			...{ role: 'assistant', content: null },
			tool_calls: read,
		});
	});

	test('keep what the service wants back', async () => {
		const called = (extra: object) => delta({ tool_calls: [{ index: 0, ...extra }] });
		const thought = (signature: string) => ({ extra_content: { google: { signature } } });
		const head = toolCall('c', 'a', '');
		const stream = eventsOf([
			called({ ...head, ...thought('si') }),
			called({ function: { arguments: '{}' }, ...thought('gn') }),
			ended('tool_calls'),
		]);
		const { choices } = (await outcome(stream + DONE)) as ChatCompletion;
		expect(choices[0]!.message.tool_calls).toStrictEqual([
			{ ...toolCall('c', 'a', '{}'), ...thought('sign') },
		]);
	});
});

test.each([
	['[DONE] and a space', `${HI + END}data: [DONE] \n\n`],
	['[DONE] without a space before it, and without a line break', `${HI + END}data:[DONE]`],
	['[DONE], and without a finish reason', event({ message: 'queued' }) + HI + DONE],
	['an error event', HI + END + event({ error: { message: 'too late', code: 500 } })],
	['an event that is named error', HI + END + event('too late', 'event: error\n')],
	['a whole message', MESSAGE + DONE],
	['a whole message that repeats the text of the others', HI + MESSAGE + DONE],
	...[false, '', 0, [], {}].map((error) => [
		`an error that is none: ${JSON.stringify(error)}`,
		event(says('Hi', { error })) + END,
	]),
	['events that are named message', `${NAMED}${HI}${NAMED}${END}${NAMED}${DONE}`],
])('a reply is one whose stream ends with %s', async (_name, text) => {
	expect(await outcome(text)).toMatchObject(reply('Hi'));
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
	['only keep-alive comments', ': keep-alive\n\n'],
	['only empty events', 'data:\n\n'],
	['a part of the first event', 'data: {"choices":['],
	['a part of the name of a field', 'dat'],
	['an empty finish reason', HI + event(ended(''))],
	['the finish reason "null"', HI + event(ended('null'))],
	['a part of the first event, with another content type', 'data: {"cho', 'text/html'],
])('a stream with %s is cut', async (_name, text, type = 'text/event-stream') => {
	expect(await outcome(text, { type })).toMatchObject({
		kind: 'stream',
		message: CUT,
		details: { retryable: true, outcomeUnknown: true },
	});
});

describe('an error event', () => {
	const WORDS = { message: 'Own words', type: 'own_type' };
	const TYPED = { serviceType: 'own_type', traceId: 't' };

	test.each<[string, string, object]>([
		['in the format of the service', event({ error: WORDS, trace_id: 't' }), TYPED],
		['that is named so', event({ ...WORDS, trace_id: 't' }, 'event: error\n'), TYPED],
		['with an error as text', event({ error: 'Own words' }), {}],
		['of plain text', event('Own words', 'event: error\n'), {}],
		['in fields of its own', event({ msg: 'Own words' }, 'event: error\n'), {}],
		// Without one of these fields it is a chunk.
		['with a code and a message', event({ code: 1302, message: 'Own words' }), {}],
		['with both as text', event({ code: 'Throttling', message: 'Own words' }), {}],
		['beside a field that says so', event({ error: true, message: 'Own words' }), {}],
		['beside an answer', event(says('!', { error: { message: 'Own words' } })), {}],
	])('%s ends a stream with its words', async (_name, text, details) => {
		const error = (await outcome(event(says('Half')) + text + END + DONE)) as ServiceError;
		expect(error).toMatchObject({
			kind: 'stream',
			message: 'The service reported an error during the reply',
			details: {
				...{ outcomeUnknown: true, ...details },
				serviceMessage: expect.stringContaining('Own words') as string,
			},
		});
		expect(JSON.stringify(error.details.partial)).toContain('Half');
	});

	const CALM = { status: 429, retryable: true, outcomeUnknown: false };
	const BAD = { status: 400, retryable: false, outcomeUnknown: false };
	const BUSY = { status: 503, retryable: true, outcomeUnknown: true };
	test.each<[string, object, string, object]>([
		['a status', { status: 429 }, FAILURE.tooMany, CALM],
		['a numeric code', { code: 429 }, FAILURE.tooMany, CALM],
		['a code as text', { code: '429' }, FAILURE.tooMany, CALM],
		['a type', { type: 'rate_limit_error' }, FAILURE.tooMany, CALM],
		['a code name', { code: 'rate_limit_exceeded' }, FAILURE.tooMany, CALM],
		['the type of spec 7', { type: 'invalid_request_error' }, FAILURE.malformed, BAD],
		['a status after which the outcome is unknown', { code: 503 }, FAILURE.unavailable, BUSY],
		['nothing', {}, FAILURE.noStatus, {}],
	])('that comes first is the status that it stands for: %s', async (_n, field, message, d) => {
		const error = { ...WORDS, ...field };
		const details = { serviceMessage: 'Own words', ...d };
		const expected = { kind: 'http', message, details };
		expect(await outcome(event({ error }))).toMatchObject(expected);
		expect(await outcome(event(error, 'event: error\n'))).toMatchObject(expected);
		expect(await outcome({ error }, WHOLE)).toMatchObject(expected);
	});
});

test.each([
	['one ID, such as a time in seconds, for all events', ['7', '7', '7']],
	['IDs that come again as a group', ['1', '2', '1']],
	['no ID', []],
])('every event counts: %s', async (_name, ids) => {
	const text = ['ha', 'ha', '!']
		.map((each, at) => event(says(each), ids[at] === undefined ? '' : `id: ${ids[at]}\n`))
		.join('');
	expect(await outcome(text + END + DONE)).toMatchObject(reply('haha!'));
});

describe('what is no chunk', () => {
	test.each<[string, string, string]>([
		['a message', event({ message: 'queued' }), 'queued'],
		['a detail', event({ detail: 'warming up' }), 'warming up'],
		['a message with the code of a success', event({ code: 0, message: 'queued' }), 'queued'],
		['the code Success', event({ code: 'Success', message: 'queued' }), 'queued'],
		[
			'a status of success',
			event({ base_resp: { status_code: 0, status_msg: 'success' } }),
			'success',
		],
		['a list of details', event({ detail: [{ msg: 'queued' }] }), 'queued'],
		['a code alone', event({ code: 102 }), '102'],
		['a word', event('heartbeat'), 'heartbeat'],
		['a JSON text', event('"queued"'), 'queued'],
		['a list', event(['queued']), 'queued'],
	])('%s changes no answer, and is the reason where there is none', async (_n, text, words) => {
		const stream = text + HI + text + event(says(' you')) + END + text + DONE;
		const { choices, ...more } = (await outcome(stream)) as ChatCompletion;
		expect(choices[0]).toMatchObject({ message: { content: 'Hi you' } });
		expect(more).toStrictEqual({});

		const details = { serviceMessage: expect.stringContaining(words) as string };
		expect(await outcome(text + DONE)).toMatchObject({ kind: 'protocol', details });
		expect(await outcome(text)).toMatchObject({ message: CUT, details });
		expect(await outcome(event(says('Half')) + text + DONE)).toMatchObject({
			message: CUT,
			details: { ...details, partial: reply('Half') },
		});
	});

	test('its words are bounded, the latest count', async () => {
		const words = Array.from({ length: 20 }, (_each, at) => ({ message: `step ${at}` }));
		expect(await outcome(eventsOf(words) + DONE)).toMatchObject({
			details: {
				serviceMessage: [15, 16, 17, 18, 19].map((at) => `step ${at}`).join('\n'),
			},
		});
	});

	test.each([
		['a message', { message: 'queued' }],
		['an error in its data', { error: { message: 'no' } }],
		['half of a chunk', '{"choices":['],
		['the end', '[DONE]'],
		['a chunk', says('no')],
	])('an event with a name that the standard does not have: %s', async (_name, data) => {
		for (const name of ['status', 'ping']) {
			const named = event(data, `event: ${name}\n`);
			const text = named + HI + named + END + DONE;
			expect(await outcome(text)).toMatchObject(reply('Hi'));
		}
	});
});

test.each([
	['its end', '{"choices":[{"delta":{"content":"l'],
	['its beginning', '"content":"l"}}]}'],
	['a brace', '{"choices":[{"delta":{"content":"l"}}]'],
])('a chunk without %s is an error', async (_name, data) => {
	expect(await outcome(event(says('A')) + event(data) + END + DONE)).toMatchObject({
		kind: 'stream',
		message: 'The stream contains invalid JSON',
		details: { partial: reply('A') },
	});
});

describe('nothing of a response is lost', () => {
	test.each(['text/plain', 'text/event-stream', 'application/json'])(
		'a JSON body is a reply, with the type %s',
		async (type) => {
			const body = { ...reply('Hi'), session_id: 's-1' };
			const text = JSON.stringify(body, null, 2);
			for (const stream of [true, false])
				expect(await outcome(text, { type, stream })).toMatchObject(body);
		},
	);

	test.each([
		['declared as JSON', '', 'application/json'],
		['behind a byte order mark', '\uFEFF', 'text/event-stream'],
	])('a stream %s is a reply', async (_name, mark, type) => {
		for (const stream of [true, false])
			expect(await outcome(mark + HI + END, { type, stream })).toMatchObject(reply('Hi'));
	});

	test('a stream in response to a request for a whole reply is the reply, or the error in it', async () => {
		const whole = { stream: false };
		expect(await outcome(HI + END + DONE, whole)).toMatchObject(reply('Hi'));
		const error = { message: 'No seats', type: 'invalid_request' };
		expect(await outcome(event({ error }), whole)).toMatchObject({
			message: FAILURE.malformed,
			details: { serviceMessage: 'No seats' },
		});
	});

	const SESSION = { session_id: 's-1', usage: { total_tokens: 3 } };
	test.each([
		['a choice without a message', { choices: [{ text: 'Hi' }], ...SESSION }],
		['no choices', SESSION],
		['an error', { error: { message: 'no' }, ...SESSION }],
	])('a body with %s', async (_name, body) => {
		expect(await outcome(body, WHOLE)).toMatchObject({
			details: { partial: body, subject: { session_id: 's-1' } },
		});
	});

	test('fragments of fields that the specification does not have are joined', async () => {
		const detail = (index: number, text: string, more: object = {}) => ({
			reasoning: '',
			reasoning_details: [{ type: 'reasoning.text', index, text, ...more }],
		});
		const heard = (text_content: string, reasoning: string, data: string) => ({
			...{ role: 'assistant', text_content, reasoning },
			audio: { id: 'a', data },
		});
		const img_urls = ['https://a.example/1'];
		const stream = eventsOf([
			delta(heard('Dee', 'I ', 'AA')),
			delta(heard('per', 'think', 'BB')),
			delta(detail(0, 'I ')),
			delta(detail(0, 'think', { signature: 's' })),
			delta(detail(1, 'so')),
			says('Hi'),
			delta({}, { finish_reason: 'stop', img_urls }),
		]);
		const message = {
			...{ role: 'assistant', content: 'Hi', text_content: 'Deeper' },
			...{ reasoning_content: 'I think', audio: { id: 'a', data: 'AABB' } },
			reasoning_details: [
				{ type: 'reasoning.text', index: 0, text: 'I think', signature: 's' },
				{ type: 'reasoning.text', index: 1, text: 'so' },
			],
		};
		expect(await outcome(stream + DONE)).toMatchObject({ choices: [{ img_urls, message }] });
	});

	test('an error beside an empty message', async () => {
		const error = { message: 'Own words', code: 429 };
		const details = { status: 429, serviceMessage: 'Own words' };
		expect(await outcome({ ...reply(''), error }, WHOLE)).toMatchObject({ details });
		expect(await outcome({ ...reply('Hi'), error }, WHOLE)).toMatchObject(reply('Hi'));
	});

	test('a stream that is cut before its text', async () => {
		expect(await outcome(event(SESSION))).toMatchObject({
			message: CUT,
			details: { partial: SESSION, subject: { session_id: 's-1' } },
		});
	});

	test('an empty list of choices is an empty reply, streamed or not', async () => {
		const body = { choices: [], ...SESSION };
		const expected = { ...SESSION, ...reply('') };
		expect(await outcome(body, WHOLE)).toMatchObject(expected);
		expect(await outcome(event(body) + DONE)).toMatchObject(expected);
	});
});

describe('error statuses (spec 7.1)', () => {
	const DATE = 'Wed, 21 Oct 2015 07:28:00 GMT';
	const IN_HALF_A_MINUTE = 'Wed, 21 Oct 2015 07:28:30 GMT';
	const NEXT_DAY = 'Thu, 22 Oct 2015 07:28:00 GMT';
	test.each<[string, Record<string, string>, number | undefined]>([
		['in seconds', { 'retry-after': '7' }, 7_000],
		// JavaScript takes these for dates: 5 October 2001, and 7 January.
		['in milliseconds', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
		['in no milliseconds', { 'retry-after-ms': 'x', 'retry-after': '2' }, 2_000],
		['with a fraction', { 'retry-after': '10.5' }, 10_500],
		['that is neither a number nor a time', { 'retry-after': '1,7' }, undefined],
		['as a date, relative to another', { 'retry-after': IN_HALF_A_MINUTE, date: DATE }, 30_000],
		['as a date in the past', { 'retry-after': DATE, date: NEXT_DAY }, 0],
		['in an unknown format', { 'retry-after': 'soon' }, undefined],
	])('Retry-After %s', async (_name, headers, retryAfterMs) => {
		const body = { error: { message: 'slow down' } };
		const { details } = (await outcome(body, { status: 429, headers })) as ServiceError;
		expect(details.retryAfterMs).toBe(retryAfterMs);
	});

	test('an HTML error page is reduced to text', async () => {
		const page = '<html><style>p{}</style><h1>502 Bad Gateway</h1><p>proxy</p></html>';
		expect(await outcome(page, { status: 502, type: 'text/html' })).toMatchObject({
			details: { serviceMessage: '502 Bad Gateway proxy' },
		});
	});

	test('a canceled execution stays canceled while the body of an error is read', async () => {
		const response = { status: 429, breaks: canceledError() };
		expect(await outcome('{', response)).toMatchObject({ kind: 'canceled' });
	});
});

describe('at a server', () => {
	const server = scripted();
	const complete = async () =>
		await completeChat(
			axiosHttp(server.url, 'key'),
			{ messages: MESSAGES },
			{ stream: true, idleTimeoutMs: 5_000 },
		);

	test('[DONE] completes the reply, even if the server keeps the connection open', async () => {
		let closed: Promise<unknown> = Promise.resolve();
		server.script = (response) => {
			closed = new Promise((resolve) => response.on('close', resolve));
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(HI + DONE);
		};
		expect(await complete()).toMatchObject(reply('Hi'));
		// The client closes the connection.
		await closed;
	});

	test.each<[string, Record<string, string>, isReset: boolean]>([
		['is reset', { 'content-length': '500' }, true],
		['is badly compressed', { 'content-encoding': 'gzip' }, false],
	])(
		'a status counts though its body %s, for chats and videos',
		async (_how, headers, isReset) => {
			server.script = (response) => {
				response.writeHead(429, { 'retry-after': '7', ...headers });
				if (isReset) response.write('{"err', () => response.socket!.resetAndDestroy());
				else response.end('{"err');
			};
			const details = { status: 429, retryAfterMs: 7_000, outcomeUnknown: false };
			await expect(complete()).rejects.toMatchObject({ details });
			const video = { prompt: 'A lake', model: 'video-m1' };
			const created = createVideo(axiosHttp(server.url, 'key'), video, 5_000);
			await expect(created).rejects.toMatchObject({ details });
		},
	);
});
