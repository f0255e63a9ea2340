import { runNode, type RunOptions } from '../support/engine';
import { askThrough } from '../support/fourNodes';
import { json, serverForEach, type Script } from '../support/scriptedServer';
import { SPEC_ROWS } from '../support/specVideoModels';
import { FAILURE } from '../support/failureTexts';

let script: Script;

const server = serverForEach((...args) => {
	script(...args);
});

beforeEach(() => {
	script = (response, { body }, index) => {
		const { model } = body as { model: string };
		json(response, 200, {
			created_at: null,
			task_id: `task-${index + 1}`,
			status: 'queued',
			model,
		});
	};
});

const model = (value: string) => ({ __rl: true, mode: 'list', value });

async function create(parameters: RunOptions['parameters'], more: Partial<RunOptions> = {}) {
	const credential = { baseUrl: `${server.url}/v1/`, apiKey: 'k-secret' };
	return await runNode('createVideo', { credential, parameters: { ...parameters }, ...more });
}

test('the request has the defaults of the model, and the output is the task', async () => {
	const { outputs } = await create({ model: model('video-m1'), prompt: 'A lake' });
	expect(server.requests).toMatchObject([
		{
			method: 'POST',
			path: '/v1/videos/generations',
			headers: { authorization: 'Bearer k-secret' },
		},
	]);
	expect(server.requests[0]!.body).toStrictEqual({
		model: 'video-m1',
		prompt: 'A lake',
		aspect_ratio: '16:9',
		duration: 5,
		size: '720P',
		generate_audio: true,
		watermark: false,
	});
	expect(outputs).toStrictEqual([
		[
			{
				json: {
					task_id: 'task-1',
					status: 'queued',
					model: 'video-m1',
					request: server.requests[0]!.body,
					output: 'The video is not finished: task task-1',
				},
				pairedItem: { item: 0 },
			},
		],
	]);
});

test.each(SPEC_ROWS)('%s gets only the fields that it supports (spec 2.11)', async (code, spec) => {
	const { outputs } = await create({
		model: model(code),
		prompt: 'A lake',
		// Left over from another model, and hidden in the editor.
		...(spec.sizes.length === 0 ? { size: '1080P' } : {}),
		...(spec.generatesAudio ? {} : { generateAudio: false }),
	});
	const [mode] = Object.keys(spec.modes);
	expect(server.requests[0]!.body).toStrictEqual({
		model: code,
		prompt: 'A lake',
		aspect_ratio: spec.ratios[0],
		duration: spec.defaultDuration,
		...(spec.defaultSize === undefined ? {} : { size: spec.defaultSize }),
		...(mode === undefined || spec.sizes.length > 0 ? {} : { mode }),
		...(spec.generatesAudio ? { generate_audio: true } : {}),
		watermark: false,
	});
	expect(outputs[0]![0]!.json).not.toHaveProperty('adjustments');
});

test('a model entered by ID gets the entered values and nothing else', async () => {
	await create({
		model: { __rl: true, mode: 'id', value: 'video-x9' },
		prompt: 'A lake',
		duration: 7,
		size: '4K',
	});
	expect(server.requests[0]!.body).toStrictEqual({
		model: 'video-x9',
		prompt: 'A lake',
		duration: 7,
		size: '4K',
	});
});

test('every field can be an expression, evaluated per item', async () => {
	await create(
		{
			model: { __rl: true, mode: 'id', value: '={{ $json.model }}' },
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
	expect(server.requests.map(({ body }) => body)).toStrictEqual([
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

test.each([
	[{ model: model('video-m1'), prompt: ' ' }, 'Prompt is empty'],
	[{ model: model('video-m1'), prompt: '={{ [] }}' }, 'Prompt is []'],
	[{ model: model('video-m1'), prompt: '={{ $json.none !== undefined }}' }, 'Prompt is false'],
	[
		{ model: { __rl: true, mode: 'id', value: '={{ $json.none }}' }, prompt: 'A lake' },
		'Model is empty',
	],
	[{ model: model('video-m1'), prompt: 'A lake', options: { timeout: 0 } }, 'Timeout is 0'],
])('invalid input %j fails before any request', async (parameters, message) => {
	const { status, error } = await create(parameters);
	expect(status).toBe('error');
	expect(error).toMatchObject({ name: 'NodeOperationError', message });
	expect(server.requests).toHaveLength(0);
});

test('an item that the service rejects fails the node when the others have gone on, and the error names them', async () => {
	script = (response, { body }) => {
		const { prompt } = body as { prompt: string };
		if (prompt === 'p2')
			json(response, 409, { error: { message: 'sensitive', type: 'moderation' } });
		else
			json(response, 200, { task_id: `task-${prompt}`, status: 'queued', model: 'video-m1' });
	};
	const items = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8'].map((prompt) => ({ prompt }));
	const { error } = await create(
		{ model: model('video-m1'), prompt: '={{ $json.prompt }}' },
		{ items },
	);
	expect(error).toMatchObject({
		name: 'NodeApiError',
		httpCode: '409',
		message: expect.stringContaining(
			`1 of 8 videos failed: item 1 (${FAILURE.moderated}). 7 `,
		) as string,
	});
	expect(error!.message).toMatch(/have gone on: .*Retry creates only what is missing/);
	expect(error!.description).toContain('The service said: "sensitive"');
	expect(error!.description).toMatch(/Tasks still generating: task-p/);
	expect(server.requests).toHaveLength(items.length);
});

test('with Continue On Fail each error is on its own item', async () => {
	script = (response, { body }) => {
		const { prompt } = body as { prompt: string };
		if (prompt === 'p2') json(response, 406, { error: { message: 'no credit', type: 'x' } });
		else
			json(response, 200, { task_id: `task-${prompt}`, status: 'queued', model: 'video-m1' });
	};
	const items = ['p1', 'p2', 'p3'].map((prompt) => ({ prompt }));
	const { status, outputs } = await create(
		{ model: model('video-m1'), prompt: '={{ $json.prompt }}' },
		{ items, onError: 'continueErrorOutput' },
	);
	expect(status).toBe('success');
	expect(outputs[0]!.map(({ json: { task_id } }) => task_id)).toStrictEqual([
		'task-p1',
		'task-p3',
	]);
	expect(outputs[1]!.map(({ json: fields }) => fields)).toStrictEqual([
		{
			error: FAILURE.noCredit,
			message: expect.stringContaining('Top up the account') as string,
			details: {
				kind: 'http',
				status: 406,
				service_message: 'no credit',
				service_type: 'x',
				task_id: '',
			},
		},
	]);
});

describe('an expression in a Fixed field', () => {
	test.each([
		['Prompt', { prompt: 'A {{ $json.thing }}' }],
		['Prompt', { prompt: "A {{ $('Rows').item.json.thing }}" }],
		[
			'URL',
			{ references: { file: [{ kind: 'image', source: 'url', url: '{{ $json.url }}' }] } },
		],
		[
			'Input Data Field Name',
			{ references: { file: [{ source: 'binary', binaryProperty: '{{ $json.name }}' }] } },
		],
		['Extra Body Fields', { options: { extraBody: '{ "seed": "{{ $json.seed }}" }' } }],
	])('is an error before paying: %s', async (label, parameters) => {
		const { error } = await create({ prompt: 'A lake', ...parameters });
		expect(error!.message).toMatch(new RegExp(`^${label} has the text .*does not evaluate`));
		expect(server.requests).toHaveLength(0);
	});

	test.each([
		['a file that is not downloaded', { binaryProperty: '{{ $json.name }}' }],
		['a field of another model', { qualityMode: '{{ $json.mode }}' }],
	])('says nothing about a field that nobody sees: %s', async (_what, parameters) => {
		const { status } = await create({ prompt: 'A lake', ...parameters });
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
		expect(server.requests[0]!.body).toMatchObject({ prompt: sent });
	});

	test('and braces that are left behind an expression are an error before paying', async () => {
		const { error } = await create({ prompt: "={{ 'a lighthouse' }} }}" });
		expect(error!.message).toMatch(/^Prompt has }} outside of its expression/);
		expect(server.requests).toHaveLength(0);
	});

	test.each(['reply', 'assistant'] as const)('is a hint in a chat: %s', async (node) => {
		script = (response) => {
			const message = { role: 'assistant', content: 'Hi' };
			json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
		};
		const text = 'Hello {{ $json.name }}';
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
	const withExtra = async (extraBody: unknown) =>
		await create({ prompt: 'A lake', options: { extraBody: extraBody as string } });

	test('go with the request, and the output says so', async () => {
		const extra = { seed: 7, negative_prompt: 'blurry', camera_fixed: true, cfg_scale: 0.5 };
		const { outputs } = await withExtra(JSON.stringify(extra));
		expect(server.requests[0]!.body).toMatchObject({ prompt: 'A lake', ...extra });
		expect(outputs[0]![0]!.json['request']).toMatchObject(extra);
	});

	test.each([
		['prompt', { prompt: 'x' }],
		['model', { seed: 1, model: 'x' }],
		['images', { images: [] }],
		['videos', { videos: [] }],
		['audios', { audios: [] }],
		['size', { size: '1' }],
		['aspect_ratio', { aspect_ratio: '1:1' }],
		['duration', { duration: 1 }],
		['mode', { mode: 'pro' }],
		['image_mode', { image_mode: 'x' }],
		['generate_audio', { generate_audio: true }],
		['watermark', { watermark: false }],
	])('%s has a field of its own: nothing is sent', async (name, extra) => {
		const { error } = await withExtra(JSON.stringify(extra));
		expect(error!.message).toBe(`Extra Body Fields contains "${name}"`);
		expect(error!.description).toBe(
			'Remove it: the form sets prompt, model, images, videos, audios, aspect_ratio, duration, size, mode, image_mode, generate_audio, watermark',
		);
		expect(server.requests).toHaveLength(0);
	});

	test('that are no object are an error before anything is sent', async () => {
		const { error } = await withExtra('[1]');
		expect(error!.message).toBe('Extra Body Fields is not a JSON object');
		expect(server.requests).toHaveLength(0);
	});

	test('belong to what a Retry knows an item by', async () => {
		script = (response, _request, index) => {
			if (index === 0) json(response, 200, { task_id: 'task-1', model: 'video-m1' });
			else json(response, 401, { error: { message: 'no' } });
		};
		const { error } = await create(
			{ prompt: 'A lake', options: { extraBody: '={{ { seed: Math.random() } }}' } },
			{ items: [{}, {}], retryOnFail: true },
		);
		expect(error!.message).toContain('was the same with other fields in the earlier try');
		expect(server.requests).toHaveLength(2);
	});
});

test('a date of an expression is a text without quotes', async () => {
	await create({ prompt: '={{ DateTime.fromISO("2026-01-02T03:04:05Z").toUTC() }}' });
	expect(server.requests[0]!.body).toMatchObject({ prompt: '2026-01-02T03:04:05.000Z' });
});

test.each([{ ok: true }, { task_id: ' ' }])('%j has no task ID: an error', async (body) => {
	script = (response) => {
		json(response, 200, body);
	};
	const { error } = await create({ model: model('video-m1'), prompt: 'A lake' });
	expect(error).toMatchObject({
		name: 'NodeApiError',
		message: expect.stringMatching(
			/^Unexpected response: this is not the Agent Video API; the task may have been created/,
		) as string,
	});
});

test.each<[object, string, boolean]>([
	[{ message: 'no credit', code: 406 }, FAILURE.noCredit, false],
	[{ message: 'bad', type: 'invalid_request_error' }, FAILURE.badParameter, false],
	[{ message: 'broken' }, `${FAILURE.noStatus}; the task may have been created`, true],
])('an error with status 200 is one of the service: %j', async (error, message, isUnknown) => {
	script = (response) => {
		json(response, 200, { error });
	};
	const { outputs } = await create({ prompt: 'A lake' }, { onError: 'continueRegularOutput' });
	const { details, ...fields } = outputs[0]![0]!.json;
	expect(fields['error']).toBe(message);
	expect(fields['message']).not.toContain('Base URL');
	expect(details).toMatchObject({ service_message: (error as { message: string }).message });
	expect('outcome_unknown' in (details as object)).toBe(isUnknown);
});
