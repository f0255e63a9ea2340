import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Stubby, type StubbyEndpoint, type StubbyResponse } from 'stubby';

import { videoFile } from '../../emulator/media/mediaFiles';
import { allItems, packageNode, runWorkflow, stubNode, type RunResult } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { COMPLETED, FAILED } from '../support/waitOutputs';

// A third-party server whose tasks are scripted: the responses of an endpoint take turns.
let server: Stubby;
let video: Buffer;
let folder: string;

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), 'videos-'));
	video = (await videoFile({ size: '480P', aspectRatio: '16:9', seconds: 5, words: 'A lake' }))!;
	await writeFile(join(folder, 'lake.mp4'), video);
});
beforeEach(() => {
	server = new Stubby();
});
afterEach(async () => {
	await server.stop();
});
afterAll(async () => {
	await rm(folder, { recursive: true });
});

const json = (body: object, status = 200, headers = {}): StubbyResponse => ({
	status,
	headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
	body,
});
const task = (status: string, more: object = {}) =>
	json({ task_id: 'lake-1', status, model: 'video-m1', ...more });

const CREATED = task('queued', { created_at: '2026-11-22T09:00:00Z' });
const URL = '{{url}}/files/lake.mp4';

/** An endpoint that sends the responses in order. */
function endpoint(
	url: string,
	responses: readonly StubbyResponse[],
	request: Partial<StubbyEndpoint['request']> = {},
): StubbyEndpoint {
	// The server begins with the second response.
	const inTurn = [...responses.slice(-1), ...responses.slice(0, -1)];
	return { request: { url: `^${url}$`, method: 'POST', ...request }, response: inTurn };
}

/** Creates a video and waits for it; the server reports its states in order. */
async function createAndWait(
	created: readonly StubbyResponse[],
	states: readonly StubbyResponse[],
): Promise<RunResult> {
	await server.start({ stubs: 0, admin: 0, tls: 0, location: '127.0.0.1', data: [] });
	const { port } = server.stubsPortal.address() as AddressInfo;
	const baseUrl = `http://127.0.0.1:${port}`;
	const data = [
		endpoint('/v1/videos/generations', created, { post: '"prompt":"A lake"' }),
		endpoint('/v1/videos/tasks', states, { post: '"task_id":"lake-1"' }),
		endpoint(
			'/files/lake.mp4',
			[{ headers: { 'content-type': 'video/mp4' }, file: join(folder, 'lake.mp4') }],
			{ method: 'GET' },
		),
	];
	const withUrl = JSON.parse(JSON.stringify(data).replaceAll('{{url}}', baseUrl)) as typeof data;
	withUrl.forEach((each) => {
		server.post(each);
	});
	return await withFakeTimers(
		async () =>
			await runWorkflow(
				[
					stubNode('Start', (items) => items),
					packageNode('Create', 'createVideo', { parameters: { prompt: 'A lake' } }),
					packageNode('Wait', 'waitForVideo', {}),
					stubNode('Mishaps', (items) => items),
				],
				{ Start: [['Create']], Create: [['Wait']], Wait: [[], ['Mishaps']] },
				'Start',
				{ credential: { baseUrl, apiKey: 'any' } },
			),
	);
}

test('a video is created, waited for and downloaded', async () => {
	const result = await createAndWait(
		[CREATED],
		[task('queued'), task('processing'), task('completed', { video_url: URL })],
	);
	expect(result.error).toBeUndefined();
	const [item] = allItems(result, 'Wait')[COMPLETED]!;
	expect(item!.json).toMatchObject({ task_id: 'lake-1', status: 'completed' });
	const [file] = Object.values(item!.binary!);
	expect(file).toMatchObject({ mimeType: 'video/mp4', fileName: 'lake-1.mp4' });
	expect(Buffer.from(file!.data, 'base64')).toStrictEqual(video);
});

test('a busy server, an error between two states and words of its own do not end the wait', async () => {
	const result = await createAndWait(
		[json({ error: { message: 'slow down' } }, 429, { 'retry-after': '3' }), CREATED],
		[
			task('submitted', { progress: 0, queue: { position: 3 } }),
			json({ error: { message: 'overloaded', type: 'server_error', code: null } }, 503),
			task('processing', { progress: 50, video_url: null, error_message: null }),
			json({ error: { message: 'slow down' } }, 429, { 'retry-after': '3' }),
			task('completed', {
				progress: 100,
				video_url: URL,
				thumbnail_url: null,
				error_message: null,
			}),
		],
	);
	expect(result.error).toBeUndefined();
	const [item] = allItems(result, 'Wait')[COMPLETED]!;
	expect(item!.json).toMatchObject({ task_id: 'lake-1', status: 'completed', progress: 100 });
	expect(Object.keys(item!.binary!)).toHaveLength(1);
});

test('a task that fails leaves through Failed with the words of the server', async () => {
	const failed = task('failed', { error_message: 'The lake is too deep', video_url: null });
	const result = await createAndWait([CREATED], [task('processing'), failed]);
	expect(result.error).toBeUndefined();
	expect(allItems(result, 'Wait')[COMPLETED] ?? []).toHaveLength(0);
	expect(allItems(result, 'Wait')[FAILED]![0]!.json).toMatchObject({
		task_id: 'lake-1',
		reason: 'failed',
		error_message: 'The lake is too deep',
	});
});
