import fc from 'fast-check';
import { Agent, request } from 'node:http';
import { startService, type Json } from './support/service';

const SEED = 20_260_101;
const COUNT = 2_000;

const PATHS = ['/v1/chat/completions', '/v1/videos/generations', '/v1/videos/tasks'];

/** Valid bodies; the fuzzer mutates them. */
const VALID_BODIES: readonly Json[] = [
	{
		messages: [
			{ role: 'system', content: 'Be brief.' },
			{ role: 'user', content: [{ type: 'text', text: 'Hi' }] },
			{
				role: 'assistant',
				content: null,
				tool_calls: [
					{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } },
				],
			},
			{ role: 'tool', tool_call_id: 'a', content: '{"b": 1}' },
		],
		model: 'chat-m1',
		app_code: 'demo-app',
		session_id: 's',
		temperature: 0.5,
		stream: true,
		stream_options: { include_usage: true },
		stop: ['x'],
		tool_choice: 'auto',
		tools: [
			{
				type: 'function',
				function: {
					name: 'hi',
					description: 'Says hi',
					parameters: {
						type: 'object',
						properties: { to: { type: 'string', pattern: '^a+$', enum: ['x'] } },
						required: ['to'],
					},
				},
			},
		],
		response_format: { type: 'text' },
		thinking: { type: 'enabled' },
		reasoning_effort: 'low',
	},
	{
		prompt: 'A cat',
		model: 'video-m1',
		images: ['https://example.com/a.png'],
		videos: ['https://example.com/a.mp4'],
		audios: ['https://example.com/a.mp3'],
		size: '720P',
		aspect_ratio: '16:9',
		duration: 5,
		image_mode: 'reference',
		generate_audio: true,
	},
	{ task_id: 'task-1' },
];

/** Paths of all values in JSON data, as lists of keys. */
function paths(value: unknown, at: readonly string[] = []): readonly (readonly string[])[] {
	if (typeof value !== 'object' || value === null) return [at];
	return [at, ...Object.entries(value).flatMap(([key, part]) => paths(part, [...at, key]))];
}

function setAt(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
	if (key === undefined) return by;
	const part = setAt((value as Json)[key], rest, by);
	if (Array.isArray(value))
		return value.map((old, index) => (String(index) === key ? part : old) as unknown);
	return { ...(value as Json), [key]: part };
}

const unexpectedValue = fc.oneof(
	fc
		.anything({ withNullPrototype: false, maxDepth: 3 })
		.filter((value) => (JSON.stringify(value) as string | undefined) !== undefined),
	fc.jsonValue(),
	fc.constantFrom<unknown>(
		'',
		' ',
		-1,
		0,
		1e308,
		[],
		{},
		null,
		true,
		'data:x',
		'http://',
		'\u0000',
		[[[]]],
		'__proto__',
	),
	fc.string({ unit: 'binary', maxLength: 300 }),
);

const mutatedBody = fc.constantFrom(...VALID_BODIES).chain((good) =>
	fc
		.array(fc.tuple(fc.constantFrom(...paths(good)), unexpectedValue), {
			minLength: 1,
			maxLength: 3,
		})
		.map((changes) => {
			try {
				return JSON.stringify(
					changes.reduce<unknown>((body, [at, by]) => setAt(body, at, by), good),
				);
			} catch {
				// An earlier change removed the path, or the value is not JSON.
				return '{"messages": 1';
			}
		}),
);

const invalidRequest = fc.record({
	method: fc.oneof(
		{ weight: 8, arbitrary: fc.constant('POST' as const) },
		{
			weight: 1,
			arbitrary: fc.constantFrom('GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'),
		},
	),
	path: fc.oneof(
		{ weight: 8, arbitrary: fc.constantFrom(...PATHS) },
		{ weight: 1, arbitrary: fc.webPath() },
		{ weight: 1, arbitrary: fc.webPath().map((path) => `/cdn/videos${path}`) },
	),
	authorization: fc.oneof(
		{ weight: 8, arbitrary: fc.constantFrom('Bearer demo-key', 'Bearer demo-key-demo-app') },
		{ weight: 1, arbitrary: fc.stringMatching(/^[ -~]{1,30}$/) },
	),
	type: fc.oneof(
		{ weight: 8, arbitrary: fc.constant('application/json') },
		{
			weight: 1,
			arbitrary: fc.constantFrom(
				'text/plain',
				'application/xml',
				'nonsense',
				'application/json; charset=x',
			),
		},
	),
	body: fc.oneof(
		{ weight: 8, arbitrary: mutatedBody },
		{ weight: 1, arbitrary: fc.json() },
		{ weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
	),
});

const BODILESS: readonly string[] = ['GET', 'HEAD'];

interface Sent {
	readonly method: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
}

const agent = new Agent({ keepAlive: true });

function send(
	url: string,
	{ method, headers, body }: Sent,
): Promise<{ status: number; text: string }> {
	return new Promise((resolve, reject) => {
		const call = request(url, { method, headers, agent }, (response) => {
			let text = '';
			response.setEncoding('utf8');
			response.on('data', (piece: string) => (text += piece));
			response.on('error', reject);
			response.on('end', () => {
				resolve({ status: response.statusCode!, text });
			});
		});
		call.on('error', reject);
		call.end(BODILESS.includes(method) ? undefined : body);
	});
}

/** Requires the service's error body, no server error, and no file paths or stack traces. */
function check(status: number, text: string): void {
	expect(status).toBeLessThan(500);
	if (status >= 400 && text !== '') {
		expect(JSON.parse(text)).toEqual({
			error: { message: expect.any(String) as string, type: expect.any(String) as string },
		});
	}
	expect(text).not.toMatch(/node_modules|emulator\/|\n\s+at /);
}

it(`7 ${COUNT} invalid requests get an error response and leave the service running`, async () => {
	const problems: string[] = [];
	const service = await startService({
		log: (line) => line.startsWith('Internal error') && problems.push(line),
	});
	const seen: Record<number, number> = {};
	await fc.assert(
		fc.asyncProperty(invalidRequest, async ({ method, path, authorization, type, body }) => {
			const headers = { authorization, 'content-type': type };
			const { status, text } = await send(service.url + path, { method, headers, body });
			check(status, text);
			seen[status] = (seen[status] ?? 0) + 1;
		}),
		{ seed: SEED, numRuns: COUNT },
	);
	const { content } = await service.say('What is 2 + 2?');
	agent.destroy();
	await service.stop();

	expect(problems).toEqual([]);
	// The requests cover all outcomes, from accepted by chance to rejected at every stage.
	expect(Object.keys(seen)).toEqual(
		expect.arrayContaining(['200', '400', '401', '402', '404', '405', '415']),
	);
	expect(seen[400]).toBeGreaterThan(COUNT / 3);
	expect(content).toBe('2 + 2 = 4');
}, 120_000);
