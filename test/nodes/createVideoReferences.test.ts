import type { IDataObject } from 'n8n-workflow';

import { signedFileUrl } from '../../nodes/shared/files/fileSource';
import { runNode, type RunOptions } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

const server = serverForEach((response, { body }, index) => {
	const { model } = body as { model: string };
	json(response, 200, { task_id: `task-${index + 1}`, status: 'queued', model });
});

const model = (value: string) => ({ __rl: true, mode: 'id', value });
const url = (name: string) => `https://example.com/${name}`;

async function create(parameters: IDataObject, more: Partial<RunOptions> = {}) {
	return await runNode('createVideo', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		parameters: { model: model('video-m1'), prompt: 'A lake', ...parameters },
		...more,
	});
}

const files = (...file: IDataObject[]) => ({ references: { file } });
const DEFAULTS = {
	model: 'video-m1',
	prompt: 'A lake',
	aspect_ratio: '16:9',
	duration: 5,
	size: '720P',
	generate_audio: true,
	watermark: false,
};

describe('references', () => {
	test('each kind in its order, from a URL and from a list of URLs', async () => {
		await create(
			{
				imageMode: 'reference',
				...files(
					{ kind: 'image', source: 'url', url: ` ${url('first.png')} ` },
					{ kind: 'audio', source: 'url', url: url('voice.mp3') },
					{ kind: 'image', source: 'url', url: '={{ $json.pictures }}' },
					{ kind: 'video', source: 'url', url: '={{ $json.clips }}' },
				),
			},
			{ items: [{ pictures: [url('2.png'), url('3.png')], clips: [] }] },
		);
		expect(server.requests[0]!.body).toStrictEqual({
			...DEFAULTS,
			images: [url('first.png'), url('2.png'), url('3.png')],
			audios: [url('voice.mp3')],
			image_mode: 'reference',
		});
	});

	test('first and last frame, with the only image mode of the model', async () => {
		await create({
			model: model('video-m3'),
			...files(
				{ kind: 'image', source: 'url', url: url('first.png') },
				{ kind: 'image', source: 'url', url: url('last.png') },
			),
		});
		expect(server.requests[0]!.body).toStrictEqual({
			model: 'video-m3',
			prompt: 'A lake',
			aspect_ratio: '16:9',
			duration: 5,
			size: '720P',
			watermark: false,
			images: [url('first.png'), url('last.png')],
			image_mode: 'first_last_frame',
		});
	});

	test.each<[object, string]>([
		[{ kind: 'image', url: '' }, 'References: entry 1 has no URL'],
		[{ kind: 'image', url: '={{ $json.none }}' }, 'References: entry 1 has no URL'],
		[{ kind: 'image', url: '={{ [null] }}' }, 'References: entry 1 has no URL'],
		[{ kind: 'image', url: 'data:image/png;base64,AAAA' }, 'entry 1 is a data: URL'],
		[{ kind: 'image', url: 'iVBORw0KGgo=' }, 'entry 1 is not a valid URL'],
		[{ kind: 'image', url: 'ftp://example.com/a.png' }, 'entry 1 is not a valid URL'],
		[{ kind: 'picture', url: 'https://example.com' }, 'entry 1, Kind is picture'],
		[
			{ kind: 'image', source: 'binary', binaryProperty: 'data' },
			'References: entry 1 cannot be published: the item contains the file itself, as n8n has not stored it',
		],
		[
			{ kind: 'image', source: 'binary', binaryProperty: '={{ Object.keys($binary) }}' },
			'References: entry 1 cannot be published: the item contains the file itself, as n8n has not stored it',
		],
		...['other', 'constructor', '__proto__', 'file'].map((name): [object, string] => [
			{ kind: 'image', source: 'binary', binaryProperty: name },
			`References: entry 1 has the name ${name}, but the item has no such binary field`,
		]),
		...['={{ $json.file }}', '={{ [$json.file] }}', '={{ $binary }}', '={{ [["data"]] }}'].map(
			(binaryProperty): [object, string] => [
				{ kind: 'image', source: 'binary', binaryProperty },
				'References: entry 1 has no name of a binary field, but ',
			],
		),
	])('%j fails: %s', async (file, message) => {
		const { error } = await create(files({ source: 'url', ...file }), {
			// The item names a private file of another workflow.
			items: [{ file: { id: 'filesystem-v2:x/y', mimeType: 'image/png', data: 'AAAA' } }],
			binaries: [{ data: { data: 'AAAA', mimeType: 'image/png' } }],
		});
		expect(error).toMatchObject({
			name: 'NodeOperationError',
			message: expect.stringContaining(message) as string,
		});
		expect(server.requests).toHaveLength(0);
	});

	test.each(['http://10.0.0.7/a.png', 'http://localhost/a.png', 'http://[::1]/a.png'])(
		'%s is valid only for a service that is itself on a private network',
		async (address) => {
			const file = files({ kind: 'image', source: 'url', url: address });
			expect((await create(file)).status).toBe('success');
			const far = await create(file, {
				credential: { baseUrl: 'https://api.example.com', apiKey: 'k' },
			});
			expect(far.error!.message).toMatch(/^References: entry 1 points to a private network/);
		},
	);

	test('a kind that the model does not support is not sent as an image', async () => {
		const { error } = await create({
			model: model('video-m7'),
			...files({ kind: 'video', source: 'url', url: url('clip.mp4') }),
		});
		expect(error).toMatchObject({
			message: 'References contain 1 video. video-m7 supports no video',
			description: 'Remove it',
		});
	});
});

describe('unsupported values', () => {
	const parameters = {
		model: model('={{ $json.model }}'),
		duration: '={{ $json.seconds }}',
		size: '={{ $json.size }}',
	};

	test('a duration becomes one of the model where the service maps it, which is reported; a size gets its spelling', async () => {
		const items = [
			{ model: 'video-m7', seconds: 7 },
			{ model: 'video-m1', seconds: 5 },
			{ model: 'video-m6', seconds: 10, size: '1080P' },
		];
		const { outputs, run } = await create(parameters, { items });
		expect(server.requests.map(({ body }) => body)).toStrictEqual([
			{ model: 'video-m7', prompt: 'A lake', duration: 8 },
			{ model: 'video-m1', prompt: 'A lake', duration: 5 },
			{ model: 'video-m6', prompt: 'A lake', duration: 10, size: '1080p' },
		]);
		expect(outputs[0]!.map(({ json: { adjustments } }) => adjustments)).toStrictEqual([
			[
				{
					field: 'duration',
					from: 7,
					to: 8,
					reason: 'video-m7 supports Duration 4, 8 or 12',
				},
			],
			undefined,
			undefined,
		]);
		expect(run.data.resultData.runData['Tested']![0]!.hints).toContainEqual({
			type: 'warning',
			location: 'outputPane',
			message: 'The duration was adjusted in 1 item. See "adjustments" in the output.',
		});
	});

	test('a value that the model does not have is refused before the first item is sent', async () => {
		const message = 'Size is 4K. video-m6 supports Size 720p or 1080p';
		const description = 'Use 720p or 1080p';
		const items = [
			{ model: 'video-m1', seconds: 5 },
			{ model: 'video-m6', seconds: 5, size: '4K' },
		];
		const { error } = await create(parameters, { items });
		expect(error).toMatchObject({ name: 'NodeOperationError', message, description });
		expect(server.requests).toHaveLength(0);

		const { outputs } = await create(parameters, { items, onError: 'continueErrorOutput' });
		expect(outputs[0]!.map(({ json: { model: code } }) => code)).toStrictEqual(['video-m1']);
		expect(outputs[1]!.map(({ json: { error: said } }) => said)).toStrictEqual([message]);
	});
});

test('a dry run returns the request and its adjustments, and sends nothing', async () => {
	const { outputs } = await create(
		{
			model: model('={{ $json.model }}'),
			duration: 6,
			options: { dryRun: true },
			...files({ kind: 'image', source: 'url', url: url('a.png') }),
		},
		{ items: [{ model: 'video-m3' }, { model: 'video-x9' }] },
	);
	expect(server.requests).toHaveLength(0);
	const unsent = { task_id: '', reason: 'dry_run' };
	expect(outputs[0]!.map(({ json: fields }) => fields)).toStrictEqual([
		{
			...unsent,
			request: {
				model: 'video-m3',
				prompt: 'A lake',
				images: [url('a.png')],
				duration: 10,
			},
			adjustments: [
				{
					field: 'duration',
					from: 6,
					to: 10,
					reason: 'video-m3 supports Duration 5 or 10',
				},
			],
		},
		{
			...unsent,
			request: {
				model: 'video-x9',
				prompt: 'A lake',
				images: [url('a.png')],
				duration: 6,
			},
			adjustments: [],
		},
	]);
});

test('an invalid item stops the node before anything is sent', async () => {
	const items = ['p1', 'p2', '', 'p4'].map((prompt) => ({ prompt }));
	const { error } = await create({ prompt: '={{ $json.prompt }}' }, { items });
	expect(error).toMatchObject({ message: 'Prompt is empty', context: { itemIndex: 2 } });
	expect(server.requests).toHaveLength(0);
});

test('the signed URL of a file expires after one hour', () => {
	const file = { id: 'filesystem:a', mimeType: 'image/png', data: '' };
	const run = {
		mainItems: () => [{ json: {}, binary: { photo: file } }],
		sign: (_file: unknown, expiresIn: string) =>
			`https://n8n.example.com/signed?expires=${expiresIn}`,
	};
	const options = { field: 'Images', allowPrivate: false };
	expect(signedFileUrl(run, 0, 'photo', options)).toMatch(/expires=1h$/);
});
