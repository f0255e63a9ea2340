import type { ServerResponse } from 'node:http';

import type { INodeExecutionData } from 'n8n-workflow';

import { runNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const SECRET = 'k-secret';
const CAT = sampleFile('image/png', 'a cat');
const PICTURE = sampleFile('image/webp', 'a picture');
const FILM = sampleFile('video/mp4', 'a film');
const REPORT = sampleFile('application/pdf', 'a report');
const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };

/** A file of the CDN: its type and content, or the error status it is answered with. */
type CdnFile = readonly [type: string, content: Buffer] | number;

let service: ScriptedServer;
let cdn: ScriptedServer;
let files: Record<string, CdnFile>;
/** The model's reply to each question. */
let says: (question: string) => string | number | readonly object[];

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
		'/cdn/cat%20one.png': ['image/png', CAT],
		'/cdn/pic?id=7': ['image/webp', PICTURE],
		'/cdn/film.mp4': ['application/octet-stream', FILM],
		'/cdn/report.pdf': ['application/pdf', REPORT],
	};
});
afterEach(async () => {
	await service.stop();
	await cdn.stop();
});

function sendFile(response: ServerResponse, [type, content]: readonly [string, Buffer]): void {
	response.writeHead(200, { 'content-type': type, 'content-length': content.length });
	response.end(content);
}

const NODES = ['chatCompletion', 'superAssistant', 'functionCallingAgent'] as const;

async function ask(
	node: (typeof NODES)[number],
	{ options = {}, parameters = {}, ...more }: Partial<RunOptions> & { options?: object } = {},
) {
	const credential = { baseUrl: service.url, apiKey: SECRET, fileHosts: '127.0.0.1' };
	return await withFakeTimers(
		async () =>
			await runNode(node, {
				credential,
				items: [{ chatInput: 'Show me' }],
				...more,
				parameters: {
					streaming: 'off',
					...(node === 'superAssistant' ? { appCode: 'a' } : {}),
					...parameters,
					options: { downloadMedia: true, ...options },
				},
			}),
	);
}

function filesOf({ binary = {} }: INodeExecutionData) {
	return Object.entries(binary).map(([name, { fileName, mimeType, data }]) => [
		name,
		fileName,
		mimeType,
		Buffer.from(data, 'base64'),
	]);
}

const four = () =>
	[
		`Here: ![cat](${cdn.url}/cdn/cat%20one.png), ![pic](${cdn.url}/cdn/pic?id=7)`,
		`and [a film](${cdn.url}/cdn/film.mp4) with ${cdn.url}/cdn/report.pdf.`,
	].join(' ');

describe.each(NODES)('%s with Download Media', (node) => {
	test('a file that is part of the reply becomes a binary field', async () => {
		const url = (type: string, content: Buffer) =>
			`data:${type};base64,${content.toString('base64')}`;
		says = () => [
			{ type: 'text', text: 'Here' },
			{ type: 'image_url', image_url: { url: url('image/png', CAT) } },
			{ type: 'image_url', image_url: { url: url('image/png', Buffer.from('no access')) } },
			{ type: 'image_url', image_url: { url: 'data:image/png;base64,***' } },
			{ type: 'video_url', video_url: { url: url('video/mp4', Buffer.alloc(2_000_000)) } },
		];
		const { status, outputs } = await ask(node, { options: { maximumFileSize: 1 } });
		expect(status).toBe('success');
		const [item] = outputs[0]!;
		expect(filesOf(item!)).toStrictEqual([['media_0', 'media_0.png', 'image/png', CAT]]);
		expect(item!.json).toMatchObject({
			output: 'Here',
			media: [
				{ kind: 'image', url: 'data:image/png;base64,', binary: 'media_0' },
				{
					error_message:
						'The data: URL does not contain an image, but text/plain: no access',
				},
				{
					error_message: expect.stringContaining(
						'The data: URL cannot be decoded',
					) as string,
				},
				{
					error_message:
						'Maximum File Size is 1 MB, but the file is larger. Raise the limit under Options',
				},
			],
		});
	});

	test('a document that is part of the reply becomes a binary field of its type', async () => {
		const bytes = Buffer.from([1, 2, 3]);
		const documents = [
			['text/csv', Buffer.from('a,b\n1,2\n'), 'media_0.csv'],
			['application/json', Buffer.from('{"a":1}'), 'media_1.json'],
			['application/pdf', REPORT, 'media_2.pdf'],
			['application/x-own', bytes, 'media_3'],
			['text/html', Buffer.from('<html></html>'), 'media_4.html'],
		] as const;
		const part = (type: string, content: Buffer) => ({
			type: 'file',
			file: { url: `DATA:${type};base64,${content.toString('base64')}` },
		});
		says = () => [
			...documents.map(([type, content]) => part(type, content)),
			part('application/pdf', Buffer.from('<html>Sign in</html>')),
		];
		const { outputs } = await ask(node);
		const [item] = outputs[0]!;
		expect(filesOf(item!)).toStrictEqual(
			documents.map(([type, content, name], index) => [
				`media_${index}`,
				name,
				type,
				content,
			]),
		);
		expect((item!.json['media'] as object[]).at(-1)).toMatchObject({
			error_message: 'The data: URL does not contain the file, but text/html: Sign in',
		});
	});

	test('every file of the reply becomes a binary field, named in its entry', async () => {
		says = four;
		const { status, outputs, run } = await ask(node);
		expect(status).toBe('success');
		const [item] = outputs[0]!;
		expect(filesOf(item!)).toStrictEqual([
			['media_0', 'cat one.png', 'image/png', CAT],
			['media_1', 'pic.webp', 'image/webp', PICTURE],
			['media_2', 'film.mp4', 'video/mp4', FILM],
			['media_3', 'report.pdf', 'application/pdf', REPORT],
		]);
		expect(item!.json).toMatchObject({ output: four(), usage: USAGE });
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
		expect(item!.json).toMatchObject({ output: four() });
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
		expect(task!.hints).toContainEqual({
			type: 'warning',
			location: 'outputPane',
			message: '1 file could not be downloaded. See "media" in the output.',
		});
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

	test('a raw output has the list of files as well', async () => {
		says = () => `${cdn.url}/cdn/film.mp4`;
		const { outputs } = await ask(node, { parameters: { output: 'raw' } });
		const [item] = outputs[0]!;
		const { json: body } = item!;
		expect(body['response'] ?? body).toMatchObject({ usage: USAGE });
		expect(body['media']).toMatchObject([{ binary: 'media_0' }]);
		expect(filesOf(item!)).toHaveLength(1);
	});

	test('the size limit is applied, and an image without a type gets its own', async () => {
		says = four;
		files['/cdn/pic?id=7'] = ['application/octet-stream', PICTURE];
		files['/cdn/film.mp4'] = ['video/mp4', sampleFile('video/mp4', 'x'.repeat(200_000))];
		const { outputs } = await ask(node, {
			options: { maximumFileSize: 0.1 },
		});
		const [item] = outputs[0]!;
		expect(filesOf(item!).map(([name, , mimeType]) => [name, mimeType])).toStrictEqual([
			['media_0', 'image/png'],
			['media_1', 'image/webp'],
			['media_3', 'application/pdf'],
		]);
		expect(item!.json['media']).toMatchObject([
			{ binary: 'media_0' },
			{ binary: 'media_1' },
			{
				error_message:
					'Maximum File Size is 0.1 MB, but the file has 0.2 MB. Raise the limit under Options',
			},
			{ binary: 'media_3' },
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

test.each(['https://cdn.example/a.png', ['https://cdn.example/a.png'], 7])(
	'a field "media" of the service is not ours: %j',
	async (media) => {
		const server = await startScriptedServer((response) => {
			const message = { role: 'assistant', content: 'Here it is' };
			json(response, 200, { media, choices: [{ index: 0, message, finish_reason: 'stop' }] });
		});
		const { error, outputs } = await runNode('chatCompletion', {
			credential: { baseUrl: server.url, apiKey: SECRET },
			parameters: { prompt: 'Draw', output: 'raw' },
		}).finally(server.stop);
		expect(error).toBeUndefined();
		expect(outputs[0]![0]!.json).toMatchObject({ media });
	},
);
