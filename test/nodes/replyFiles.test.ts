import { askThrough, CHAT_NODE_NAMES, type ChatNodeName } from '../support/fourNodes';
import { runNode } from '../support/engine';
import { sampleFile } from '../support/sampleFiles';
import { events, json, serverForEach, startScriptedServer } from '../support/scriptedServer';

jest.mock('@n8n/ai-node-sdk', () => jest.requireActual<object>('../support/aiNodeSdk'), {
	virtual: true,
});

const CDN = 'https://cdn.example';
const PNG = sampleFile('image/png');
const DATA = `data:image/png;base64,${PNG.toString('base64')}`;
const SIGNED = `${CDN}/1?signature=${'a'.repeat(2_000)}`;
const image = (url: string) => ({ kind: 'image', url });
const video = (url: string) => ({ kind: 'video', url });

/** A reply with a file: fields of its choice, of its message, and of its body. */
interface Form {
	readonly choice?: object;
	readonly message?: object;
	readonly body?: object;
}

let form: Form;
/** The file that the server has, with its declared type. */
let file: { readonly type: string; readonly body: Buffer };

const server = serverForEach((response, { path, body }) => {
	if (path.startsWith('/files/')) {
		response.writeHead(200, { 'content-type': file.type });
		response.end(file.body);
		return;
	}
	const { choice, message, body: more } = form;
	const said = { content: null, ...message };
	if ((body as { stream?: boolean }).stream !== true) {
		const whole = { index: 0, ...choice, message: said, finish_reason: 'stop' };
		json(response, 200, { choices: [whole], ...more });
		return;
	}
	events(response, [
		{ choices: [{ index: 0, delta: said, ...choice }], ...more },
		{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
		'[DONE]',
	]);
});

const FORMS: readonly (readonly [name: string, form: Form, media: object])[] = [
	['img_urls of the choice', { choice: { img_urls: [`${CDN}/1`] } }, image(`${CDN}/1`)],
	['img_urls of the message', { message: { img_urls: [`${CDN}/1`] } }, image(`${CDN}/1`)],
	['images of the body', { body: { images: [{ url: `${CDN}/1` }] } }, image(`${CDN}/1`)],
	[
		'images of the message',
		{ message: { images: [{ type: 'image_url', image_url: { url: DATA } }] } },
		image(DATA),
	],
	['a list of URLs', { message: { images: [`${CDN}/1`] } }, image(`${CDN}/1`)],
	['a video_url', { message: { video_url: `${CDN}/1` } }, video(`${CDN}/1`)],
	['a signed URL of the choice', { choice: { video_url: SIGNED } }, video(SIGNED)],
	['a signed URL of the body', { body: { image_url: SIGNED } }, image(SIGNED)],
	[
		'a file by its extension',
		{ choice: { files: [`${CDN}/a.pdf`] } },
		{ kind: 'file', url: `${CDN}/a.pdf` },
	],
	[
		'an image in base64',
		{ message: { images: [{ b64_json: PNG.toString('base64') }] } },
		image(DATA),
	],
	[
		'an image in base64 with its type',
		{ message: { images: [{ mime_type: 'image/png', data: PNG.toString('base64') }] } },
		image(DATA),
	],
	[
		'a part of the content',
		{ message: { content: [{ type: 'image', url: `${CDN}/1` }] } },
		image(`${CDN}/1`),
	],
	['a Markdown image', { message: { content: `![a](${CDN}/1)` } }, image(`${CDN}/1`)],
	['a data: URL in Markdown', { message: { content: `![a](${DATA})` } }, image(DATA)],
	['a data: URL alone', { message: { content: DATA } }, image(DATA)],
];

describe.each(CHAT_NODE_NAMES)('%s', (node: ChatNodeName) => {
	describe.each([true, false])('with a stream: %s', (stream) => {
		test.each(FORMS)('%s is a file of the reply', async (_name, sent, media) => {
			form = sent;
			const { json: item, error } = await askThrough(node, stream, server.url);
			expect(error).toBe('');
			const { url } = media as { url: string };
			const isText = typeof form.message?.['content' as never] === 'string';
			// A chain shows only text, without files that are in it.
			if (node !== 'model') expect(item['media']).toStrictEqual([media]);
			else if (!isText)
				expect(JSON.stringify(item)).toContain(
					url === DATA ? 'Download Media' : `](${url})`,
				);
		});

		test.each<[string, Form]>([
			['in Markdown', { message: { content: '![a](/files/1)' } }],
			['in a field', { choice: { img_urls: ['files/1'] } }],
			['in a part', { message: { content: [{ type: 'image_url', image_url: '/files/1' }] } }],
		])('a relative URL %s belongs to the Base URL', async (_name, sent) => {
			form = sent;
			const { json: item } = await askThrough(node, stream, server.url);
			if (node !== 'model')
				expect(item['media']).toStrictEqual([image(`${server.url}/files/1`)]);
			else expect(JSON.stringify(item)).toContain('/files/1)');
		});
	});
});

test.each(CHAT_NODE_NAMES.filter((node) => node !== 'model'))(
	'%s: a long text around the reply is cut, but not with Output: Raw',
	async (node) => {
		const note = 'n'.repeat(2_000);
		form = {
			choice: { note },
			body: { note, model: note, id: note },
			message: { content: 'Yes' },
		};
		const ask = async (output: string) =>
			JSON.stringify((await askThrough(node, false, server.url, { output })).json);
		expect((await ask('raw')).split(note)).toHaveLength(5);
		expect(await ask('detailed')).not.toContain(note);
	},
);

test('the images of all chunks count', async () => {
	const chunk = (more: object) => ({ choices: [{ index: 0, delta: {}, ...more }] });
	const sent = [1, 2].map((n) => chunk({ img_urls: [`${CDN}/${n}`] }));
	const streaming = await startScriptedServer((response) => {
		events(response, [...sent, chunk({ finish_reason: 'stop' }), '[DONE]']);
	});
	const { json: item } = await askThrough('reply', true, streaming.url);
	await streaming.stop();
	expect(item['media']).toStrictEqual([image(`${CDN}/1`), image(`${CDN}/2`)]);
});

describe('Download Media', () => {
	async function download(node: string, parameters: object) {
		const { outputs } = await runNode(node, {
			credential: { baseUrl: server.url, apiKey: 'k' },
			parameters: { ...parameters, options: { downloadMedia: true } },
		});
		return outputs.flat()[0]!;
	}

	test.each([
		['chatCompletion', { prompt: 'Hi' }],
		['functionCallingAgent', { prompt: 'Hi' }],
		['superAssistant', { appCode: 'a', message: 'Hi', session: 'new' }],
	])('%s brings the files of fields, also with a relative URL', async (node, parameters) => {
		file = { type: 'image/png', body: PNG };
		form = { choice: { img_urls: ['/files/1', DATA] } };
		const { json: item, binary } = await download(node, parameters);
		expect(item['media']).toMatchObject([{ binary: 'media_0' }, { binary: 'media_1' }]);
		expect(binary).toMatchObject({
			media_0: { mimeType: 'image/png' },
			media_1: { mimeType: 'image/png' },
		});
	});

	test.each<[string, string, Buffer, string]>([
		[
			'an error in place of CSV',
			'application/json',
			Buffer.from('{"error":"expired"}'),
			'expired',
		],
		['a page in place of CSV', 'text/csv', Buffer.from('<html>Sign in</html>'), 'Sign in'],
	])('%s is no file', async (_name, type, body, words) => {
		file = { type, body };
		form = { message: { content: `${server.url}/files/a.csv` } };
		const { json: item, binary } = await download('chatCompletion', { prompt: 'Hi' });
		expect(binary).toBeUndefined();
		expect(JSON.stringify(item['media'])).toContain(words);
	});

	test.each<[string, string, Buffer]>([
		['a list in JSON', 'text/plain', Buffer.from('[{"error":"of a person"}]')],
		['CSV that begins with a bracket', 'text/csv', Buffer.from('{a},b\n1,2\n')],
		['JSON', 'application/json', Buffer.from('{"error":"one of the data"}')],
	])('%s is one', async (_name, type, body) => {
		file = { type, body };
		form = { message: { content: [{ type: 'file', url: `${server.url}/files/a` }] } };
		const { binary } = await download('chatCompletion', { prompt: 'Hi' });
		expect(binary).toMatchObject({ media_0: { mimeType: type } });
	});
});
