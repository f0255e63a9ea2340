import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';

import { signedFileUrl } from '../../nodes/shared/files/fileSource';
import { bodyOf } from '../support/chatReplies';
import { byId, reply, videoService } from '../support/createdVideos';
import { runNode, type RunOptions } from '../support/engine';
import { askThrough } from '../support/fourNodes';
import { SPEC_ROWS } from '../support/specVideoModels';

const service = videoService();
const { server } = service;
const bodies = () => server.requests.map(({ body }) => body);

/** Runs the node with its default settings. */
async function create(parameters: IDataObject, more: Partial<RunOptions> = {}) {
	return await runNode('createVideo', {
		...service.environment(),
		parameters: { prompt: 'A lake', ...parameters },
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

describe('the request', () => {
	test('has the defaults of the model, and the output is the task', async () => {
		const credential = { baseUrl: `${server.url}/v1/`, apiKey: 'k-secret' };
		const { outputs } = await create({}, { credential });
		expect(server.requests).toMatchObject([
			{
				method: 'POST',
				path: '/v1/videos/generations',
				headers: { authorization: 'Bearer k-secret' },
			},
		]);
		expect(bodies()).toStrictEqual([DEFAULTS]);
		expect(outputs).toStrictEqual([
			[
				{
					json: {
						task_id: 'task-A lake',
						status: 'queued',
						model: 'video-m1',
						created_at: 1,
						request: DEFAULTS,
						output: 'The video is not finished: task task-A lake',
					},
					pairedItem: { item: 0 },
				},
			],
		]);
	});

	test.each(SPEC_ROWS)(
		'of %s has only the fields that it supports (spec 2.11)',
		async (code, spec) => {
			const { outputs } = await create({
				model: { ...byId(code), mode: 'list' },
				// Left over from another model, and hidden in the editor.
				...(spec.sizes.length === 0 ? { size: '1080P' } : {}),
				...(spec.generatesAudio ? {} : { generateAudio: false }),
			});
			const [mode] = Object.keys(spec.modes);
			expect(bodies()).toStrictEqual([
				{
					model: code,
					prompt: 'A lake',
					aspect_ratio: spec.ratios[0],
					duration: spec.defaultDuration,
					...(spec.defaultSize === undefined ? {} : { size: spec.defaultSize }),
					...(mode === undefined || spec.sizes.length > 0 ? {} : { mode }),
					...(spec.generatesAudio ? { generate_audio: true } : {}),
					watermark: false,
				},
			]);
			expect(outputs[0]![0]!.json).not.toHaveProperty('adjustments');
		},
	);

	test('has fields that are expressions, evaluated per item', async () => {
		await create(
			{
				model: byId('={{ $json.model }}'),
				prompt: '={{ $json.topic }} at dawn',
				aspectRatio: '={{ $json.shape }}',
				duration: '={{ $json.seconds }}',
				size: '={{ $json.size }}',
			},
			{
				items: [
					{ model: 'video-m1', topic: 'A lake', shape: '1:1', seconds: 4, size: '480P' },
					{ model: 'video-m7', topic: 'A city', shape: '9:16', seconds: 12 },
				],
			},
		);
		expect(bodies()).toStrictEqual([
			{
				model: 'video-m1',
				prompt: 'A lake at dawn',
				aspect_ratio: '1:1',
				duration: 4,
				size: '480P',
			},
			{ model: 'video-m7', prompt: 'A city at dawn', aspect_ratio: '9:16', duration: 12 },
		]);
	});

	const BY_ITEM = {
		model: byId('={{ $json.model }}'),
		duration: '={{ $json.seconds }}',
		size: '={{ $json.size }}',
	};

	test('has a duration of the model where the service maps it, which is reported, and its spelling of a size', async () => {
		const items = [
			{ model: 'video-m7', seconds: 7 },
			{ model: 'video-m1', seconds: 5 },
			{ model: 'video-m6', seconds: 10, size: '1080P' },
		];
		const { outputs, run } = await create(BY_ITEM, { items });
		expect(bodies()).toStrictEqual([
			{ model: 'video-m7', prompt: 'A lake', duration: 8 },
			{ model: 'video-m1', prompt: 'A lake', duration: 5 },
			{ model: 'video-m6', prompt: 'A lake', duration: 10, size: '1080p' },
		]);
		const [first, ...others] = outputs[0]!.map(({ json: fields }) => fields);
		const reason = 'video-m7 supports Duration 4, 8 or 12';
		expect(first).toMatchObject({
			adjustments: [{ field: 'duration', from: 7, to: 8, reason }],
			request: bodies()[0] as object,
		});
		for (const other of others) expect(other).not.toHaveProperty('adjustments');
		expect(run.data.resultData.runData['Tested']![0]!.hints).toContainEqual({
			type: 'warning',
			location: 'outputPane',
			message: 'The duration was adjusted in 1 item. See "adjustments" in the output.',
		});
	});

	test('is not sent with a value that the model does not have, nor are those before it', async () => {
		const message = 'Size is 4K. video-m6 supports Size 720p or 1080p';
		const description = 'Use 720p or 1080p';
		const items = [
			{ model: 'video-m1', seconds: 5 },
			{ model: 'video-m6', seconds: 5, size: '4K' },
		];
		const { error } = await create(BY_ITEM, { items });
		expect(error).toMatchObject({ name: 'NodeOperationError', message, description });
		expect(bodies()).toStrictEqual([]);

		const { outputs } = await create(BY_ITEM, { items, onError: 'continueErrorOutput' });
		expect(outputs[0]!.map(({ json: { model: code } }) => code)).toStrictEqual(['video-m1']);
		expect(outputs[1]!.map(({ json: { error: said } }) => said)).toStrictEqual([message]);
	});

	test.each<[IDataObject, string, number?]>([
		[{ prompt: '={{ ["p", "p", " ", "p"][$itemIndex] }}' }, 'Prompt is empty', 2],
		[{ prompt: '={{ [] }}' }, 'Prompt is []'],
		[{ prompt: '={{ $json.none !== undefined }}' }, 'Prompt is false'],
		[{ model: byId('={{ $json.none }}') }, 'Model is empty'],
	])('is not sent for any item where one has %j', async (parameters, message, itemIndex = 0) => {
		const { error } = await create(parameters, { items: [{}, {}, {}, {}] });
		const context = { itemIndex };
		expect(error).toMatchObject({ name: 'NodeOperationError', message, context });
		expect(bodies()).toStrictEqual([]);
	});

	test('has a date of an expression as a text without quotes', async () => {
		await create({ prompt: '={{ DateTime.fromISO("2026-01-02T03:04:05Z").toUTC() }}' });
		expect(bodies()).toMatchObject([{ prompt: '2026-01-02T03:04:05.000Z' }]);
	});
});

test('a dry run returns the request and its adjustments, and sends nothing', async () => {
	const { outputs } = await create(
		{
			model: byId('={{ $json.model }}'),
			duration: 6,
			options: { dryRun: true },
			...files({ kind: 'image', source: 'url', url: 'https://example.com/a' }),
		},
		{ items: [{ model: 'video-m3' }, { model: 'video-x9' }] },
	);
	expect(bodies()).toStrictEqual([]);
	const dry = (model: string, duration: number, adjustments: readonly object[]) => ({
		task_id: '',
		reason: 'dry_run',
		output: 'The video was not created: this was a dry run',
		request: { model, prompt: 'A lake', images: ['https://example.com/a'], duration },
		adjustments,
	});
	const reason = 'video-m3 supports Duration 5 or 10';
	expect(outputs[0]!.map(({ json: fields }) => fields)).toStrictEqual([
		dry('video-m3', 10, [{ field: 'duration', from: 6, to: 10, reason }]),
		dry('video-x9', 6, []),
	]);
});

describe('an expression in a Fixed field', () => {
	test.each([
		['Prompt', { prompt: 'A {{ $json.thing }}' }],
		['Prompt', { prompt: "A {{ $('Rows').item.json.thing }}" }],
		['URL', files({ kind: 'image', source: 'url', url: '{{ $json.url }}' })],
		['Input Data Field Name', files({ source: 'binary', binaryProperty: '{{ $json.name }}' })],
		['Extra Body Fields', { options: { extraBody: '{ "seed": "{{ $json.seed }}" }' } }],
	])('is an error before paying: %s', async (label, parameters) => {
		const { error } = await create(parameters);
		expect(error!.message).toMatch(new RegExp(`^${label} has the text .*does not evaluate`));
		expect(bodies()).toStrictEqual([]);
	});

	test.each([
		['a file that is not downloaded', { binaryProperty: '{{ $json.name }}' }],
		['a field of another model', { qualityMode: '{{ $json.mode }}' }],
	])('says nothing about a field that nobody sees: %s', async (_what, parameters) => {
		const { status } = await create(parameters);
		expect(status).toBe('success');
	});

	test.each([
		['A sign: {{ $5 }}'],
		['A {{ name }} tag'],
		['{{$}} and {{}}'],
		['{ "a": { "b": "$1" } }'],
		['={ "a": { "b": {{ 1 }}}}', '{ "a": { "b": 1}}'],
	])('and other braces are prompts: %s', async (prompt, sent = prompt) => {
		await create({ prompt });
		expect(bodies()).toMatchObject([{ prompt: sent }]);
	});

	test('and braces that are left behind an expression are an error before paying', async () => {
		const { error } = await create({ prompt: "={{ 'a lighthouse' }} }}" });
		expect(error!.message).toMatch(/^Prompt has }} outside of its expression/);
		expect(bodies()).toStrictEqual([]);
	});

	test.each(['reply', 'assistant'] as const)('is a hint in a chat: %s', async (node) => {
		const text = 'Hello {{ $json.name }}';
		service.answers = { '/v1/chat/completions': reply(bodyOf({ content: 'Hi' })) };
		const { hints } = await askThrough(node, false, server.url, {
			prompt: text,
			message: text,
		});
		expect(hints).toContainEqual(
			expect.stringMatching(/has the text {{ \$json.name }}, which n8n does not.*Expression/),
		);
	});
});

describe('Extra Body Fields', () => {
	test('go with the request, and the output says so', async () => {
		const extra = { seed: 7, negative_prompt: 'blurry', camera_fixed: true, cfg_scale: 0.5 };
		const { outputs } = await create({ options: { extraBody: JSON.stringify(extra) } });
		expect(bodies()).toMatchObject([{ prompt: 'A lake', ...extra }]);
		expect(outputs[0]![0]!.json['request']).toMatchObject(extra);
	});

	test.each([
		['prompt', { prompt: 'x' }],
		['model', { seed: 1, model: 'x' }],
		['watermark', { watermark: false }],
	])('%s has a field of its own: nothing is sent', async (name, extra) => {
		const { error } = await create({ options: { extraBody: JSON.stringify(extra) } });
		expect(error!.message).toBe(`Extra Body Fields contains "${name}"`);
		expect(error!.description).toBe(
			'Remove it: the form sets prompt, model, images, videos, audios, aspect_ratio, duration, size, mode, image_mode, generate_audio, watermark',
		);
		expect(bodies()).toStrictEqual([]);
	});
});

test('an answer whose task ID is white space is none of this API', async () => {
	service.answers = { 'A lake': reply({ task_id: ' ' }) };
	const { error } = await create({});
	expect(error!.name).toBe('NodeApiError');
	expect(error!.message).toMatch(
		/^Unexpected response: this is not the Agent Video API; the task may have been created/,
	);
});

describe('references', () => {
	const url = (name: string) => `https://example.com/${name}`;
	const image = (name: string) => ({ kind: 'image', source: 'url', url: url(name) });

	test('each kind is in its order, from a URL and from a list of URLs', async () => {
		await create(
			{
				imageMode: 'reference',
				...files(
					{ ...image('first.png'), url: ` ${url('first.png')} ` },
					{ ...image('voice.mp3'), kind: 'audio' },
					{ ...image(''), url: '={{ $json.pictures }}' },
					{ ...image(''), kind: 'video', url: '={{ $json.clips }}' },
				),
			},
			{ items: [{ pictures: [url('2.png'), url('3.png')], clips: [] }] },
		);
		expect(bodies()).toStrictEqual([
			{
				...DEFAULTS,
				images: [url('first.png'), url('2.png'), url('3.png')],
				audios: [url('voice.mp3')],
				image_mode: 'reference',
			},
		]);
	});

	test('the first and last frame have the only image mode of the model', async () => {
		const frames = files(image('first.png'), image('last.png'));
		await create({ model: byId('video-m3'), ...frames });
		const { generate_audio: _, ...defaults } = DEFAULTS;
		const images = [url('first.png'), url('last.png')];
		expect(bodies()).toStrictEqual([
			{ ...defaults, model: 'video-m3', images, image_mode: 'first_last_frame' },
		]);
	});

	const byName = (field: string) => ({ kind: 'image', source: 'binary', binaryProperty: field });
	const NO_URL = 'References: entry 1 has no URL';
	const NOT_VALID = 'entry 1 is not a valid URL';
	const NOT_STORED =
		'References: entry 1 cannot be published: the item contains the file itself, as n8n has not stored it';
	test.each<[object, string]>([
		[{ kind: 'image', url: '' }, NO_URL],
		[{ kind: 'image', url: '={{ $json.none }}' }, NO_URL],
		[{ kind: 'image', url: '={{ [null] }}' }, NO_URL],
		[{ kind: 'image', url: 'data:image/png;base64,AAAA' }, 'entry 1 is a data: URL'],
		[{ kind: 'image', url: 'iVBORw0KGgo=' }, NOT_VALID],
		[{ kind: 'image', url: 'ftp://example.com/a.png' }, NOT_VALID],
		[{ kind: 'picture', url: 'https://example.com' }, 'entry 1, Kind is picture'],
		[byName('data'), NOT_STORED],
		[byName('={{ Object.keys($binary) }}'), NOT_STORED],
		...['other', 'constructor', '__proto__', 'file'].map((name): [object, string] => [
			byName(name),
			`References: entry 1 has the name ${name}, but the item has no such binary field`,
		]),
		...['={{ $json.file }}', '={{ [$json.file] }}', '={{ $binary }}', '={{ [["data"]] }}'].map(
			(name): [object, string] => [
				byName(name),
				'References: entry 1 has no name of a binary field, but ',
			],
		),
	])('%j fails: %s', async (file, message) => {
		const { error } = await create(files({ source: 'url', ...file }), {
			// The item names a private file of another workflow.
			items: [{ file: { id: 'filesystem-v2:x/y', mimeType: 'image/png', data: 'AAAA' } }],
			binaries: [{ data: { data: 'AAAA', mimeType: 'image/png' } }],
		});
		expect(error!.name).toBe('NodeOperationError');
		expect(error!.message).toContain(message);
		expect(bodies()).toStrictEqual([]);
	});

	test.each(['http://10.0.0.7/a.png', 'http://localhost/a.png', 'http://[::1]/a.png'])(
		'%s is valid only for a service that is itself on a private network',
		async (address) => {
			const file = files({ ...image(''), url: address });
			expect((await create(file)).status).toBe('success');
			const far = await create(file, {
				credential: { baseUrl: 'https://api.example.com', apiKey: 'k' },
			});
			expect(far.error!.message).toMatch(/^References: entry 1 points to a private network/);
		},
	);

	test.each([' ', '\n', ', ', ',', ';', '\t', ' | '])(
		'two URLs in one cell, with %j between them, are an error before anything is sent',
		async (between) => {
			const cell = [url('1.png'), url('2.png')].join(between);
			const { error } = await create(files({ ...image(''), url: cell }));
			expect(error!.message).toBe('References: entry 1 has more than one URL');
			expect(error!.description).toContain('an expression that returns a list');
			expect(bodies()).toStrictEqual([]);
		},
	);

	// A signed URL lets everybody read the file for an hour: the service gets it, the output does not.
	test.each([false, true])(
		'the output names a binary field in place of its signed URL, with Dry Run %s',
		async (dryRun) => {
			const token = 'signed-secret';
			const stored = Container.get(BinaryDataService);
			jest.spyOn(stored, 'createSignedToken').mockReturnValue(token);
			const FILE = { data: 'filesystem-v2', id: 'filesystem-v2:x', mimeType: 'image/png' };
			const far = 'https://x.example/y';
			const { outputs, run } = await create(
				{
					...files(byName('data, second one'), { kind: 'image', url: far }),
					options: { dryRun },
				},
				{ binaries: [{ data: FILE, 'second one': FILE }] },
			);
			const signed = expect.stringContaining(`token=${token}`) as string;
			expect(bodies()).toMatchObject(dryRun ? [] : [{ images: [signed, signed, far] }]);
			const images = ['binary field data', 'binary field second one', far];
			expect(outputs[0]).toMatchObject([{ json: { request: { images } } }]);
			expect(JSON.stringify([run.data, service.tables.rows])).not.toContain(token);
		},
	);

	test('the signed URL of a file expires after one hour', () => {
		const file = { id: 'filesystem:a', mimeType: 'image/png', data: '' };
		const run = {
			sign: (_file: unknown, expiresIn: string) =>
				`https://n8n.example.com/signed?expires=${expiresIn}`,
		};
		const options = { field: 'Images', allowPrivate: false };
		expect(signedFileUrl(run, file, options)).toMatch(/expires=1h$/);
	});
});
