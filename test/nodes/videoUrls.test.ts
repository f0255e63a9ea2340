import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

const FILE = sampleFile('video/mp4', '0123456789'.repeat(3_000));
const PNG = sampleFile('image/png');
const dataUrl = (bytes: Buffer, type = 'video/mp4') =>
	`data:${type};base64,${bytes.toString('base64')}`;

let server: ScriptedServer;
/** What the service reports of a task. */
let report: object;

beforeAll(async () => {
	server = await startScriptedServer((response, { path, body }) => {
		if (path.startsWith('/cdn/')) response.end(FILE);
		else if (path === '/v1/videos/generations') json(response, 200, { task_id: 'task-1' });
		else json(response, 200, { ...(body as object), status: 'completed', ...report });
	});
});
beforeEach(() => {
	report = { video_url: `${server.url}/cdn/a.mp4` };
});
afterEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await server.stop();
});

async function wait({ tables = dataTables(), ...more }: Partial<RunOptions> = {}) {
	tables.insert(TASK_TABLE, { task_id: 'task-1', status: 'open', call: 'c', prompt: 'A lake' });
	return await withFakeTimers(async () => {
		const { outputs, run } = await runNode('waitForVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{ task_id: 'task-1' }],
			tables,
			...more,
		});
		const [item] = outputs.flat();
		const hints = run.data.resultData.runData['Tested']![0]!.hints ?? [];
		return {
			isCompleted: outputs[COMPLETED]!.length === 1,
			isFailed: outputs[FAILED]?.length === 1,
			fields: item!.json,
			bytes: item!.binary?.['data'] && Buffer.from(item!.binary['data'].data, 'base64'),
			row: tables.rows[0]!,
			hints: hints.map(({ message }) => message),
		};
	});
}

describe('a video_url', () => {
	test.each<[string, (url: string) => unknown]>([
		['an object with its url', (url) => ({ url })],
		['a list of one', (url) => [url]],
		['a list of one object', (url) => [{ url, type: 'video' }]],
	])('that is %s is that URL', async (_name, form) => {
		const url = `${server.url}/cdn/a.mp4`;
		report = { video_url: form(url) };
		const { fields, bytes, row } = await wait();
		expect(fields).toMatchObject({ video_url: url, file: { bytes: FILE.length } });
		expect(bytes).toStrictEqual(FILE);
		expect(row['video_url']).toBe(url);
	});

	test('that is a list of two is none: which one would be guessed', async () => {
		report = { video_url: [`${server.url}/cdn/a.mp4`, `${server.url}/cdn/b.mp4`] };
		const { isFailed, fields } = await wait();
		expect(isFailed).toBe(true);
		expect(fields['error_message']).toMatch(/^The URL of the file is not an http\(s\) URL: \[/);
	});

	test('that contains the video is decoded, and what is written down does not have it', async () => {
		report = { video_url: dataUrl(FILE), thumbnail_url: dataUrl(PNG, 'image/png') };
		const { isCompleted, fields, bytes, row } = await wait({
			parameters: { options: { downloadThumbnail: true } },
		});
		expect(isCompleted).toBe(true);
		expect(bytes).toStrictEqual(FILE);
		expect(fields).toMatchObject({
			video_url: 'data:video/mp4;base64,',
			thumbnail_url: 'data:image/png;base64,',
			file: { bytes: FILE.length, type: 'video/mp4' },
		});
		expect(row).toMatchObject({ status: 'done', video_url: 'data:video/mp4;base64,' });
	});

	test('that contains the video stays whole where nothing is stored', async () => {
		report = { video_url: dataUrl(FILE) };
		const { fields } = await wait({ parameters: { download: false } });
		expect(fields['video_url']).toBe(dataUrl(FILE));
	});

	test.each([
		['something else', dataUrl(Buffer.from('no access')), 'does not contain a video'],
		['a part of it', dataUrl(FILE.subarray(0, -9)), 'ends too early for video/mp4'],
		['no base64', 'data:video/mp4;base64,***', 'The data: URL cannot be decoded'],
	])('that contains %s is Failed', async (_name, video_url, words) => {
		report = { video_url };
		const { isFailed, fields, row } = await wait();
		expect(isFailed).toBe(true);
		expect(fields).toMatchObject({ reason: 'download' });
		expect(fields['error_message']).toContain(words);
		expect(row['finished_at'] ?? null).toBeNull();
	});
});

test.each([
	'\u200btask-1',
	'task-1\ufeff',
	'\u202atask-1\u202c',
	'ta\u00adsk-1',
	' task-1\u0000\n',
])('a Task ID that was copied with invisible characters is cleaned: %j', async (taskId) => {
	expect(await wait({ items: [{ task_id: taskId }] })).toMatchObject({ isCompleted: true });
	expect(server.requests[0]!.body).toStrictEqual({ task_id: 'task-1' });
});

test.each([' ', '\n', ', ', ',', ';', '\t', ' | '])(
	'two URLs in one cell, with %j between them, are an error before anything is sent',
	async (between) => {
		const url = ['https://example.com/1.png', 'https://example.com/2.png'].join(between);
		const { error } = await runNode('createVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{ url }],
			parameters: {
				prompt: 'A lake',
				references: { file: [{ kind: 'image', source: 'url', url: '={{ $json.url }}' }] },
			},
		});
		expect(error).toMatchObject({
			message: 'References: entry 1 has more than one URL',
			description: expect.stringContaining('an expression that returns a list') as string,
		});
		expect(server.requests).toStrictEqual([]);
	},
);

describe('a chat can end with a video node', () => {
	test('output is a line with the URL', async () => {
		const { fields } = await wait();
		expect(fields['output']).toBe(`The video is ready: ${server.url}/cdn/a.mp4`);
	});

	test.each([
		[{ status: 'failed', video_url: null, error_message: 'secret' }, 'The video failed'],
		[{ video_url: 'http://127.0.0.1:1/a.mp4' }, 'The video is ready: http://127.0.0.1:1/a.mp4'],
	])('of %j it says %s, without the words of the service', async (reported, output) => {
		report = reported;
		expect((await wait()).fields).toMatchObject({ output });
	});

	test('output of a video whose URL contains the file says that it is completed', async () => {
		report = { video_url: dataUrl(FILE) };
		expect((await wait()).fields['output']).toBe('The video is completed: task task-1');
	});

	test('output of a created video says that it is not finished', async () => {
		const { outputs } = await runNode('createVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{}],
			parameters: { prompt: 'A lake' },
		});
		expect(outputs[0]![0]!.json['output']).toBe('The video is not finished: task task-1');
	});

	test('Create Video with Wait Until Finished has it, too, and no other field "output" of the service', async () => {
		report = { ...report, output: 'of the service' };
		const { outputs } = await withFakeTimers(
			async () =>
				await runNode('createVideo', {
					credential: { baseUrl: server.url, apiKey: 'k' },
					items: [{}],
					parameters: { prompt: 'A lake', waitUntilFinished: true },
				}),
		);
		expect(outputs[0]![0]!.json).toMatchObject({
			output: `The video is ready: ${server.url}/cdn/a.mp4`,
			service_output: 'of the service',
		});
	});

	test('an agent gets none', async () => {
		const { outputs } = await runNode('waitForVideoTool', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{}],
			parameters: { taskId: 'task-1' },
		});
		expect(outputs[0]![0]!.json).not.toHaveProperty('output');
	});
});

test('a failed video has the prompt that the ledger knows, a completed one has not', async () => {
	expect((await wait()).fields).not.toHaveProperty('prompt');
	report = { status: 'failed', error_message: 'moderation' };
	expect((await wait()).fields).toMatchObject({ prompt: 'A lake', error_message: 'moderation' });
	// Of two videos with one ID it is not known.
	const tables = dataTables();
	tables.insert(TASK_TABLE, { task_id: 'task-1', status: 'done', call: 'd', prompt: 'A sea' });
	expect((await wait({ tables })).fields).not.toHaveProperty('prompt');
	// What the service says itself stays.
	report = { ...report, prompt: 'A lake at dawn' };
	expect((await wait()).fields).toMatchObject({ prompt: 'A lake at dawn' });
});
