// cspell:ignore skoid
import { Readable } from 'node:stream';

import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables, type DataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

let tables: DataTables;
/** Why the task of a prompt fails. */
let failures: Record<string, string>;
/** Number of tasks so far. */
let tasks: string[];
/** The status of a task that was created, and its ID if all have the same. */
let status: string;
let taskId: string | undefined;

const server = serverForEach((response, { path, body }) => {
	const { prompt = '', task_id = '' } = body as Record<string, string>;
	if (path === '/v1/videos/generations') {
		const id = `task-${tasks.push(prompt)}`;
		json(response, 200, {
			task_id: taskId ?? id,
			status,
			model: 'video-m1',
			created_at: 5,
		});
		return;
	}
	const error_message = failures[tasks[Number(task_id.slice(5)) - 1]!];
	const ending = error_message === undefined ? { status: 'completed' } : { status: 'failed' };
	json(response, 200, {
		task_id,
		...ending,
		error_message,
		video_url: 'https://a.example/v',
	});
});

beforeEach(() => {
	tables = dataTables();
	failures = {};
	tasks = [];
	status = 'queued';
	taskId = undefined;
});
afterEach(() => {
	jest.restoreAllMocks();
});

const MODEL = { __rl: true, mode: 'id', value: 'video-m1' };
let lastId = 100;

/** Creates the videos of these items in an execution of its own. */
async function create(
	items: readonly IDataObject[],
	options: IDataObject = {},
	{ parameters, ...more }: Partial<RunOptions> = {},
) {
	const id = String((lastId += 1));
	return await runNode('createVideo', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		tables,
		execution: { id, token: `token of ${id}` },
		items: [...items],
		parameters: { model: MODEL, prompt: '={{ $json.prompt }}', ...parameters, options },
		...more,
	});
}
const wait = async (items: readonly INodeExecutionData[]) =>
	await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		tables,
		items: items.map(({ json: fields }) => fields),
		parameters: { download: false, options: { onFailed: 'output' } },
	});

const shownOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: { task_id, reused, attempt, error } }) =>
		[task_id ?? error, reused === true && 'reused', attempt && `attempt ${String(attempt)}`]
			.filter(Boolean)
			.join(', '),
	);

/** The tables, with changed rows. */
function change(to: (row: IDataObject) => IDataObject): void {
	const rows = tables.rows.map(to);
	tables = dataTables();
	tables.insert(TASK_TABLE, ...rows);
}

const KEYED = { idempotencyKey: '={{ $json.id }}' };

describe('the same key with other values', () => {
	test('fails before anything is sent, and shows both', async () => {
		await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		const { error } = await create(
			[
				{ id: 2, prompt: 'A car' },
				{ id: 1, prompt: 'A sofa' },
			],
			KEYED,
		);
		expect(error!.message).toBe(
			'Idempotency Key 1 was used for the prompt "A wedding" (video-m1, 5 s, 720P), and this item has the prompt "A sofa" (video-m1, 5 s, 720P), or other fields that differ',
		);
		expect(error!.description).toMatch(/^Nothing was sent\. .*Use Existing Video.*another key/);
		expect(tasks).toStrictEqual(['A wedding']);
		// The key of the other item is free again.
		expect(tables.rows).toHaveLength(1);
	});

	test('with On Error: Continue fails its item only', async () => {
		await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		const { outputs } = await create(
			[
				{ id: 1, prompt: 'A sofa' },
				{ id: 1, prompt: 'A wedding' },
				{ id: 2, prompt: 'A car' },
			],
			KEYED,
			{ onError: 'continueErrorOutput' },
		);
		expect(shownOf(outputs[0])).toStrictEqual(['task-1, reused', 'task-2']);
		expect(shownOf(outputs[1])).toStrictEqual([
			expect.stringMatching(/^Idempotency Key 1 was used for the prompt "A wedding"/),
		]);
	});

	test('names the item that has the other values', async () => {
		await create([{ id: 3, prompt: 'A wedding' }], KEYED);
		const items = [1, 2, 3, 4].map((id) => ({ id, prompt: 'A sofa' }));
		const { error } = await create(items, KEYED);
		expect(error!.message).toMatch(/^Idempotency Key 3 was used for the prompt "A wedding"/);
		expect((error as Error & { context: object }).context).toMatchObject({ itemIndex: 2 });
		expect(tasks).toStrictEqual(['A wedding']);
	});

	test('fails within one run, too', async () => {
		const { error } = await create(
			[
				{ id: 1, prompt: 'A wedding' },
				{ id: 1, prompt: 'A sofa' },
			],
			KEYED,
		);
		expect(error!.message).toMatch(/^Idempotency Key 1 was used for the prompt "A wedding"/);
		expect(tasks).toStrictEqual([]);
		expect(tables.rows).toStrictEqual([]);
	});

	test('gives the existing video with Use Existing Video', async () => {
		await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		const prompts = ['A wedding', 'A sofa', 'A sofa'];
		const items = prompts.map((prompt) => ({ id: 1, prompt }));
		const { outputs } = await create(items, { ...KEYED, useExistingVideo: true });
		expect(shownOf(outputs[0])).toStrictEqual(Array(3).fill('task-1, reused'));
		expect(outputs[0]![1]!.json['request']).toMatchObject({ prompt: 'A wedding' });
		expect(tasks).toStrictEqual(['A wedding']);
	});

	test('Use Existing Video creates a new one where the existing one has failed', async () => {
		failures = { 'A wedding': 'The model crashed' };
		const first = await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		await wait(first.outputs[0]!);
		const { outputs } = await create([{ id: 1, prompt: 'A sofa' }], {
			...KEYED,
			useExistingVideo: true,
		});
		expect(shownOf(outputs[0])).toStrictEqual(['task-2, attempt 2']);
	});

	test('Use Existing Video is decided for each item', async () => {
		await create(
			['1', '2'].map((id) => ({ id, prompt: 'A wedding' })),
			KEYED,
		);
		const { error } = await create(
			['1', '2'].map((id) => ({ id, prompt: 'A sofa' })),
			{ ...KEYED, useExistingVideo: '={{ $json.id === "1" }}' },
		);
		expect(error!.message).toMatch(
			/^1 of 2 videos failed: item 1 \(Idempotency Key 2 was used for .* 1 has gone on: task-1\./,
		);
		expect(tasks).toHaveLength(2);
	});

	test.each(['model', 'duration', 'aspectRatio'])('another %s is another value', async (name) => {
		const values = { model: { ...MODEL, value: 'video-m2' }, duration: 10, aspectRatio: '1:1' };
		await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		const parameters = { [name]: values[name as keyof typeof values] };
		const { error } = await create([{ id: 1, prompt: 'A wedding' }], KEYED, { parameters });
		expect(error!.message).toMatch(/^Idempotency Key 1 was used for /);
	});

	test('an expression that gives an equal item another text is another value', async () => {
		const parameters = { prompt: '={{ $json.prompt }} in {{ $execution.id }}' };
		await create([{ id: 1, prompt: 'A wedding' }], KEYED, { parameters });
		const items = [{ id: 1, prompt: 'A wedding' }];
		const { error } = await create(items, KEYED, { parameters });
		expect(error!.message).toMatch(/^Idempotency Key 1 was used for /);
		const more = { ...KEYED, useExistingVideo: true };
		const { outputs } = await create(items, more, { parameters });
		expect(shownOf(outputs[0])).toStrictEqual(['task-1, reused']);
	});

	const withUrl = (url: string) => ({
		parameters: { references: { file: [{ kind: 'image', source: 'url', url }] } },
	});

	/** As the big stores sign the URL of a file. */
	test.each([
		['X-Amz-Date=1&X-Amz-Expires=9&X-Amz-Signature=1', 'X-Amz-Date=2&X-Amz-Signature=2'],
		['x-amz-signature=1', 'X-Amz-Signature=2'],
		['AWSAccessKeyId=a&Expires=1&Signature=1', 'AWSAccessKeyId=b&Expires=2&Signature=2'],
		['X-Goog-Credential=a&X-Goog-Signature=1', 'X-Goog-Credential=b&X-Goog-Signature=2'],
		['GoogleAccessId=a&Expires=1&Signature=1', 'GoogleAccessId=a&Expires=2&Signature=2'],
		['sv=1&se=1&sr=b&sp=r&skoid=1&sig=1', 'sv=2&se=2&sr=b&sp=r&skoid=2&sig=2'],
		['Policy=a&Key-Pair-Id=1&Signature=a', 'Policy=b&Key-Pair-Id=2&Signature=b'],
		['x-oss-expires=1&x-oss-signature=1', 'x-oss-expires=2&x-oss-signature=2'],
		['OSSAccessKeyId=a&Expires=1&Signature=1', 'OSSAccessKeyId=b&Expires=2&Signature=2'],
		['q-sign-algorithm=sha1&q-ak=1&q-signature=1', 'q-sign-algorithm=sha1&q-signature=2'],
		['X-Obs-Date=1&X-Obs-Signature=1', 'X-Obs-Date=2&X-Obs-Signature=2'],
		['AccessKeyId=a&Expires=1&Signature=1', 'AccessKeyId=a&Expires=2&Signature=2'],
		['X-Tos-Date=1&X-Tos-Signature=1', 'X-Tos-Date=2&X-Tos-Signature=2'],
	])('a URL that was signed again is the same value: %s', async (first, second) => {
		const items = [{ id: 1, prompt: 'A wedding' }];
		await create(items, KEYED, withUrl(`https://files.example/a.png?${first}`));
		const again = withUrl(`https://files.example/a.png?${second}`);
		expect(shownOf((await create(items, KEYED, again)).outputs[0])).toStrictEqual([
			'task-1, reused',
		]);
	});

	test.each([
		['a.png?x-amz-signature=1', 'b.png?x-amz-signature=1'],
		['a.png?signature=1', 'a.png?signature=2'],
		['a.png?ex=1&is=1&hm=1', 'a.png?ex=2&is=2&hm=2'],
		['a.png?alt=media&token=1', 'a.png?alt=media&token=2'],
		['film.jpg?t=10', 'film.jpg?t=20'],
		['photo?s=sku1', 'photo?s=sku2'],
		['film.jpg#t=10', 'film.jpg#t=20'],
		['uc?export=download&id=AAA', 'uc?export=download&id=BBB'],
		['image?url=a.png&token=1', 'image?url=b.png&token=2'],
		['view?file=7&v=1', 'view?file=8&v=1'],
		['picture?sku=7&expires=1', 'picture?sku=8&expires=2'],
		['preview?design_id=7', 'preview?design_id=8'],
		['next?src=%2Fa.png&w=640', 'next?src=%2Fb.png&w=640'],
		['download?key=a.png', 'download?key=b.png'],
		['chart?date=2026-11-25', 'chart?date=2026-11-26'],
		['a.png?x-oss-process=image/crop,w_1', 'a.png?x-oss-process=image/crop,w_2'],
	])('the URL of another file is another value: %s', async (first, second) => {
		const items = [{ id: 1, prompt: 'A wedding' }];
		await create(items, KEYED, withUrl(`https://files.example/${first}`));
		const { error } = await create(items, KEYED, withUrl(`https://files.example/${second}`));
		expect(error!.message).toMatch(/^Idempotency Key 1 was/);
	});
});

test('a reused video has the fields of a new one', async () => {
	const url = 'https://files.example/a.png';
	const parameters = {
		model: { ...MODEL, value: 'video-m7' },
		duration: 7,
		aspectRatio: '9:16',
		references: { file: [{ kind: 'image', source: 'url', url }] },
	};
	const options = { ...KEYED, pricePerSecond: 0.1 };
	const night = async () => {
		const { outputs } = await create([{ id: 1, prompt: 'A wedding' }], options, { parameters });
		return outputs[0]![0]!.json;
	};
	const first = await night();
	expect(first).toMatchObject({
		created_at: 5,
		request: { aspect_ratio: '9:16', images: [url] },
	});
	expect(await night()).toStrictEqual({ ...first, reused: true });

	change((row) => ({ ...row, finished_at: new Date().toISOString() }));
	const now = { status: 'completed', output: 'The video is completed: task task-1' };
	expect(await night()).toStrictEqual({ ...first, ...now, reused: true });
});

describe('where a key is the same', () => {
	const ITEM = [{ id: 1, prompt: 'An advert' }];
	const asOtherWorkflow = () => {
		change((row) => ({ ...row, workflow_id: 'another' }));
	};

	test('another workflow has keys of its own', async () => {
		await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		asOtherWorkflow();
		const { outputs } = await create(ITEM, KEYED);
		expect(shownOf(outputs[0])).toStrictEqual(['task-2']);
		const again = await create(ITEM, KEYED);
		expect(shownOf(again.outputs[0])).toStrictEqual(['task-2, reused']);
	});
});

describe('a service that answers two requests with one task', () => {
	const ONE = 'task of all';
	beforeEach(() => {
		taskId = ONE;
	});

	test('has not made the second video, as far as anybody knows', async () => {
		const items = [{ prompt: 'A wedding' }, { prompt: 'A sofa' }];
		const { outputs } = await create(
			items,
			{ concurrency: 1 },
			{ onError: 'continueErrorOutput' },
		);
		expect(shownOf(outputs[0])).toStrictEqual([ONE]);
		expect(outputs[1]![0]!.json).toMatchObject({
			error: `The service answered with the task ${ONE} to two creations: the prompt "A sofa" (video-m1, 5 s, 720P), and the prompt "A wedding" (video-m1, 5 s, 720P)`,
			details: { outcome_unknown: true },
		});
		expect(tables.rows).toMatchObject([
			{ prompt: 'A wedding', task_id: ONE, status: 'open' },
			{ prompt: 'A sofa', task_id: null, status: 'sent' },
		]);
	});

	test('has made one for five equal requests, as a cache between them would say', async () => {
		const items = Array.from({ length: 5 }, () => ({ prompt: 'A sofa' }));
		const { outputs } = await create(items, {}, { onError: 'continueErrorOutput' });
		expect(shownOf(outputs[0])).toStrictEqual([ONE]);
		expect(outputs[1]).toHaveLength(4);
		expect(tables.rows.map(({ task_id }) => task_id ?? '').sort()).toStrictEqual([
			...Array<string>(4).fill(''),
			ONE,
		]);
	});

	test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
		'has not made that of a later execution, which names both rows: %s',
		async (onError) => {
			await create([{ prompt: 'A wedding' }]);
			const { outputs, error } = await create([{ prompt: 'A sofa' }], {}, { onError });
			expect(error?.message ?? outputs[1]![0]!.json['error']).toMatch(
				/to two creations: the prompt "A sofa" .* in row \d+ of .*, and the prompt "A wedding" .* in row \d+ of the data table/,
			);
			expect(outputs[0] ?? []).toStrictEqual([]);
			expect(tables.rows).toMatchObject([
				{ prompt: 'A wedding', task_id: ONE, status: 'open' },
				{ prompt: 'A sofa', task_id: '', status: 'sent' },
			]);
		},
	);

	test('has not made that of further items with the key, either', async () => {
		await create([{ prompt: 'A wedding' }]);
		const items = Array.from({ length: 2 }, () => ({ id: 1, prompt: 'A sofa' }));
		const { outputs } = await create(items, KEYED, { onError: 'continueErrorOutput' });
		expect(outputs[0] ?? []).toStrictEqual([]);
		expect(outputs[1]).toMatchObject(
			Array.from({ length: 2 }, () => ({
				json: { error: expect.stringMatching(/to two creations/) as string },
			})),
		);
	});

	test('says what to do about the rows: a retry sends nothing for the second one', async () => {
		await create([{ prompt: 'A wedding' }]);
		const { error } = await create([{ prompt: 'A sofa' }]);
		expect(error?.description).toMatch(/^Look at the rows of both .*not sent again without/s);
		expect(error?.description).not.toContain('Retry;');
	});

	test('may have one that another account has, too', async () => {
		await create([{ prompt: 'A wedding' }]);
		const credential = { baseUrl: server.url, apiKey: 'k2' };
		const { outputs } = await create([{ prompt: 'A sofa' }], {}, { credential });
		expect(shownOf(outputs[0])).toStrictEqual([ONE]);
	});
});

test.each(['claimed', 'sent'])(
	'a task that the service calls %s, as the ledger calls something else, keeps its key',
	async (word) => {
		status = word;
		await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		change((row) => ({ ...row, sent_at: new Date(Date.now() - 3_600_000).toISOString() }));
		const { outputs } = await create([{ id: 1, prompt: 'A wedding' }], KEYED);
		expect(shownOf(outputs[0])).toStrictEqual(['task-1, reused']);
		expect(tasks).toStrictEqual(['A wedding']);
	},
);

test('a key is the same whether an accent is a character of its own or not', async () => {
	const keys = ['Caf\u00e9', 'Cafe\u0301'];
	const items = keys.map((id) => ({ id, prompt: 'A wedding' }));
	const { outputs } = await create(items, KEYED);
	const later = await create(items.slice(1), KEYED);
	expect([...shownOf(outputs[0]), ...shownOf(later.outputs[0])]).toStrictEqual([
		'task-1',
		'task-1, reused',
		'task-1, reused',
	]);
});

test('a key applies only where the option is added', async () => {
	const items = [{ id: 1, prompt: 'A wedding' }];
	await create(items);
	const { outputs } = await create(items);
	expect(shownOf(outputs[0])).toStrictEqual(['task-2']);
	expect(tables.rows.map(({ idempotency_key: key }) => key)).toStrictEqual(['', '']);
});

describe('the key of a video that failed', () => {
	const ITEM = [{ id: 1, prompt: 'A wedding' }];

	/** Creates a video and waits for it, as a schedule does every night. */
	async function night() {
		const { outputs } = await create(ITEM, KEYED);
		await wait(outputs[0]!);
		return shownOf(outputs[0])[0];
	}

	test('makes a new one each night, and counts them', async () => {
		failures = { 'A wedding': 'The model crashed' };
		const nights = [await night(), await night(), await night(), await night()];
		expect(nights).toStrictEqual([
			'task-1',
			'task-2, attempt 2',
			'task-3, attempt 3',
			'task-4, attempt 4',
		]);
	});

	test('keeps the video of the attempt that is completed', async () => {
		failures = { 'A wedding': 'The model crashed' };
		await night();
		failures = {};
		expect([await night(), await night()]).toStrictEqual([
			'task-2, attempt 2',
			'task-2, reused, attempt 2',
		]);
	});

	test('makes a new one after moderation, too', async () => {
		failures = { 'A wedding': 'Content moderation failed: it may contain sensitive content' };
		expect([await night(), await night()]).toStrictEqual(['task-1', 'task-2, attempt 2']);
	});

	test('of two executions at the same moment one makes it', async () => {
		failures = { 'A wedding': 'The model crashed' };
		await night();
		const both = await Promise.all([create(ITEM, KEYED), create(ITEM, KEYED)]);
		expect(both.flatMap(({ outputs }) => shownOf(outputs[0])).sort()).toStrictEqual([
			'task-2, attempt 2',
			'task-2, reused, attempt 2',
		]);
	});
});

describe('a retry after a kill', () => {
	const items = (...prompts: readonly string[]) => prompts.map((prompt) => ({ prompt }));
	const first = { execution: { id: '11', token: 'token' } };
	const retry = { execution: { id: '12', token: 'token', isRetry: true } };

	test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
		'does not give the videos of other items by their position: %s',
		async (onError) => {
			await create(items('Storm', 'Election'), {}, first);
			const { outputs, error } = await create(
				items('Football', 'Election', 'Music'),
				{},
				{ ...retry, onError },
			);
			const text = error?.message ?? shownOf(outputs[1])[0];
			expect(text).toMatch(
				/Prompt is the prompt "Football" .* and was the prompt "Storm" .* in the earlier try/,
			);
			const more = onError === 'stopWorkflow' ? [] : ['Music'];
			expect(tasks).toStrictEqual(['Storm', 'Election', ...more]);
			if (error) return;
			expect(shownOf(outputs[0])).toStrictEqual(['task-2, reused', 'task-3']);
		},
	);

	test('does not give an equal item the video of another file by the name of which it asks', async () => {
		const withFile = (fileName: string) => ({
			parameters: { prompt: '=A clip about {{ $binary.data.fileName }}' },
			binaries: [{ data: { data: '', fileName, mimeType: 'image/png' } }],
		});
		await create([{}], {}, { ...first, ...withFile('cat.png') });
		const { error } = await create([{}], {}, { ...retry, ...withFile('dog.png') });
		expect(error!.message).toMatch(
			/^Prompt is the prompt "A clip about dog.png" .* "A clip about cat/,
		);
		expect(tasks).toStrictEqual(['A clip about cat.png']);
	});

	test('does not give an item the video of another file, whose ID is in the query of its URL', async () => {
		const parameters = {
			references: { file: [{ kind: 'image', source: 'url', url: '={{ $json.url }}' }] },
		};
		const item = (id: string) => ({
			prompt: 'Storm',
			url: `https://files.example/uc?id=${id}`,
		});
		await create([item('1')], {}, { ...first, parameters });
		const { error } = await create([item('2')], {}, { ...retry, parameters });
		expect(error!.message).toMatch(/"Storm" .* was the same with other fields in the earlier/);
		expect(tasks).toStrictEqual(['Storm']);
	});

	test.each([
		'={{ $execution.id }} {{ $json.prompt }}',
		'={{ $now.toMillis() }} {{ $json.prompt }}',
		'={{ Math.random() }}',
	])('knows an equal item whose key is another one in every try: %s', async (idempotencyKey) => {
		await create(items('Storm', 'Election'), { idempotencyKey }, first);
		const { outputs } = await create(
			items('Storm', 'Election', 'Music'),
			{ idempotencyKey },
			retry,
		);
		expect(shownOf(outputs[0])).toStrictEqual(['task-1, reused', 'task-2, reused', 'task-3']);
	});

	test('knows an equal item whose key was added since', async () => {
		await create(items('Storm'), {}, first);
		const { outputs } = await create(items('Storm'), { idempotencyKey: 'order 1' }, retry);
		expect(shownOf(outputs[0])).toStrictEqual(['task-1, reused']);
	});

	test('knows a binary file by its content', async () => {
		const files = Container.get(BinaryDataService);
		jest.spyOn(files, 'createSignedToken').mockReturnValue('token');
		jest.spyOn(files, 'getAsStream').mockImplementation(async (id) =>
			Promise.resolve(Readable.from([id.split(' ').at(-1)!])),
		);
		const withFile = (id: string) => ({
			parameters: {
				references: { file: [{ kind: 'image', source: 'binary', binaryProperty: 'data' }] },
			},
			binaries: [{ data: { data: '', id: `filesystem-v2:${id}`, mimeType: 'image/png' } }],
		});
		await create(items('Storm'), {}, { ...first, ...withFile('1 cat') });
		const again = await create(items('Storm'), {}, { ...retry, ...withFile('2 cat') });
		expect(shownOf(again.outputs[0])).toStrictEqual(['task-1, reused']);
		const third = { execution: { ...retry.execution, id: '13' } };
		const other = await create(items('Storm'), {}, { ...third, ...withFile('3 dog') });
		expect(other.error!.message).toMatch(/^Prompt is /);
	});
});

test.each(['=1 + 1', '={{ $env }}', '={{ "}}" }}'])(
	'the key %s is a text, and finds its video',
	async (key) => {
		const items = [{ prompt: 'A lake', key }];
		const options = { idempotencyKey: '={{ $json.key }}' };
		await create(items, options);
		const { outputs } = await create(items, options);
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-1', reused: true });
		expect(tasks).toStrictEqual(['A lake']);
		expect(tables.rows.map((row) => row['idempotency_key'])).toContain(key);
	},
);
