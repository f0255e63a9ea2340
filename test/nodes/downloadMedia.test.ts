import type { INodeExecutionData } from 'n8n-workflow';

import { answer, choose, downloads, withLength } from '../support/downloads';
import { runNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';

const SECRET = 'k-secret';
const CAT = sampleFile('image/png', 'a cat');
const PICTURE = sampleFile('image/webp', 'a picture');
const FILM = sampleFile('video/mp4', 'a film');
const REPORT = sampleFile('application/pdf', 'a report');
const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };

const scene = downloads();
/** Files of the service: type and content, or the error status that a request is answered with. */
let files: Record<string, readonly [type: string, content: Buffer] | number>;

beforeEach(() => {
	scene.beside = { usage: USAGE, session_id: 's-1' };
	scene.host = choose((_index, path) => {
		const file = files[path] ?? 404;
		if (typeof file === 'number') return answer(undefined, '', file);
		return withLength(file[1], { 'content-type': file[0] });
	});
	files = {
		'/cdn/cat%20one.png': ['image/png', CAT],
		'/cdn/pic?id=7': ['image/webp', PICTURE],
		'/cdn/film.mp4': ['application/octet-stream', FILM],
		'/cdn/report.pdf': ['application/pdf', REPORT],
	};
});

const NODES = ['chatCompletion', 'superAssistant', 'functionCallingAgent'] as const;

async function ask(
	node: (typeof NODES)[number],
	{ options = {}, parameters = {}, ...more }: Partial<RunOptions> & { options?: object } = {},
) {
	return await withFakeTimers(
		async () =>
			await runNode(node, {
				credential: { baseUrl: scene.url, apiKey: SECRET },
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

const filesOf = ({ binary = {} }: INodeExecutionData) =>
	Object.entries(binary).map(([name, { fileName, mimeType, data }]) => [
		name,
		fileName,
		mimeType,
		Buffer.from(data, 'base64'),
	]);

const at = (name: string) => `${scene.url}/cdn/${name}`;
const four = () =>
	[
		`Here: ![cat](${at('cat%20one.png')}), ![pic](${at('pic?id=7')})`,
		`and [a film](${at('film.mp4')}) with ${at('report.pdf')}.`,
	].join(' ');

describe.each(NODES)('%s with Download Media', (node) => {
	test('every file of the reply becomes a binary field, named in its entry', async () => {
		scene.says = four;
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
			{ kind: 'image', url: at('cat%20one.png'), binary: 'media_0' },
			{ kind: 'image', url: at('pic?id=7'), binary: 'media_1' },
			{ kind: 'video', url: at('film.mp4'), binary: 'media_2' },
			{ kind: 'file', url: at('report.pdf'), binary: 'media_3' },
		]);
		expect(item!.pairedItem).toStrictEqual({ item: 0 });
		expect(scene.files()).toHaveLength(4);
		expect(JSON.stringify([scene.files(), run])).not.toContain(SECRET);
	});

	test('with an error output only failed calls go there, and items keep their order', async () => {
		scene.says = (question) => (question === 'fail' ? 400 : at(`${question}.mp4`));
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
		const good = { failed: false, binary: [] };
		expect(links(outputs[0])).toStrictEqual([
			{ ...good, media: [at('film.mp4')], binary: ['media_0'], pairedItem: { item: 0 } },
			{ ...good, media: [at('lost.mp4')], pairedItem: { item: 2 } },
		]);
		expect(links(outputs.at(-1))).toMatchObject([{ failed: true, pairedItem: { item: 1 } }]);
	});

	test('a raw output has the list of files as well', async () => {
		scene.says = () => at('film.mp4');
		const { outputs } = await ask(node, { parameters: { output: 'raw' } });
		const [item] = outputs[0]!;
		const { json: body } = item!;
		expect(body['response'] ?? body).toMatchObject({ usage: USAGE });
		expect(body['media']).toMatchObject([{ binary: 'media_0' }]);
		expect(filesOf(item!)).toHaveLength(1);
	});

	test('without the option, or without files, the item is unchanged', async () => {
		scene.says = four;
		const { outputs } = await ask(node, { options: { downloadMedia: false } });
		expect(outputs[0]![0]).not.toHaveProperty('binary');
		expect(outputs[0]![0]!.json['media']).toHaveLength(4);
		scene.says = () => 'Just words';
		const { outputs: plain } = await ask(node);
		expect(plain[0]![0]).not.toHaveProperty('binary');
		expect(plain[0]![0]!.json).not.toHaveProperty('media');
		expect(scene.files()).toHaveLength(0);
	});
});

test('a file that is part of the reply becomes a binary field of its type', async () => {
	const url = (type: string, content: Buffer | string) =>
		`${type};base64,${Buffer.from(content as string).toString('base64')}`;
	const image = (data: string) => ({ type: 'image_url', image_url: { url: `data:${data}` } });
	const own = Buffer.from([1, 2, 3]);
	const documents = [
		['text/csv', Buffer.from('a,b\n1,2\n'), 'media_1.csv'],
		['application/json', Buffer.from('{"a":1}'), 'media_2.json'],
		['application/pdf', REPORT, 'media_3.pdf'],
		['application/x-own', own, 'media_4'],
		['text/html', Buffer.from('<html></html>'), 'media_5.html'],
	] as const;
	const part = (type: string, content: Buffer | string) => ({
		type: 'file',
		file: { url: `DATA:${url(type, content)}` },
	});
	scene.says = () => [
		{ type: 'text', text: 'Here' },
		image(url('image/png', CAT)),
		...documents.map(([type, content]) => part(type, content)),
		part('application/pdf', '<html>Sign in</html>'),
		image(url('image/png', 'no access')),
		image('image/png;base64,***'),
		{
			type: 'video_url',
			video_url: { url: `data:${url('video/mp4', Buffer.alloc(20_000))}` },
		},
	];
	const { status, outputs } = await ask('chatCompletion', { options: { maximumFileSize: 0.01 } });
	expect(status).toBe('success');
	const [item] = outputs[0]!;
	expect(filesOf(item!)).toStrictEqual([
		['media_0', 'media_0.png', 'image/png', CAT],
		...documents.map(([type, content, name], index) => [
			`media_${index + 1}`,
			name,
			type,
			content,
		]),
	]);
	const { output, media } = item!.json as { output: string; media: object[] };
	expect(output).toBe('Here');
	expect(media[0]).toStrictEqual({
		kind: 'image',
		url: 'data:image/png;base64,',
		binary: 'media_0',
	});
	expect(media.slice(6)).toMatchObject([
		{ error_message: 'The data: URL does not contain the file, but text/html: Sign in' },
		{ error_message: 'The data: URL does not contain an image, but text/plain: no access' },
		{ error_message: expect.stringContaining('The data: URL cannot be decoded') as string },
		{
			error_message:
				'Maximum File Size is 0.01 MB, but the file is larger. Raise the limit under Options',
		},
	]);
});

test('a file that cannot be downloaded, or is too large, loses neither the text nor the URL', async () => {
	scene.says = four;
	files['/cdn/pic?id=7'] = 403;
	files['/cdn/film.mp4'] = ['video/mp4', sampleFile('video/mp4', 'x'.repeat(200_000))];
	const options = { maximumFileSize: 0.1 };
	const { status, outputs, run } = await ask('chatCompletion', { options });
	expect(status).toBe('success');
	const [item] = outputs[0]!;
	expect(filesOf(item!).map(([name]) => name)).toStrictEqual(['media_0', 'media_3']);
	expect(item!.json).toMatchObject({ output: four() });
	expect(item!.json['media']).toMatchObject([
		{ binary: 'media_0' },
		{
			kind: 'image',
			url: at('pic?id=7'),
			error_message:
				'The file could not be downloaded (status 403). Open the URL of the file',
		},
		{
			error_message:
				'Maximum File Size is 0.1 MB, but the file has 0.2 MB. Raise the limit under Options',
		},
		{ binary: 'media_3' },
	]);
	expect(run.data.resultData.runData['Tested']![0]!.hints).toContainEqual({
		type: 'warning',
		location: 'outputPane',
		message: '2 files could not be downloaded. See "media" in the output.',
	});
});

test('in a tool run the node returns URLs only', async () => {
	scene.says = four;
	const run = await runNode('chatCompletionTool', {
		credential: { baseUrl: scene.url, apiKey: SECRET },
		items: [{ prompt: 'Show me' }],
		parameters: { streaming: 'off', options: { downloadMedia: true } },
	});
	expect(run.outputs[0]![0]!.json['media']).toHaveLength(4);
	expect(run.outputs[0]![0]).not.toHaveProperty('binary');
	expect(scene.files()).toHaveLength(0);
});

test.each(['https://cdn.example/a.png', ['https://cdn.example/a.png'], 7])(
	'a field "media" of the service is not ours: %j',
	async (media) => {
		scene.beside = { ...scene.beside, media };
		scene.says = () => 'Here it is';
		const { error, outputs } = await ask('chatCompletion', { parameters: { output: 'raw' } });
		expect(error).toBeUndefined();
		expect(outputs[0]![0]!.json).toMatchObject({ media });
	},
);
