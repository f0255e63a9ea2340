// cspell:ignore faststart ftypisom isommp
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import { VIDEOS, video } from '../support/mediaFiles';
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
let time: FakeTime;
/** When each request for a file came, in milliseconds. */
let times: number[];

const seen = (path: string) => server.requests.filter((request) => request.path.startsWith(path));

beforeEach(async () => {
	times = [];
	reports = [{ video_url: `${server.url}/cdn/a.mp4` }];
});
beforeAll(async () => {
	server = await startScriptedServer((response, { path }) => {
		if (path.startsWith('/cdn/')) {
			times.push(Math.round(time.passedMs()));
			host(response, seen('/cdn/').length - 1, path);
		} else {
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
	return await withFakeTimers(async (fake) => {
		time = fake;
		const { outputs } = await runNode('waitForVideo', {
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
		};
	});
}

const GONE = { isCompleted: false, isClosed: false, file: undefined, bytes: undefined };

/** Seconds between the requests for a file. */
const pauses = () => times.slice(1).map((at, index) => Math.round((at - times[index]!) / 1000));
const PAUSES = [1, 3, 9, 20];

test.each(VIDEOS)('$name comes out with its size and type', async ({ bytes, type }) => {
	host = withLength(bytes);
	expect(await wait()).toMatchObject({
		isCompleted: true,
		isClosed: true,
		file: { bytes: bytes.length, type },
		bytes: bytes.toString('base64'),
	});
	expect(times).toHaveLength(1);
});

const BOXED = VIDEOS.filter(({ type }) => ['video/mp4', 'video/quicktime'].includes(type));

describe('bytes behind the boxes of a playable file are no fault', () => {
	const BEHIND: readonly (readonly [string, Buffer])[] = [
		['3 bytes', Buffer.from([1, 2, 3])],
		['zeros', Buffer.alloc(500)],
		['a line break', Buffer.from('\r\n')],
		['a page', Buffer.from('<!-- served by the proxy of this company -->')],
		['a tag', Buffer.from(`TAG${'x'.repeat(125)}`)],
		['a box that is cut', Buffer.from('\0\0\x10\0free', 'latin1')],
	];
	test.each(BEHIND)('%s', async (_name, behind) => {
		for (const { name, bytes } of BOXED) {
			host = withLength(Buffer.concat([bytes, behind]));
			expect([name, await wait()]).toMatchObject([name, { isCompleted: true }]);
		}
	});
});

test('a task of two items stays open while one of them has no file', async () => {
	host = (response, index, path) => {
		withLength(index === 0 ? FILE : HALF)(response, index, path);
	};
	// Two downloads of one task: the second one never gets the whole.
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
	['an empty body', withLength(Buffer.alloc(0))],
])(
	'%s: asked for again with pauses, then no file, and the row stays open',
	async (_name, script) => {
		host = script;
		const waited = await wait();
		expect(waited).toMatchObject(GONE);
		expect(waited.error).toMatch(
			/^The (file ends too early for video\/mp4|host did not send a video, but an empty body)/,
		);
		expect(pauses()).toStrictEqual(PAUSES);
	},
);

test('a file that is whole the last time is a file', async () => {
	host = (response, index, path) => {
		const body = [FILE.subarray(0, 0), HALF, FILE.subarray(0, 24), HALF, FILE][index]!;
		untilClosed(body)(response, index, path);
	};
	expect(await wait()).toMatchObject({ isCompleted: true, isClosed: true });
	expect(pauses()).toStrictEqual(PAUSES);
});

test('a sample of cut files never comes out as a whole one', async () => {
	const random = seededRandom(3);
	// Fragments are cut unseen before one of them.
	for (const { name, bytes } of BOXED.filter((each) => !each.name.includes('fragment'))) {
		const cut = bytes.subarray(0, 1 + Math.floor(random() * (bytes.length - 1)));
		for (const script of [untilClosed(cut), withLength(cut)]) {
			host = script;
			const { isClosed } = await wait();
			expect([name, cut.length, isClosed]).toStrictEqual([name, cut.length, false]);
		}
	}
});

test.each(['live.webm', 'h264.mkv'])('%s shorter than its Content-Length is cut', async (name) => {
	const { bytes } = video(name);
	host = (response) => {
		response.writeHead(200, { 'content-length': bytes.length });
		response.write(bytes.subarray(0, -9), () => {
			response.socket!.destroySoon();
		});
	};
	expect(await wait()).toMatchObject(GONE);
	expect(pauses()).toStrictEqual(PAUSES);
});

test.each([403, 404, 408, 425, 429, 500, 502, 503, 504])(
	'%d of the host is tried again with pauses of 1, 3, 9 and 20 s',
	async (status) => {
		host = (response, index, path) => {
			withLength(FILE, {}, index < 4 ? status : 200)(response, index, path);
		};
		expect(await wait()).toMatchObject({ isCompleted: true });
		expect(pauses()).toStrictEqual(PAUSES);
		// Its file is there: the service is not asked again.
		expect(seen('/v1/')).toHaveLength(1);
	},
);

test('a status that stays is Failed with the words of the host, after one question to the service', async () => {
	const words = '<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
	host = withLength(Buffer.from(words), { 'content-type': 'application/xml' }, 403);
	const { error, ...waited } = await wait();
	expect(waited).toMatchObject(GONE);
	expect(error).toBe(
		'The file could not be downloaded: AccessDenied Request has expired (status 403). The video is completed: open its URL, or run Wait for Video with this task ID',
	);
	expect(pauses()).toStrictEqual(PAUSES);
	expect(seen('/v1/')).toHaveLength(2);
});

test.each([400, 410, 451])('%d is not tried again', async (status) => {
	host = withLength(Buffer.from('Gone for good'), {}, status);
	expect((await wait()).error).toContain(`: Gone for good (status ${status})`);
	expect(times).toHaveLength(1);
});

test('a host that wants a key is named, and gets none', async () => {
	host = withLength(Buffer.from('{"error":"missing token"}'), {}, 401);
	const { error, ...waited } = await wait();
	expect(waited).toMatchObject(GONE);
	expect(error).toBe(
		'The host 127.0.0.1 wants a key, and only the service gets the API key (status 401). Download it with an HTTP Request node and a credential for that host',
	);
	expect(seen('/cdn/').map(({ headers }) => headers.authorization)).toStrictEqual([undefined]);
});

test.each([
	['all of it', FILE, `bytes 0-${FILE.length - 1}/${FILE.length}`, true],
	['its beginning', HALF, `bytes 0-${HALF.length - 1}/${FILE.length}`, false],
	['its end', FILE.subarray(1), `bytes 1-${FILE.length - 1}/${FILE.length}`, false],
	['nothing that is known', FILE, 'bytes */5', false],
])('206 with %s', async (_name, body, range, isCompleted) => {
	host = withLength(body, { 'content-range': range }, 206);
	expect(await wait()).toMatchObject({ isCompleted });
	expect(times).toHaveLength(1);
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
		expect([seen('/v1/').length, seen('/cdn/').length]).toStrictEqual([2, 6]);
	});

	test('is asked for once', async () => {
		reports = [at('old'), at('old2'), at('new')];
		const waited = await wait();
		expect(waited).toMatchObject(GONE);
		expect(waited.error).toContain('(status 403)');
		expect([seen('/v1/').length, seen('/cdn/').length]).toStrictEqual([2, 10]);
	});

	test.each<[string, () => object]>([
		['the same', () => at('old')],
		['none', () => ({ video_url: null })],
		['a failure', () => ({ status: 'failed', video_url: null })],
	])('that is %s is not tried', async (_name, next) => {
		reports = [at('old'), next()];
		expect(await wait()).toMatchObject(GONE);
		expect(seen('/cdn/')).toHaveLength(5);
	});

	test('is not asked for when a file exceeds a limit', async () => {
		reports = [at('a'), at('new')];
		const { error } = await wait({
			options: { maximumFileSize: 0.001 },
		});
		// It is paid for: an error that begins with the name of a field says that nothing was sent.
		expect(error).toMatch(
			/^The video is too large\. Maximum File Size is .*Raise the limit.*is completed/,
		);
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
	const { outputs } = await withFakeTimers(async (fake) => {
		time = fake;
		return await runNode('createVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{}],
			parameters: { prompt: 'A lake', waitUntilFinished: true },
		});
	});
	expect(outputs[0]![0]!.json['file']).toStrictEqual({ bytes: FILE.length, type: 'video/mp4' });
});
