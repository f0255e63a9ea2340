/** What the chat nodes make of replies: errors of other services in their place, and files in them. */
import corpus from '../fixtures/errorEnvelopes.json';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';
import { askThrough, CHAT_NODE_NAMES, type ChatNodeName } from '../support/fourNodes';
import { RECORDED } from '../support/recordedReplies';
import { sampleFile } from '../support/sampleFiles';
import { events, eventsOf, json, scripted, type Script } from '../support/scriptedServer';
import { thorough } from '../support/thorough';

const server = scripted();

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'text/event-stream';
const answers =
	(type: string, text: string, status = 200): Script =>
	(response) => {
		response.writeHead(status, { 'content-type': type, 'retry-after': '0' }).end(text);
	};
/** A reply: fields of its choice, of its message, and of its body. */
interface Form {
	readonly choice?: object;
	readonly message?: Readonly<Record<string, unknown>>;
	readonly body?: object;
}
/** Answers as it is asked; in a stream each part of a content has a chunk of its own. */
const says =
	({ choice, message: { content = null, ...fields } = {}, body: more }: Form): Script =>
	(response, { body }) => {
		const end = { index: 0, finish_reason: 'stop' };
		if ((body as { stream?: boolean }).stream !== true) {
			const message = { content, ...fields };
			json(response, 200, { choices: [{ ...end, ...choice, message }], ...more });
			return;
		}
		const parts = Array.isArray(content) ? content.map((part: unknown) => [part]) : [content];
		events(response, [
			...parts.map((part) => ({ choices: [{ index: 0, delta: { content: part } }] })),
			{ choices: [{ index: 0, delta: fields, ...choice }], ...more },
			{ choices: [{ ...end, delta: {} }] },
			'[DONE]',
		]);
	};
/** One reader serves all nodes: usually each of them has its part of the rows, in turn. */
const partOf = <T>(rows: readonly T[], node: ChatNodeName, nodes = CHAT_NODE_NAMES) =>
	rows.filter((_row, index) => thorough(index % nodes.length === nodes.indexOf(node), true));

/**
 * Errors of other OpenAI-compatible services, as their public documentation and their users' reports show them: with status
 * 200 in place of the reply, in both forms, and in the middle of a stream.
 */
const SAID = 'Half a word';
const HALF = { choices: [{ index: 0, delta: { content: SAID } }] };
const FORMS = {
	'as a body': (body: object) => answers(JSON_TYPE, JSON.stringify(body)),
	'as the first event of a stream': (body: object) =>
		answers(STREAM_TYPE, eventsOf([body, '[DONE]'])),
	'in the middle of a stream': (body: object) =>
		answers(STREAM_TYPE, eventsOf([HALF, body, '[DONE]'])),
} as const;

const PAGE = '<!DOCTYPE html><title>Just a moment...</title><p>Enable JavaScript</p>';
const CUT = `{"choices":[{"message":{"content":"${'All of <b> it. '.repeat(20)}End`;
const FIREWALL = 'A firewall or proxy in front of the service rejected the request';
/** HTTP status, body, what it means, the words of the service in it, and how many requests are sent. */
const ERRORS: readonly (readonly [number, string, string, string, number])[] = [
	[429, '{"error":{"message":"No","code":"insufficient_quota"}}', FAILURE.noCredit, 'No', 1],
	[403, '{"error":{"message":"<p>No access</p>"}}', '', '<p>No access</p>', 1],
	[
		200,
		'{"code":1102,"message":"Account balance not enough","data":null}',
		FAILURE.noCredit,
		'Account balance not enough',
		1,
	],
	[400, '[{"error":{"message":"API key expired"}}]', FAILURE.malformed, 'API key expired"', 1],
	[
		400,
		'{"error":{"message":"Failed to call","failed_generation":"<function=weather>"}}',
		FAILURE.malformed,
		'Failed to call: <function=weather>"',
		1,
	],
	[403, PAGE, FIREWALL, 'Just a moment', 1],
	// What was paid for.
	[200, CUT, 'The response is truncated or not valid JSON', CUT, 1],
];

test('the corpus has enough errors', () => {
	expect(corpus.length).toBeGreaterThanOrEqual(30);
	expect(new Set(corpus.map(({ dialect }) => dialect)).size).toBeGreaterThanOrEqual(7);
	for (const { source, words } of corpus) expect([source, words]).not.toContain('');
});

describe.each(CHAT_NODE_NAMES)('%s', (node) => {
	const options = { retries: 0 };

	test.each(Object.keys(FORMS) as (keyof typeof FORMS)[])(
		'an error %s fails with the words of the service, and keeps the text so far',
		async (form) => {
			const silent: unknown[] = [];
			for (const each of partOf(corpus, node)) {
				const { dialect, name, body, words, streamed = true } = each;
				const isStream = form !== 'as a body';
				if (isStream && !streamed) continue;
				server.script = FORMS[form](body);
				const { error } = await askThrough(node, isStream, server.url, { options });
				const isKept = form !== 'in the middle of a stream' || error.includes(SAID);
				const [shown = ''] = error.split('{');
				if (!shown.includes(words) || !isKept) silent.push({ dialect, name, error });
			}
			expect(silent).toStrictEqual([]);
		},
	);

	/** The errors of both ways to ask, and how many requests each sends. */
	const errorsOf = async (how: (stream: boolean) => Script) => {
		const errors: (readonly [error: string, requests: number])[] = [];
		for (const stream of [true, false]) {
			server.script = how(stream);
			server.requests.length = 0;
			const { error } = await withFakeTimers(
				async () => await askThrough(node, stream, server.url),
			);
			errors.push([error, server.requests.length]);
		}
		return errors;
	};

	test.each(partOf(ERRORS, node))('%i, %s: %s', async (status, body, means, words, requests) => {
		const type = body === PAGE ? 'text/html' : JSON_TYPE;
		for (const [shown, sent] of await errorsOf(() => answers(type, body, status))) {
			// What happened, the words of the service, then what to do.
			const [what = '', said = ''] = shown.split('\nThe service said: "');
			expect(what.startsWith(means)).toBe(true);
			expect(said.startsWith(words)).toBe(true);
			expect(said.slice(words.length)).toMatch(/[^.]\.\n/);
			expect(sent).toBe(requests);
		}
	});

	test('402 is about the application whose code the key ends with', async () => {
		server.script = answers(JSON_TYPE, '{}', 402);
		const ofKey = { apiKey: 'k-demo-app', keyIncludesApp: true };
		const { error } = await askThrough(node, true, server.url, { appCode: '' }, ofKey);
		expect(error).toMatch(RegExp(`^${FAILURE.noApp}`));
	});

	test.each([{ tool_calls: [] }, { function_call: null }])(
		'an error beside a message without an answer, %j, is one',
		async (fields) => {
			const message = { role: 'assistant', content: '', ...fields };
			const choices = [{ index: 0, message, delta: message, finish_reason: null }];
			const body = { choices, error: { code: 429, message: 'slow down' } };
			const errors = await errorsOf((stream) =>
				FORMS[stream ? 'as the first event of a stream' : 'as a body'](body),
			);
			for (const [shown, sent] of errors) {
				expect(shown).toMatch(RegExp(`^${FAILURE.tooMany}`));
				expect(sent).toBe(4);
			}
		},
	);
});

const WITH_OUTPUT = CHAT_NODE_NAMES.filter((node) => node !== 'model');

test.each<unknown>([
	{ a: 1 },
	'<think>{"a":0}</think>{"a":1}',
	'<thinking>{"a":0}</thinking>{"a":1}',
	'{"a":0}\n</think>\n{"a":1}',
])('data is the JSON, a thought in tags is no part of it: %j', async (content) => {
	server.script = says({ message: { content } });
	const { json: item, error } = await askThrough('reply', false, server.url, {
		responseFormat: 'json',
	});
	expect([error, item['json']]).toStrictEqual(['', { a: 1 }]);
});

test('a call that is written as text is one only where tools were declared', async () => {
	const written = RECORDED.find(({ file }) => file === 'written-call-tool-call.json')!;
	server.script = answers(written.type, written.text);
	const { error, json: item } = await askThrough('reply', false, server.url);
	expect([error, item['output']]).toStrictEqual(['', written.expected.content]);
});

const CDN = 'https://cdn.example';
const PNG = sampleFile('image/png');
const BASE64 = PNG.toString('base64');
const INLINE = { mimeType: 'image/png', data: BASE64 };
const TYPED = { mime_type: 'image/png', data: BASE64 };
const DATA = `data:image/png;base64,${BASE64}`;
const SIGNED = `${CDN}/1?signature=${'a'.repeat(2_000)}`;
const CLIP = 'data:video/mp4;base64,AAAA';
const media = (kind: string, url: string) => ({ kind, url });
const image = (url: string) => media('image', url);
const IMAGE = image(`${CDN}/1`);
const [PDF, FILE] = [media('file', `${CDN}/a.pdf`), media('file', `${CDN}/a`)];
const MP3 = media('audio', `${CDN}/a.mp3`);
const imageUrl = (image_url: unknown) => ({ type: 'image_url', image_url });
const BESIDE = [{ type: 'unknown' }, { type: 'reference', reference_ids: [1] }];
/** A part of the content, beside others. */
const part = (each: object): Form => ({
	message: { content: [each, { type: 'text', text: 'No more' }, ...BESIDE, null] },
});

/** Replies with a file, and its entry in the output; `/` stands for the server. */
const FILES: readonly (readonly [name: string, form: Form, file: ReturnType<typeof media>])[] = [
	['img_urls of the choice', { choice: { img_urls: [`${CDN}/1`] } }, IMAGE],
	['img_urls of the message', { message: { img_urls: [`${CDN}/1`] } }, IMAGE],
	['images of the body', { body: { images: [{ url: `${CDN}/1` }] } }, IMAGE],
	['images of the message', { message: { images: [imageUrl({ url: DATA })] } }, image(DATA)],
	['a video_url', { message: { video_url: `${CDN}/1` } }, media('video', `${CDN}/1`)],
	['a list of URLs', { message: { images: [`${CDN}/1`] } }, IMAGE],
	['a signed URL of the choice', { choice: { video_url: SIGNED } }, media('video', SIGNED)],
	['a signed URL of the body', { body: { image_url: SIGNED } }, image(SIGNED)],
	['a file by its extension', { choice: { files: [PDF.url] } }, PDF],
	['an image in base64', { message: { images: [{ b64_json: BASE64 }] } }, image(DATA)],
	['an image in base64 with its type', { message: { images: [TYPED] } }, image(DATA)],
	['a Markdown image', { message: { content: `![a](${CDN}/1)` } }, IMAGE],
	['a data: URL in Markdown', { message: { content: `![a](${DATA})` } }, image(DATA)],
	['a data: URL alone', { message: { content: DATA } }, image(DATA)],
	['a relative URL in Markdown', { message: { content: '![a](/files/1)' } }, image('/files/1')],
	['a relative URL in a field', { choice: { img_urls: ['files/1'] } }, image('/files/1')],
	['a relative URL in a part', part(imageUrl('/files/1')), image('/files/1')],
	['an image as a part', part({ type: 'image', url: `${CDN}/1` }), IMAGE],
	['an image by its key', part({ image: `${CDN}/1` }), IMAGE],
	['an image in base64 as a part', part({ b64_json: BASE64, revised_prompt: 'A' }), image(DATA)],
	['the same with its type', part(TYPED), image(DATA)],
	['the same by its key', part({ inlineData: INLINE }), image(DATA)],
	['a part by its extension', part({ type: 'file', file: { url: MP3.url } }), MP3],
	['a file as a part', part({ type: 'file', file: { url: FILE.url } }), FILE],
	['a file in the response', part({ type: 'file', url: CLIP }), media('video', CLIP)],
];

describe.each([true, false])('with a stream: %s', (stream) => {
	describe.each(WITH_OUTPUT)('%s', (node) => {
		test.each(partOf(FILES, node, WITH_OUTPUT))('%s is a file of the reply', async (...row) => {
			const [, form, { kind, url }] = row;
			server.script = says(form);
			const { json: item, error } = await askThrough(node, stream, server.url);
			expect(error).toBe('');
			expect(item['media']).toStrictEqual([media(kind, url.replace(/^(?=\/)/, server.url))]);
			if (Array.isArray(form.message?.content)) expect(item['output']).toBe('No more');
		});
	});

	test.each([
		[`${CDN}/1`, `](${CDN}/1)`],
		['/files/1', '/files/1)'],
		[DATA, 'Download Media'],
	])('a chain gets the image %s as a link, or reads what brings it', async (url, shown) => {
		server.script = says({ choice: { img_urls: [url] } });
		const { json: item, error } = await askThrough('model', stream, server.url);
		expect(error).toBe('');
		expect(JSON.stringify(item)).toContain(shown);
	});

	test('the text of a list of parts is text, its files are media, and a raw response has them as parts', async () => {
		const files = [
			{ type: 'image_url', image_url: { url: `${CDN}/77` } },
			{ type: 'video_url', video_url: `${CDN}/clip` },
			{ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
		];
		const content = [{ type: 'text', text: 'A lake ' }, ...files, 'at dawn'];
		server.script = says({ message: { content }, body: { session_id: 's-1' } });
		const { json: item } = await askThrough('reply', stream, server.url);
		expect(item).toMatchObject({
			output: 'A lake at dawn',
			media: [
				image(`${CDN}/77`),
				media('video', `${CDN}/clip`),
				media('audio', 'data:audio/wav;base64,UklGRg=='),
			],
			session_id: 's-1',
		});
		const raw = await askThrough('reply', stream, server.url, { output: 'raw' });
		const message = { content: 'A lake at dawn', parts: files };
		expect(raw.json).toMatchObject({ choices: [{ message }] });
	});
});

test('the images of all chunks count', async () => {
	const chunk = (more: object) => ({ choices: [{ index: 0, delta: {}, ...more }] });
	const sent = [1, 2].map((n) => chunk({ img_urls: [`${CDN}/${n}`] }));
	server.script = (response) => {
		events(response, [...sent, chunk({ finish_reason: 'stop' }), '[DONE]']);
	};
	const { json: item } = await askThrough('reply', true, server.url);
	expect(item['media']).toStrictEqual([IMAGE, image(`${CDN}/2`)]);
});

test.each(WITH_OUTPUT)(
	'%s: a long text around the reply is cut, but not with Output: Raw',
	async (node) => {
		const note = 'n'.repeat(2_000);
		server.script = says({
			choice: { note },
			body: { note, model: note, id: note },
			message: { content: 'Yes' },
		});
		const ask = async (output: string) =>
			JSON.stringify((await askThrough(node, false, server.url, { output })).json);
		expect((await ask('raw')).split(note)).toHaveLength(5);
		expect(await ask('detailed')).not.toContain(note);
	},
);
