import { videoFile } from '../../emulator/media/mediaFiles';
import { allItems, packageNode, runWorkflow, stubNode, type RunResult } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

// A server with words and fields of its own, whose tasks are scripted: the responses of an endpoint take turns.
interface Answer {
	readonly status: number;
	readonly body: object;
	readonly headers?: Readonly<Record<string, string>>;
}

let server: ScriptedServer | undefined;
let video: Buffer;

beforeAll(async () => {
	video = (await videoFile({ size: '480P', aspectRatio: '16:9', seconds: 5, words: 'A lake' }))!;
});
afterEach(async () => {
	await server?.stop();
});

const task = (status: string, more: object = {}): Answer => ({
	status: 200,
	body: { task_id: 'lake-1', status, model: 'video-m1', ...more },
});
const failure = (status: number, error: object, headers = {}): Answer => ({
	status,
	body: { error },
	headers,
});

const CREATED = task('queued', { created_at: '2026-11-22T09:00:00Z' });
const URL = '{{url}}/files/lake.mp4';

/** Creates a video and waits for it; the server reports its states in order. */
async function createAndWait(
	created: readonly Answer[],
	states: readonly Answer[],
): Promise<RunResult> {
	const turns = new Map([
		['/v1/videos/generations', [...created]],
		['/v1/videos/tasks', [...states]],
	]);
	const { url, requests } = (server = await startScriptedServer((response, { path }) => {
		const answer = turns.get(path)?.shift();
		if (answer === undefined) {
			response.writeHead(200, { 'content-type': 'video/mp4' }).end(video);
			return;
		}
		const body = JSON.parse(JSON.stringify(answer.body).replaceAll('{{url}}', url)) as object;
		json(response, answer.status, body, answer.headers);
	}));
	const result = await withFakeTimers(
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
				{ credential: { baseUrl: url, apiKey: 'any' } },
			),
	);
	expect([...turns.values()].flat()).toStrictEqual([]);
	const sent = (path: string) => requests.filter((each) => each.path === path);
	for (const { body } of sent('/v1/videos/generations'))
		expect(body).toMatchObject({ prompt: 'A lake' });
	for (const { body } of sent('/v1/videos/tasks'))
		expect(body).toMatchObject({ task_id: 'lake-1' });
	return result;
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
		[failure(429, { message: 'slow down' }, { 'retry-after': '3' }), CREATED],
		[
			task('submitted', { progress: 0, queue: { position: 3 } }),
			failure(503, { message: 'overloaded', type: 'server_error', code: null }),
			task('processing', { progress: 50, video_url: null, error_message: null }),
			failure(429, { message: 'slow down' }, { 'retry-after': '3' }),
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
