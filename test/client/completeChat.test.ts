import type { ServiceError } from '../../nodes/client/errors';
import { completeChat } from '../../nodes/client/chat/completeChat';
import type { ChatDelta } from '../../nodes/client/chat/types';
import { canceledError } from '../../nodes/client/http/failures';
import type { HttpPort } from '../../nodes/client/ports';
import { createVideo } from '../../nodes/client/video/tasks';
import { axiosHttp } from '../support/axiosHttp';
import { events, json, serverForEach, type Script } from '../support/scriptedServer';

const MESSAGES = [{ role: 'user', content: 'Hi' }] as const;
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

let script: Script;

const server = serverForEach((...args) => {
	script(...args);
});

async function complete(
	stream: boolean,
	onDelta?: (delta: ChatDelta) => void,
	idleTimeoutMs = 5_000,
	binding: object = { app_code: 'demo-app' },
) {
	const http = axiosHttp(server.url, 'key');
	const options = { stream, idleTimeoutMs, onDelta };
	return await completeChat(http, { messages: MESSAGES, ...binding }, options);
}

const failure = async (stream: boolean, idleTimeoutMs?: number) =>
	await complete(stream, undefined, idleTimeoutMs).then(
		() => {
			throw new Error('the call succeeded');
		},
		(error: unknown) => error as ServiceError,
	);

const delta = (fields: object, more: object = {}) => ({
	choices: [{ index: 0, delta: fields, finish_reason: null, ...more }],
});

describe('not streamed (spec 2.4)', () => {
	test('returns the body unchanged, requests stream: false', async () => {
		const body = {
			choices: [
				{
					index: 0,
					message: { role: 'assistant', content: 'Hello' },
					finish_reason: 'stop',
				},
			],
			usage: USAGE,
			trace_id: 't-1',
		};
		script = (response) => {
			json(response, 200, body);
		};
		expect(await complete(false)).toStrictEqual(body);
		expect(server.requests[0]!.body).toStrictEqual({
			messages: [{ role: 'user', content: 'Hi' }],
			app_code: 'demo-app',
			stream: false,
		});
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
	])('%s is reported as an unexpected response', async (_name, text, shown) => {
		script = (response) => {
			response.writeHead(200, { 'content-type': 'text/html' });
			response.end(text);
		};
		const error = await failure(false);
		expect(error.kind).toBe('protocol');
		expect(error.advice).toStrictEqual(['checkAddress']);
		expect(error.details.serviceMessage).toBe(shown);
	});

	test.each([{}, { choices: [] }])(
		'an error body with status 200 is an error: %j',
		async (more) => {
			script = (response) => {
				const error = { message: 'no quota', type: 'billing' };
				json(response, 200, { ...more, error });
			};
			for (const stream of [false, true]) {
				const { kind, details } = await failure(stream);
				expect(kind).toBe('http');
				expect(details).toMatchObject({
					serviceMessage: 'no quota',
					serviceType: 'billing',
				});
				expect(details).not.toHaveProperty('partial');
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
			script = (response) => {
				json(response, 200, { choices: [{ message, finish_reason: 'stop' }] });
			};
			expect((await complete(false)).choices[0]!.message).toStrictEqual(read);
			script = (response) => {
				events(response, [delta(message), delta({ parts }, { finish_reason: 'stop' })]);
			};
			expect((await complete(true)).choices[0]!.message).toStrictEqual({
				role: 'assistant',
				...read,
			});
		}
	},
);

describe('streamed (spec 2.5)', () => {
	const STREAM = [
		delta({ role: 'assistant' }),
		delta({ reasoning_content: 'Grüße? ' }),
		delta({ reasoning_content: 'Ja.' }),
		delta({ content: 'Grü' }),
		{ session_id: null, knowledge_base: { search_hit: true, first_similarity: 0.9 } },
		delta({ content: 'ß Gott 🌄' }),
		delta({}, { finish_reason: 'stop', usage: USAGE }),
		{ choices: [], trace_id: 't-2', suggested_questions: ['More?'] },
		'[DONE]',
	];
	const WHOLE = {
		choices: [
			{
				index: 0,
				message: {
					role: 'assistant',
					content: 'Grüß Gott 🌄',
					reasoning_content: 'Grüße? Ja.',
				},
				finish_reason: 'stop',
				usage: USAGE,
			},
		],
		knowledge_base: { search_hit: true, first_similarity: 0.9 },
		trace_id: 't-2',
		suggested_questions: ['More?'],
	};

	test('chunks are accumulated into a body, token usage is requested', async () => {
		script = (response) => {
			events(response, STREAM);
		};
		const texts: ChatDelta[] = [];
		expect(await complete(true, (text) => texts.push(text))).toStrictEqual(WHOLE);
		expect(texts.map(({ reasoning }) => reasoning).join('|')).toBe('|Grüße? |Ja.|||||');
		expect(texts.map(({ content }) => content).join('')).toBe('Grüß Gott 🌄');
		expect(server.requests[0]!.body).toMatchObject({
			stream: true,
			stream_options: { include_usage: true },
		});
	});

	test('chunk boundaries do not change the reply', async () => {
		const bytes = Buffer.from(
			STREAM.map(
				(value) =>
					`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\r\n\r\n`,
			).join(''),
		);
		for (let at = 1; at < bytes.length; at++) {
			const pieces = [bytes.subarray(0, at), bytes.subarray(at)];
			const http = () =>
				Promise.resolve({
					status: 200,
					headers: { 'content-type': 'text/event-stream; charset=utf-8' },
					body: (async function* () {
						yield* pieces;
					})(),
				});
			const reply = await completeChat(
				http,
				{ messages: MESSAGES },
				{ stream: true, idleTimeoutMs: 1 },
			);
			expect(reply).toStrictEqual(WHOLE);
		}
	});

	test('fragments of tool calls are joined by index (spec 2.3)', async () => {
		const call = (fields: object) => delta({ tool_calls: [fields] });
		script = (response) => {
			events(response, [
				call({
					index: 0,
					id: 'a',
					type: 'function',
					function: { name: 'weather', arguments: '' },
				}),
				call({ index: 0, function: { arguments: '{"city":' } }),
				call({
					index: 1,
					id: 'b',
					type: 'function',
					function: { name: 'time', arguments: '{}' },
				}),
				call({ index: 0, function: { arguments: '"Rome"}' } }),
				delta({}, { finish_reason: 'tool_calls' }),
				'[DONE]',
			]);
		};
		const [choice] = (await complete(true)).choices;
		expect(choice).toStrictEqual({
			index: 0,
			message: {
				role: 'assistant',
				content: null,
				tool_calls: [
					{
						id: 'a',
						type: 'function',
						function: { name: 'weather', arguments: '{"city":"Rome"}' },
					},
					{ id: 'b', type: 'function', function: { name: 'time', arguments: '{}' } },
				],
			},
			finish_reason: 'tool_calls',
		});
	});

	test('fragments of tool calls without an index are joined by id', async () => {
		const call = (fields: object) => delta({ tool_calls: [fields] });
		script = (response) => {
			events(response, [
				call({ id: 'a', function: { name: 'x', arguments: '{' } }),
				call({ function: { arguments: '}' } }),
				call({ id: 'b', function: { name: 'y', arguments: '[' } }),
				call({ id: 'a', function: { arguments: ' ' } }),
				call({ id: 'b', function: { arguments: ']' } }),
				delta({}, { finish_reason: 'tool_calls' }),
			]);
		};
		const [choice] = (await complete(true)).choices;
		expect(choice!.message.tool_calls).toStrictEqual([
			{ id: 'a', type: 'function', function: { name: 'x', arguments: '{} ' } },
			{ id: 'b', type: 'function', function: { name: 'y', arguments: '[]' } },
		]);
	});

	test('[DONE] completes the reply, even if the server keeps the connection open', async () => {
		let closed: Promise<unknown> = Promise.resolve();
		script = (response) => {
			closed = new Promise((resolve) => response.on('close', resolve));
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(`data: ${JSON.stringify(delta({ content: 'Hi' }))}\n\ndata: [DONE]\n\n`);
		};
		expect((await complete(true)).choices[0]!.message.content).toBe('Hi');
		// The client closes the connection.
		await closed;
	});

	test('invalid JSON in the stream is an error', async () => {
		script = (response) => {
			events(response, ['{"choices": [', '[DONE]']);
		};
		expect(await failure(true)).toMatchObject({
			kind: 'stream',
			message: 'The stream contains invalid JSON',
		});
	});

	test('the idle timeout ends the call', async () => {
		script = (response) => {
			response.writeHead(200, { 'content-type': 'text/event-stream' });
			response.write(`data: ${JSON.stringify(delta({ content: 'Half a' }))}\n\n`);
		};
		expect(await failure(true, 200)).toMatchObject({ kind: 'network' });
	});
});

describe('error statuses (spec 7.1)', () => {
	test.each([
		['Payment required', 'The account has no credit, or no access to the model'],
		['The application my-app does not exist.', 'There is no application with this app code'],
		['Insufficient balance', 'Insufficient credit'],
		['Model m1 not found', 'The model does not exist, or the account has no access to it'],
	])('402 without an app code: %s', async (words, message) => {
		for (const status of [402, 200]) {
			script = (response) => {
				json(response, status, { error: { message: words, code: 402 } });
			};
			for (const stream of [true, false])
				await expect(complete(stream, undefined, 5_000, {})).rejects.toMatchObject({
					message,
					details: { status: 402, serviceMessage: words },
				});
		}
	});

	test.each([
		['in seconds', { 'retry-after': '7' }, 7_000],
		// JavaScript takes these for dates: 5 October 2001, and 7 January.
		['in milliseconds', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
		[
			'in milliseconds that are no number',
			{ 'retry-after-ms': 'x', 'retry-after': '2' },
			2_000,
		],
		['with a fraction', { 'retry-after': '10.5' }, 10_500],
		['that is neither a number nor a time', { 'retry-after': '1,7' }, undefined],
		[
			'as a date, relative to the Date header',
			{
				'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT',
				date: 'Wed, 21 Oct 2015 07:28:00 GMT',
			},
			30_000,
		],
		['as a date in the past', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
		['in an unknown format', { 'retry-after': 'soon' }, undefined],
	])('Retry-After %s', async (_name, headers, ms) => {
		script = (response) => {
			json(response, 429, { error: { message: 'slow down' } }, headers);
		};
		expect((await failure(false)).details.retryAfterMs).toBe(ms);
	});

	test('an HTML error page is reduced to text', async () => {
		script = (response) => {
			response.writeHead(502, { 'content-type': 'text/html' });
			response.end('<html><style>p{}</style><h1>502 Bad Gateway</h1><p>proxy</p></html>');
		};
		expect((await failure(false)).details.serviceMessage).toBe('502 Bad Gateway proxy');
	});

	test.each<[string, Script]>([
		[
			'is reset',
			(response) => {
				response.writeHead(429, { 'retry-after': '7', 'content-length': '500' });
				response.write('{"err', () => response.socket!.resetAndDestroy());
			},
		],
		[
			'is badly compressed',
			(response) => {
				response.writeHead(429, { 'retry-after': '7', 'content-encoding': 'gzip' });
				response.end('{"err');
			},
		],
	])('a status counts though its body %s, for chats and videos', async (_how, breaks) => {
		script = breaks;
		const details = { status: 429, retryAfterMs: 7_000, outcomeUnknown: false };
		expect((await failure(true)).details).toMatchObject(details);
		const video = { prompt: 'A lake', model: 'video-m1' };
		const sent = createVideo(axiosHttp(server.url, 'key'), video, 5_000);
		await expect(sent).rejects.toMatchObject({ details });
	});

	test('a canceled execution stays canceled while the body of an error is read', async () => {
		const http: HttpPort = async () =>
			await Promise.resolve({
				status: 429,
				headers: {},
				body: (async function* () {
					yield await Promise.resolve(Buffer.from('{'));
					throw canceledError();
				})(),
			});
		const sent = completeChat(
			http,
			{ messages: MESSAGES },
			{ stream: false, idleTimeoutMs: 1 },
		);
		await expect(sent).rejects.toMatchObject({ kind: 'canceled' });
	});
});
