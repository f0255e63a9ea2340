// cspell:ignore faststart ftypisom isommp
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { SOUNDS, VIDEOS, video } from '../support/mediaFiles';
import { sampleFile } from '../support/sampleFiles';
import { seededRandom } from '../support/seededRandom';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

/** Answers a request for a file; `index` counts those before it. */
type Host = (response: ServerResponse, index: number, path: string) => void;

const FILE = video('faststart.mp4').bytes;
const HALF = FILE.subarray(0, FILE.length / 2);

let server: ScriptedServer;
let host: Host;
/** What the service answers to each poll. */
let reports: readonly object[];

const seen = (path: string) => server.requests.filter((request) => request.path.startsWith(path));

beforeEach(async () => {
	reports = [{ video_url: `${server.url}/cdn/a.mp4` }];
});
beforeAll(async () => {
	server = await startScriptedServer((response, { path }) => {
		if (path.startsWith('/cdn/')) host(response, seen('/cdn/').length - 1, path);
		else {
			const report = reports[Math.min(seen('/v1/').length, reports.length) - 1];
			json(response, 200, { status: 'completed', ...report });
		}
	});
});
afterEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await server.stop();
});

/** A body that ends with its connection, as of HTTP/1.0: nothing says how long it is. */
const untilClosed =
	(body: Buffer, headers: Record<string, string> = {}): Host =>
	(response) => {
		const lines = Object.entries({ connection: 'close', ...headers }).map((line) =>
			line.join(': '),
		);
		response.socket!.write(['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n'));
		response.socket!.end(body);
	};

/** A body with its length. */
const withLength =
	(body: Buffer, headers: Record<string, string> = {}, status = 200): Host =>
	(response) => {
		response.writeHead(status, { 'content-length': body.length, ...headers }).end(body);
	};

/** Runs Wait for Video for one task of the ledger. */
async function wait(parameters: object = {}, more: Partial<RunOptions> = {}) {
	const tables = dataTables();
	tables.insert(TASK_TABLE, { task_id: 'task-1', status: 'queued', call: 'call-1' });
	return await withFakeTimers(async () => {
		const { outputs, run } = await runNode('waitForVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{ task_id: 'task-1' }],
			tables,
			parameters: { ...parameters },
			...more,
		});
		const [item] = [...outputs[COMPLETED]!, ...outputs[FAILED]!];
		const { finished_at, error, video_url } = tables.rows[0]!;
		return {
			isCompleted: outputs[COMPLETED]!.length === 1,
			isClosed: (finished_at ?? null) !== null,
			row: { error, video_url },
			file: item!.json['file'],
			error: item!.json['error_message'],
			bytes: item!.binary?.['data']?.data,
			hints: JSON.stringify(run.data.resultData.runData['Tested']![0]!.hints ?? []),
		};
	});
}

const GONE = { isCompleted: false, isClosed: false, file: undefined, bytes: undefined };

test.each(VIDEOS)('$name comes out with what its container tells', async ({ bytes, facts }) => {
	host = withLength(bytes);
	expect(await wait()).toMatchObject({
		isCompleted: true,
		isClosed: true,
		file: { bytes: bytes.length, ...facts, verified: true },
		bytes: bytes.toString('base64'),
	});
	expect(seen('/cdn/')).toHaveLength(1);
});

test('a task of two items stays open while one of them has no file', async () => {
	host = (response, index, path) => {
		withLength(index === 0 ? FILE : HALF)(response, index, path);
	};
	const items = [{ task_id: 'task-1' }, { task_id: 'task-1' }];
	expect(await wait({}, { items })).toMatchObject({
		isCompleted: true,
		isClosed: false,
		row: { error: expect.stringContaining('The file ends too early for video/mp4') as string },
		bytes: FILE.toString('base64'),
	});
});

test.each<[string, Host]>([
	['half of a file that ends with its connection', untilClosed(HALF)],
	['a Content-Length that is too small', withLength(HALF)],
	['the first 24 bytes', withLength(Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isommp41'))],
	['truncated gzip', withLength(gzipSync(FILE).subarray(0, -99), { 'content-encoding': 'gzip' })],
	[
		'truncated brotli',
		withLength(brotliCompressSync(FILE).subarray(0, -99), { 'content-encoding': 'br' }),
	],
	[
		'truncated zstd',
		withLength(zstdCompressSync(FILE).subarray(0, -99), { 'content-encoding': 'zstd' }),
	],
])('%s: asked for again once, then no file, and the row stays open', async (_name, script) => {
	host = script;
	const waited = await wait();
	expect(waited).toMatchObject(GONE);
	expect(waited.error).toMatch(
		/^The (file ends too early for video\/mp4|host did not send a video, but an empty body)/,
	);
	expect(seen('/cdn/').length).toBeLessThanOrEqual(2);
});

test('a file that is whole the second time is a file', async () => {
	host = (response, index, path) => {
		(index === 0 ? untilClosed(HALF) : withLength(FILE))(response, index, path);
	};
	expect(await wait()).toMatchObject({ isCompleted: true, isClosed: true });
});

test('a sample of cut files never comes out as a whole one', async () => {
	const random = seededRandom(3);
	for (const { name, bytes } of VIDEOS) {
		const cut = bytes.subarray(0, 1 + Math.floor(random() * (bytes.length - 1)));
		for (const script of [untilClosed(cut), withLength(cut)]) {
			host = script;
			const { isClosed, file } = await wait();
			const { verified } = (file ?? {}) as { verified?: boolean };
			expect([name, cut.length, isClosed, verified === true]).toStrictEqual([
				name,
				cut.length,
				false,
				false,
			]);
		}
	}
});

describe.each(['open-fragments.mp4', 'live.webm'])('%s does not say where it ends', (name) => {
	const { bytes } = video(name);

	test('without a length it is not verified, which is said, and its row stays open', async () => {
		host = untilClosed(bytes);
		const { hints, ...waited } = await wait();
		const words = 'Neither the file nor its host says where it ends, so it may be cut';
		expect(waited).toMatchObject({
			isCompleted: true,
			isClosed: false,
			row: { error: expect.stringContaining(words) as string },
			file: { bytes: bytes.length, verified: false },
		});
		expect(hints).toContain(words);
	});

	test('with a length, or with a checksum, it is verified', async () => {
		host = withLength(bytes);
		expect(await wait()).toMatchObject({ isClosed: true, file: { verified: true } });
		const md5 = createHash('md5').update(bytes).digest('base64');
		host = untilClosed(bytes, { 'content-md5': md5 });
		expect(await wait()).toMatchObject({ isClosed: true, file: { verified: true } });
	});
});

describe('a checksum of the host', () => {
	const sha = (bits: string, bytes: Buffer) =>
		`sha-${bits}=:${createHash(`sha${bits}`).update(bytes).digest('base64')}:`;
	const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('base64');
	const changed = Buffer.from(FILE);
	changed[FILE.length - 5]! ^= 1;

	test.each<[string, (bytes: Buffer) => Record<string, string>]>([
		['Content-MD5', (bytes) => ({ 'content-md5': md5(bytes) })],
		['Repr-Digest', (bytes) => ({ 'repr-digest': sha('256', bytes) })],
		[
			'the last of two',
			(bytes) => ({ 'repr-digest': `${sha('256', FILE)}, ${sha('512', bytes)}` }),
		],
	])('%s is compared', async (_name, headersOf) => {
		host = withLength(FILE, headersOf(FILE));
		expect(await wait()).toMatchObject({ isCompleted: true });
		host = withLength(FILE, headersOf(changed));
		const waited = await wait();
		expect(waited).toMatchObject(GONE);
		expect(waited.error).toContain('The file does not match the checksum that its host states');
	});

	test('is not that of a body which is sent compressed', async () => {
		const body = gzipSync(FILE);
		host = withLength(body, { 'content-encoding': 'gzip', 'content-md5': md5(body) });
		expect(await wait()).toMatchObject({ isCompleted: true, file: { verified: true } });
	});
});

test.each(SOUNDS)('$name is no video', async ({ bytes }) => {
	host = withLength(bytes);
	const waited = await wait();
	expect(waited).toMatchObject(GONE);
	expect(waited.error).toContain('The file has no video, but only sound');
	expect(seen('/cdn/')).toHaveLength(1);
});

test('a transport stream has no stated end: it is not verified', async () => {
	host = withLength(Buffer.from(`G@\0\x10${'\0'.repeat(184)}`.repeat(4), 'latin1'));
	expect(await wait()).toMatchObject({
		isCompleted: true,
		isClosed: false,
		file: { verified: false },
	});
});

test.each([404, 408, 425, 500])('one %d of the host is tried again', async (status) => {
	host = (response, index, path) => {
		(index === 0 ? withLength(FILE, {}, status) : withLength(FILE))(response, index, path);
	};
	expect(await wait()).toMatchObject({ isCompleted: true });
});

test.each([
	[`bytes 0-${FILE.length - 1}/${FILE.length}`, true],
	[`bytes 0-${FILE.length - 2}/${FILE.length}`, false],
	[`bytes 1-${FILE.length - 1}/${FILE.length}`, false],
	['bytes */5', false],
])('206 with the range %s: a file is %p', async (range, isCompleted) => {
	host = withLength(FILE, { 'content-range': range }, 206);
	expect(await wait()).toMatchObject({ isCompleted });
});

describe('a fresh URL', () => {
	beforeEach(() => {
		host = (response, index, path) => {
			withLength(FILE, {}, path.includes('old') ? 403 : 200)(response, index, path);
		};
	});
	const at = (name: string) => ({ video_url: `${server.url}/cdn/${name}.mp4` });

	test('is asked for when a download has failed', async () => {
		reports = [at('old'), at('new')];
		const { row, ...waited } = await wait();
		expect(waited).toMatchObject({ isCompleted: true, isClosed: true });
		expect(row).toMatchObject({ ...at('new') });
		expect([seen('/v1/').length, seen('/cdn/').length]).toStrictEqual([2, 2]);
	});

	test('is asked for once', async () => {
		reports = [at('old'), at('old2'), at('new')];
		const waited = await wait();
		expect(waited).toMatchObject(GONE);
		expect(waited.error).toContain('(status 403)');
		expect([seen('/v1/').length, seen('/cdn/').length]).toStrictEqual([2, 2]);
	});

	test.each<[string, () => object]>([
		['the same', () => at('old')],
		['none', () => ({ video_url: null })],
		['a failure', () => ({ status: 'failed', video_url: null })],
	])('that is %s is not tried', async (_name, next) => {
		reports = [at('old'), next()];
		expect(await wait()).toMatchObject(GONE);
		expect(seen('/cdn/')).toHaveLength(1);
	});

	test('is not asked for when a file exceeds a limit', async () => {
		reports = [at('a'), at('new')];
		const { error } = await wait({
			options: { maximumFileSize: 0.001 },
		});
		expect(error).toContain('Maximum File Size');
		expect(seen('/v1/')).toHaveLength(1);
	});

	test('replaces what is no URL of a file', async () => {
		reports = [{ video_url: 'javascript:alert(1)' }, at('new')];
		expect(await wait()).toMatchObject({ isCompleted: true, isClosed: true });
	});
});

describe('Download Video off', () => {
	test.each([{}, 'pending', '/cdn/x.mp4', 'javascript:alert(1)', 'http://a b/', 17])(
		'%j is no URL of a file: the row stays open',
		async (video_url) => {
			reports = [{ video_url }];
			const { isCompleted, isClosed, error } = await wait({ download: false });
			expect({ isCompleted, isClosed }).toStrictEqual({
				isCompleted: false,
				isClosed: false,
			});
			expect(error).toMatch(/^The URL of the file is not an http\(s\) URL: /);
		},
	);

	test('a URL of a file is the result', async () => {
		expect(await wait({ download: false })).toMatchObject({
			isCompleted: true,
			isClosed: true,
			file: undefined,
		});
		expect(seen('/cdn/')).toHaveLength(0);
	});
});

test('Create Video with Wait Until Finished tells the same of its file', async () => {
	reports = [{ task_id: 'task-1', status: 'queued' }, { video_url: `${server.url}/cdn/a.mp4` }];
	host = withLength(FILE);
	const { outputs } = await withFakeTimers(
		async () =>
			await runNode('createVideo', {
				credential: { baseUrl: server.url, apiKey: 'k' },
				items: [{}],
				parameters: { prompt: 'A lake', waitUntilFinished: true },
			}),
	);
	expect(outputs[0]![0]!.json['file']).toMatchObject({ width: 64, verified: true });
});

test.each(['image/png', 'image/webp', 'video/mp4'] as const)(
	'a cut file of a chat (%s) is none',
	async (type) => {
		const file = sampleFile(type, Buffer.alloc(5_000));
		host = untilClosed(file.subarray(0, -1_000));
		const content = `${server.url}/cdn/a.${type.split('/')[1]!}`;
		reports = [
			{ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] },
		];
		const { outputs } = await withFakeTimers(
			async () =>
				await runNode('chatCompletion', {
					credential: { baseUrl: server.url, apiKey: 'k' },
					items: [{ chatInput: 'Show me' }],
					parameters: { streaming: 'off', options: { downloadMedia: true } },
				}),
		);
		expect(outputs[0]![0]!.json['media']).toMatchObject([
			{ error_message: expect.stringContaining('The file ends too early for') as string },
		]);
		expect(outputs[0]![0]!.binary).toBeUndefined();
	},
);
