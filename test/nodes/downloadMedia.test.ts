import type { ServerResponse } from 'node:http';

import type { INodeExecutionData } from 'n8n-workflow';

import { runNode, type RunOptions } from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const SECRET = 'k-secret';
const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };

/** A file of the CDN: its type and content, or the error status it is answered with. */
type CdnFile = readonly [type: string, content: string] | number;

let service: ScriptedServer;
let cdn: ScriptedServer;
let files: Record<string, CdnFile>;
/** The model's reply to each question. */
let says: (question: string) => string | number;

beforeEach(async () => {
	cdn = await startScriptedServer((response, { path }) => {
		const file = files[path] ?? 404;
		if (typeof file === 'number') json(response, file, {});
		else sendFile(response, file);
	});
	service = await startScriptedServer((response, { body }) => {
		const { messages } = body as { messages: { content: string }[] };
		const content = says(messages.at(-1)!.content);
		if (typeof content === 'number') {
			json(response, content, { error: { message: 'no', type: 'invalid_request_error' } });
			return;
		}
		const message = { role: 'assistant', content };
		json(response, 200, {
			choices: [{ index: 0, message, finish_reason: 'stop' }],
			usage: USAGE,
			session_id: 's-1',
		});
	});
	files = {
		'/cdn/cat%20one.png': ['image/png', 'a cat'],
		'/cdn/pic?id=7': ['image/webp', 'a picture'],
		'/cdn/film.mp4': ['application/octet-stream', 'a film'],
		'/cdn/report.pdf': ['application/pdf', 'a report'],
	};
});
afterEach(async () => {
	await service.stop();
	await cdn.stop();
});

function sendFile(response: ServerResponse, [type, content]: readonly [string, string]): void {
	response.writeHead(200, { 'content-type': type, 'content-length': content.length });
	response.end(content);
}

const NODES = ['chatCompletion', 'superAssistant', 'functionCallingAgent'] as const;

async function ask(
	node: (typeof NODES)[number],
	{ options = {}, parameters = {}, ...more }: Partial<RunOptions> & { options?: object } = {},
) {
	return await runNode(node, {
		credential: { baseUrl: service.url, apiKey: SECRET },
		items: [{ chatInput: 'Show me' }],
		...more,
		parameters: {
			streaming: 'off',
			...(node === 'superAssistant' ? { appCode: 'a' } : {}),
			...parameters,
			options: { downloadMedia: true, ...options },
		},
	});
}

function filesOf({ binary = {} }: INodeExecutionData) {
	return Object.entries(binary).map(([name, { fileName, mimeType, data }]) => [
		name,
		fileName,
		mimeType,
		Buffer.from(data, 'base64').toString(),
	]);
}

const four = () =>
	[
		`Here: ![cat](${cdn.url}/cdn/cat%20one.png), ![pic](${cdn.url}/cdn/pic?id=7)`,
		`and [a film](${cdn.url}/cdn/film.mp4) with ${cdn.url}/cdn/report.pdf.`,
	].join(' ');

describe.each(NODES)('%s with Download Media', (node) => {
	test('every file of the reply becomes a binary field, named in its entry', async () => {
		says = four;
		const { status, outputs, run } = await ask(node);
		expect(status).toBe('success');
		const [item] = outputs[0]!;
		expect(filesOf(item!)).toStrictEqual([
			['media_0', 'cat one.png', 'image/png', 'a cat'],
			['media_1', 'pic.webp', 'image/webp', 'a picture'],
			['media_2', 'film.mp4', 'video/mp4', 'a film'],
			['media_3', 'report.pdf', 'application/pdf', 'a report'],
		]);
		expect(item!.json).toMatchObject({ content: four(), usage: USAGE });
		expect(item!.json['media']).toStrictEqual([
			{ kind: 'image', url: `${cdn.url}/cdn/cat%20one.png`, binary: 'media_0' },
			{ kind: 'image', url: `${cdn.url}/cdn/pic?id=7`, binary: 'media_1' },
			{ kind: 'video', url: `${cdn.url}/cdn/film.mp4`, binary: 'media_2' },
			{ kind: 'file', url: `${cdn.url}/cdn/report.pdf`, binary: 'media_3' },
		]);
		expect(item!.pairedItem).toStrictEqual({ item: 0 });
		expect(cdn.requests).toHaveLength(4);
		expect(cdn.requests.some(({ headers }) => headers.authorization !== undefined)).toBe(false);
		expect(JSON.stringify([cdn.requests, run])).not.toContain(SECRET);
	});

	test('a failed download loses neither the text nor the URL', async () => {
		says = four;
		files['/cdn/pic?id=7'] = 403;
		const { status, outputs, run } = await ask(node);
		expect(status).toBe('success');
		const [item] = outputs[0]!;
		expect(filesOf(item!).map(([name]) => name)).toStrictEqual([
			'media_0',
			'media_2',
			'media_3',
		]);
		expect(item!.json).toMatchObject({ content: four() });
		expect(item!.json['media']).toMatchObject([
			{ binary: 'media_0' },
			{
				kind: 'image',
				url: `${cdn.url}/cdn/pic?id=7`,
				error_message:
					'The file could not be downloaded (status 403). Open the URL of the file',
			},
			{ binary: 'media_2' },
			{ binary: 'media_3' },
		]);
		const [task] = run.data.resultData.runData['Tested']!;
		expect(task!.hints).toStrictEqual([
			{
				type: 'warning',
				location: 'outputPane',
				message: '1 file could not be downloaded. See "media" in the output.',
			},
		]);
	});

	test('with an error output only failed calls go there, and items keep their order', async () => {
		says = (question) => (question === 'fail' ? 400 : `${cdn.url}/cdn/${question}.mp4`);
		const { outputs } = await ask(node, {
			items: [{ chatInput: 'film' }, { chatInput: 'fail' }, { chatInput: 'lost' }],
			onError: 'continueErrorOutput',
		});
		const links = (items: readonly INodeExecutionData[] = []) =>
			items.map(({ json: { media, error }, binary = {}, pairedItem }) => ({
				media: (media as { url: string }[] | undefined)?.map(({ url }) => url),
				failed: error !== undefined,
				binary: Object.keys(binary),
				pairedItem,
			}));
		expect(links(outputs[0])).toStrictEqual([
			{
				media: [`${cdn.url}/cdn/film.mp4`],
				failed: false,
				binary: ['media_0'],
				pairedItem: { item: 0 },
			},
			{
				media: [`${cdn.url}/cdn/lost.mp4`],
				failed: false,
				binary: [],
				pairedItem: { item: 2 },
			},
		]);
		expect(links(outputs.at(-1))).toMatchObject([{ failed: true, pairedItem: { item: 1 } }]);
	});

	test('without Simplify the output has the list of files as well', async () => {
		says = () => `${cdn.url}/cdn/film.mp4`;
		const { outputs } = await ask(node, { parameters: { simplify: false } });
		const [item] = outputs[0]!;
		const { json: body } = item!;
		expect(body['response'] ?? body).toMatchObject({ usage: USAGE });
		expect(body['media']).toMatchObject([{ binary: 'media_0' }]);
		expect(filesOf(item!)).toHaveLength(1);
	});

	test('size limit and prefix are applied, and an image without a type gets one', async () => {
		says = four;
		files['/cdn/pic?id=7'] = ['application/octet-stream', 'a picture'];
		files['/cdn/film.mp4'] = ['video/mp4', 'x'.repeat(200_000)];
		const { outputs } = await ask(node, {
			options: { maximumFileSize: 0.1, mediaPrefix: 'file' },
		});
		const [item] = outputs[0]!;
		expect(filesOf(item!).map(([name, , mimeType]) => [name, mimeType])).toStrictEqual([
			['file0', 'image/png'],
			['file1', 'image/jpeg'],
			['file3', 'application/pdf'],
		]);
		expect(item!.json['media']).toMatchObject([
			{ binary: 'file0' },
			{ binary: 'file1' },
			{
				error_message:
					'Maximum File Size is 0.1 MB, but the file has at least 0.2 MB. Raise the limit, or open the URL of the file',
			},
			{ binary: 'file3' },
		]);
	});

	test('without the option, or without files, the item is unchanged', async () => {
		says = four;
		const { outputs } = await ask(node, { options: { downloadMedia: false } });
		expect(outputs[0]![0]).not.toHaveProperty('binary');
		expect(outputs[0]![0]!.json['media']).toHaveLength(4);
		says = () => 'Just words';
		const { outputs: plain } = await ask(node);
		expect(plain[0]![0]).not.toHaveProperty('binary');
		expect(plain[0]![0]!.json).not.toHaveProperty('media');
		expect(cdn.requests).toHaveLength(0);
	});
});

test('a private URL in a reply is not opened', async () => {
	says = () => `${cdn.url}/cdn/film.mp4`;
	process.env['HTTP_PROXY'] = service.url;
	try {
		const { outputs } = await ask('chatCompletion', {
			credential: { baseUrl: 'http://service.example', apiKey: SECRET },
		});
		expect(outputs[0]![0]!.json['media']).toMatchObject([
			{
				url: `${cdn.url}/cdn/film.mp4`,
				error_message: expect.stringContaining(
					'The URL leads to a private network.',
				) as string,
			},
		]);
		expect(service.requests).toHaveLength(1);
		expect(cdn.requests).toHaveLength(0);
	} finally {
		delete process.env['HTTP_PROXY'];
	}
});

test('in a tool run the node returns URLs only', async () => {
	says = four;
	const run = await runNode('chatCompletionTool', {
		credential: { baseUrl: service.url, apiKey: SECRET },
		items: [{ prompt: 'Show me' }],
		parameters: { streaming: 'off', options: { downloadMedia: true } },
	});
	expect(run.outputs[0]![0]!.json['media']).toHaveLength(4);
	expect(run.outputs[0]![0]).not.toHaveProperty('binary');
	expect(cdn.requests).toHaveLength(0);
});
