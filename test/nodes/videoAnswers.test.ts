import type { IDataObject } from 'n8n-workflow';

import {
	byId,
	idsOf,
	POLL,
	reject,
	reply,
	videoService,
	type More,
} from '../support/createdVideos';
import { allItems, packageNode, stubNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { json } from '../support/scriptedServer';
import { COMPLETED, FAILED, GENERATING } from '../support/waitOutputs';

// What the video nodes make of what the service answers, and keep of its texts.

const service = videoService();
const { server, urlOf } = service;

/** Waits for tasks; what the service says of them is `service.ending`. */
async function wait(
	parameters: IDataObject = {},
	{ items = [{ task_id: 'a' }], ...more }: More = {},
) {
	return await withFakeTimers(async () => await service.wait(items, parameters, more));
}

describe('of a text that is too much a part is kept', () => {
	/** Characters that may be kept for one task. */
	const BOUND = 60_000;
	/** With the data of a run, in which a part may be several times. */
	const RUN_BOUND = 4 * BOUND;
	const URL = { download: false };
	const LONG = 'x'.repeat(RUN_BOUND);
	const nested = (levels: number): object =>
		levels === 0 ? {} : { text: 'x'.repeat(100), deeper: nested(levels - 1) };
	const charactersOf = (value: unknown) => JSON.stringify(value).length;
	const levelsOf = (value: unknown): number =>
		typeof value === 'object' && value !== null
			? 1 + Math.max(0, ...Object.values(value).map(levelsOf))
			: 0;
	const numbered = (count: number, value: unknown) =>
		Object.fromEntries(Array.from({ length: count }, (_, nth) => [`f${nth}`, value]));

	/** Fields of a report, each of which is too much. */
	const EXCESSIVE: readonly (readonly [string, object])[] = [
		['error_message', { error_message: LONG }],
		['video_url', { video_url: `https://cdn.example/${LONG}` }],
		['reason and error', { reason: LONG, error: { message: LONG } }],
		['other texts', numbered(10, 'x'.repeat(BOUND / 2))],
		['many fields', numbered(700, 'x'.repeat(100))],
		['a long list', { list: Array(20_000).fill('x') }],
		['lists of lists', { list: Array(200).fill(Array(100).fill(Array(3).fill(1))) }],
		['many levels', { other: nested(90) }],
		['a long name', { [LONG]: 1 }],
	];

	test.each(EXCESSIVE)('%s: of a failed and a completed task', async (name, fields) => {
		for (const status of ['failed', 'completed']) {
			service.ending = { video_url: 'https://cdn.example/a.mp4', ...fields, status };
			service.restore([{ task_id: 'a', status: 'queued', call: 'a' }]);
			const { outputs, run } = await wait(URL);
			// Without its end a URL leads nowhere.
			const isWhole = name !== 'video_url';
			const [item] = outputs[status === 'completed' && isWhole ? COMPLETED : FAILED]!;
			expect(item!.json).toMatchObject({ task_id: 'a', status });
			expect(charactersOf(item)).toBeLessThan(BOUND);
			expect(levelsOf(item!.json)).toBeLessThan(15);
			expect(charactersOf(run.data)).toBeLessThan(RUN_BOUND);
			expect(charactersOf(service.tables.rows)).toBeLessThan(BOUND);
			// What cannot be delivered stays open.
			const completed = isWhole ? 'done' : 'open';
			expect(service.tables.rows[0]!['status']).toBe(
				status === 'failed' ? status : completed,
			);
		}
	});

	test.each(EXCESSIVE)('%s: of a creation, and in the ledger', async (_name, fields) => {
		const answer = { ...fields, task_id: 'a', status: LONG, model: LONG };
		service.answers = { p: reply(answer) };
		const { outputs, run } = await service.create(['p']);
		expect(idsOf(outputs[0])).toStrictEqual(['a']);
		expect(charactersOf(run.data)).toBeLessThan(RUN_BOUND);
		expect(charactersOf(service.tables.rows)).toBeLessThan(BOUND);
	});

	test('of a status, another one at each poll: the beginning of each, none in messages', async () => {
		let nth = 0;
		service.answers = {
			a: (response) => {
				json(response, 200, { status: `${nth++}${'x'.repeat(BOUND)}` });
			},
		};
		const options = { maximumWait: 2 };
		const { outputs, chunks } = await wait({ ...URL, options }, { streaming: true });
		expect(nth).toBeGreaterThan(9);
		const said = chunks.map(({ content }) => content ?? '').join(' ');
		const { json: fields } = outputs[FAILED]![0]!;
		expect(fields).toMatchObject({ reason: 'timeout' });
		expect(charactersOf(fields)).toBeLessThan(BOUND);
		expect(fields['history']).toMatch(/, 1x{99}… [\d.]+ s,/);
		expect(said).toMatch(/1 generating/);
		expect(said).not.toMatch(/xx/);
	});

	test('in the state of a suspended wait, and in the answer of Ask Once', async () => {
		service.ending = { status: LONG, error_message: LONG };
		const parameters = { ...URL, waitMode: 'suspend' };
		const node = packageNode('Wait', 'waitForVideo', { parameters });
		const nodes = [node, stubNode('Done', (items) => items)];
		const { run } = await service.flow(nodes, {}, [{ task_id: 'a' }]);
		expect(run.status).toBe('waiting');
		expect(charactersOf(run.data)).toBeLessThan(BOUND);
		const once = await wait({ ...URL, waitMode: 'once' });
		expect(charactersOf(once.outputs[GENERATING])).toBeLessThan(BOUND);
	});

	test('in the error of many failed videos, which names each', async () => {
		service.ending = { status: 'failed', error_message: 'x'.repeat(BOUND) };
		const items = Array.from({ length: 30 }, (_, nth) => ({ task_id: `t${nth}` }));
		const { error } = await wait({ ...URL, options: { onFailed: 'fail' } }, { items });
		expect(error!.message).toMatch(/^30 of 30 videos failed: t0, t1, t2 and 27 more \(x+/);
		expect(error!.message.length).toBeLessThan(1_000);
		expect(error!.description!.length).toBeLessThan(BOUND);
		for (const { task_id } of items) expect(error!.description).toContain(task_id);
		expect(error!.description).toMatch(/t29: x+/);
	});

	test('but none of a URL that is to be downloaded', async () => {
		service.ending = { status: 'completed', video_url: urlOf(LONG) };
		const { outputs } = await wait();
		const { json: fields } = outputs[FAILED]![0]!;
		expect(fields).toMatchObject({ reason: 'download' });
		expect(fields['error_message']).toMatch(/^The service returned a URL that is too long/);
		// Asked once more: the service may name another URL.
		expect(server.requests.map(({ path }) => path)).toStrictEqual([POLL, POLL]);
	});

	test('but none of a task ID', async () => {
		service.answers = { p: reply({ task_id: LONG, status: 'queued' }) };
		const { error } = await service.create(['p']);
		expect(error!.message).toMatch(/^Unexpected response/);
		expect(charactersOf(error!.description)).toBeLessThan(2_000);
	});
});

/** Task IDs that are names of fields that every object has. */
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'length'];

test.each([[NAMES], [[...NAMES, ...Array.from({ length: 20 }, (_, nth) => `t${nth}`)]]])(
	'task IDs may be names that every object has: created, in the ledger, collected, delivered (%#)',
	async (taskIds) => {
		service.taskIdOf = (prompt) => prompt;
		const keyed = { concurrency: 1, idempotencyKey: '={{ $json.prompt }}' };
		const created = await service.create(taskIds, keyed);
		expect(idsOf(created.outputs[0])).toStrictEqual(taskIds);
		const options = { minimumAge: 0 };
		const { error, outputs } = await wait({ tasks: 'ledger', download: false, options });
		expect(error).toBeUndefined();
		expect(idsOf(outputs[COMPLETED]).sort()).toStrictEqual(taskIds.toSorted());
		const ledgers = outputs[COMPLETED]!.map(({ json: fields }) => fields['ledger']);
		expect(ledgers).not.toContain(undefined);
		expect(service.tables.rows.every((row) => row['finished_at'] !== null)).toBe(true);
	},
);

test.each(['\u200ba', 'a\ufeff', '\u202aa\u202c', ' a\u0000\n'])(
	'a Task ID that was copied with invisible characters is cleaned: %j',
	async (taskId) => {
		const { outputs } = await wait({}, { items: [{ task_id: taskId }] });
		expect(outputs[COMPLETED]).toHaveLength(1);
		expect(server.requests[0]!.body).toStrictEqual({ task_id: 'a' });
	},
);

describe('a video_url', () => {
	const VIDEO = sampleFile('video/mp4');
	const LONGER = sampleFile('video/mp4', '0123456789'.repeat(3));
	const dataUrl = (bytes: Buffer, type = 'video/mp4') =>
		`data:${type};base64,${bytes.toString('base64')}`;

	/** Waits for a task with this report, whose row is in the ledger. */
	async function report(fields: object, parameters: IDataObject = {}) {
		service.ending = { status: 'completed', ...fields };
		service.restore([{ task_id: 'a', status: 'open', call: 'c', prompt: 'A lake' }]);
		const { outputs } = await wait(parameters);
		const [item] = outputs.flat();
		const { data } = item!.binary ?? {};
		return {
			isCompleted: outputs[COMPLETED]!.length === 1,
			fields: item!.json,
			bytes: data && Buffer.from(data.data, 'base64'),
			row: service.tables.rows[0]!,
		};
	}

	test.each<[string, (url: string) => unknown]>([
		['an object with its url', (url) => ({ url })],
		['a list of one', (url) => [url]],
		['a list of one object', (url) => [{ url, type: 'video' }]],
	])('that is %s is that URL', async (_name, form) => {
		const url = urlOf('a.mp4');
		const { fields, bytes, row } = await report({ video_url: form(url) });
		expect(fields).toMatchObject({ video_url: url, file: { bytes: VIDEO.length } });
		expect(bytes).toStrictEqual(VIDEO);
		expect(row['video_url']).toBe(url);
	});

	test('that has spaces around it is downloaded', async () => {
		expect((await report({ video_url: ` ${urlOf('a')} ` })).bytes).toStrictEqual(VIDEO);
	});

	test('that is a list of two is none: which one would be guessed', async () => {
		const { isCompleted, fields } = await report({ video_url: [urlOf('a'), urlOf('b')] });
		expect(isCompleted).toBe(false);
		expect(fields['error_message']).toMatch(/^The URL of the file is not an http\(s\) URL: \[/);
	});

	test('that contains the video is decoded, and what is written down does not have it', async () => {
		const thumbnail_url = dataUrl(sampleFile('image/png'), 'image/png');
		const { isCompleted, fields, bytes, row } = await report(
			{ video_url: dataUrl(VIDEO), thumbnail_url },
			{ options: { downloadThumbnail: true } },
		);
		expect(isCompleted).toBe(true);
		expect(bytes).toStrictEqual(VIDEO);
		expect(fields).toMatchObject({
			video_url: 'data:video/mp4;base64,',
			thumbnail_url: 'data:image/png;base64,',
			file: { bytes: VIDEO.length, type: 'video/mp4' },
			output: 'The video is completed: task a',
		});
		expect(row).toMatchObject({ status: 'done', video_url: 'data:video/mp4;base64,' });
	});

	test('that contains the video stays whole where nothing is stored', async () => {
		const { fields } = await report({ video_url: dataUrl(VIDEO) }, { download: false });
		expect(fields['video_url']).toBe(dataUrl(VIDEO));
	});

	test.each([
		['something else', dataUrl(Buffer.from('no access')), 'does not contain a video'],
		['a part of it', dataUrl(LONGER.subarray(0, -9)), 'ends too early for video/mp4'],
		['no base64', 'data:video/mp4;base64,***', 'The data: URL cannot be decoded'],
	])('that contains %s is Failed', async (_name, video_url, words) => {
		const { isCompleted, fields, row } = await report({ video_url });
		expect(isCompleted).toBe(false);
		expect(fields).toMatchObject({ reason: 'download' });
		expect(fields['error_message']).toContain(words);
		expect(row['finished_at'] ?? null).toBeNull();
	});

	const DEAD = 'http://127.0.0.1:1/a.mp4';
	test.each([
		[{ status: 'failed', video_url: null, error_message: 'secret' }, 'The video failed'],
		[{ video_url: DEAD }, `The video is ready: ${DEAD}`],
		// A preview, or what is left of one.
		[{ status: 'failed', video_url: DEAD }, 'The video failed'],
		[{ status: 'processing', video_url: DEAD }, 'The video is not finished: task a'],
	])(
		'of %j is in a line for a chat, without the words of the service: %s',
		async (fields, output) => {
			expect((await report(fields)).fields).toMatchObject({ output });
		},
	);

	test('is in such a line of Create Video, too, which no field "output" of the service replaces', async () => {
		service.ending = { status: 'completed', output: 'of the service' };
		const { outputs } = await service.create(
			['a'],
			{},
			{ parameters: { waitUntilFinished: true } },
		);
		expect(outputs[0]![0]!.json).toMatchObject({
			output: `The video is ready: ${urlOf('task-a')}`,
			service_output: 'of the service',
		});
	});

	test('is missing: a failed video has the prompt that the ledger knows, a completed one has not', async () => {
		expect((await report({})).fields).not.toHaveProperty('prompt');
		const failed = { status: 'failed', error_message: 'moderation' };
		expect((await report(failed)).fields).toMatchObject({ prompt: 'A lake', ...failed });
		// What the service says itself stays.
		const said = { ...failed, prompt: 'A lake at dawn' };
		expect((await report(said)).fields).toMatchObject({ prompt: said.prompt });
		// Of two videos with one ID it is not known.
		service.ending = failed;
		const row = { task_id: 'a', status: 'open', call: 'c', prompt: 'A lake' };
		service.restore([row, { ...row, status: 'done', call: 'd', prompt: 'A sea' }]);
		const { outputs } = await wait();
		expect(outputs[FAILED]![0]!.json).not.toHaveProperty('prompt');
	});
});

test('a busy server, an error between two states and words of its own do not end a wait', async () => {
	const id = 'task-A lake';
	const slowDown = reject(429, { 'retry-after': '3' });
	service.answers = {
		'A lake': [slowDown],
		[id]: [
			reply({ task_id: id, status: 'submitted', progress: 0, queue: { position: 3 } }),
			reject(503),
			reply({ task_id: id, status: 'processing', video_url: null, error_message: null }),
			slowDown,
		],
	};
	service.ending = { status: 'completed', progress: 100, thumbnail_url: null };
	const parameters = { model: byId('video-m1'), prompt: 'A lake' };
	const nodes = [
		packageNode('Create', 'createVideo', { parameters }),
		packageNode('Wait', 'waitForVideo', {}),
		stubNode('Mishaps', (items) => items),
	];
	const wires = { Create: [['Wait']], Wait: [[], ['Mishaps']] };
	const result = await withFakeTimers(async () => await service.flow(nodes, wires, [{}]));
	expect(result.error).toBeUndefined();
	const [item] = allItems(result, 'Wait')[COMPLETED]!;
	expect(item!.json).toMatchObject({ task_id: id, status: 'completed', progress: 100 });
	expect(Object.keys(item!.binary!)).toStrictEqual(['data']);
	expect([service.sent().length, service.requested(POLL).length]).toStrictEqual([2, 5]);
});
