// cspell:ignore faststart ftypisom isommp
// @seconds 10
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { Container } from '@n8n/di';
import { build } from 'esbuild';
import { BinaryDataService } from 'n8n-core';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables } from '../support/dataTables';
import { answer, choose, downloads, HINT, withLength, type Host } from '../support/downloads';
import { canceler, runNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import type { Measured } from '../support/measureDownload';
import { VIDEOS, video } from '../support/mediaFiles';
import { sampleFile, videoHead } from '../support/sampleFiles';
import { startScriptedServer } from '../support/scriptedServer';
import { COMPLETED, ERROR, FAILED } from '../support/waitOutputs';
import { ids } from '../support/waitRuns';

const MP4 = sampleFile('video/mp4');
const PNG = sampleFile('image/png');
const MEGABYTE = 1_000_000;
const MINUTE_MS = 60_000;
/** Seconds before each of the four retries. */
const PAUSES = [1, 3, 9, 20];
const FILE = video('faststart.mp4').bytes;
const HALF = FILE.subarray(0, FILE.length / 2);
const END = video('moov-at-end.mp4').bytes;

const scene = downloads();

/** A body that ends with its connection, as of HTTP/1.0: nothing says how long it is. */
const untilClosed =
	(body: Buffer): Host =>
	(response) => {
		response.socket!.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
		response.socket!.end(body);
	};

/** A body whose connection breaks after some of its bytes. */
const broken =
	(body: Buffer, bytes: number): Host =>
	(response) => {
		response.writeHead(200, { 'content-length': body.length, 'accept-ranges': 'bytes' });
		response.write(body.subarray(0, bytes), () => {
			response.socket!.destroySoon();
		});
	};

/** Waits for a task of the ledger: what becomes of its file and of its row. */
async function waitRow(parameters: object = {}, more: Partial<RunOptions> = {}) {
	const tables = dataTables();
	tables.insert(TASK_TABLE, { task_id: 'task-1', status: 'queued', call: 'call-1' });
	const options = { tables, ...more, parameters: { ...parameters } };
	const { isCompleted, fields, error, file } = await scene.wait({}, options);
	const { finished_at, error: problem, video_url } = tables.rows[0]!;
	return {
		isCompleted,
		isClosed: (finished_at ?? null) !== null,
		row: { error: problem, video_url },
		file: fields['file'],
		error,
		bytes: file?.data,
	};
}
const WHOLE = { isCompleted: true, isClosed: true };
const GONE = { isCompleted: false, isClosed: false, file: undefined, bytes: undefined };

describe('a whole video', () => {
	test.each(VIDEOS)('$name comes out with its size and type', async ({ bytes, type }) => {
		scene.host = withLength(bytes);
		expect(await waitRow()).toMatchObject({
			...WHOLE,
			file: { bytes: bytes.length, type },
			bytes: bytes.toString('base64'),
		});
		expect(scene.times).toHaveLength(1);
	});

	const BOXED = VIDEOS.filter(({ type }) => ['video/mp4', 'video/quicktime'].includes(type));

	test.each([
		['3 bytes', Buffer.from([1, 2, 3])],
		['zeros', Buffer.alloc(500)],
		['a line break', Buffer.from('\r\n')],
		['a page', Buffer.from('<!-- served by the proxy of this company -->')],
		['a tag', Buffer.from(`TAG${'x'.repeat(125)}`)],
		['a box that is cut', Buffer.from('\0\0\x10\0free', 'latin1')],
	])('may have %s behind its boxes', async (_name, behind) => {
		const files = BOXED.map(({ bytes }) => Buffer.concat([bytes, behind]));
		scene.host = choose((_index, path) => withLength(files[Number(/\d+/.exec(path))]!));
		const items = ids(...files.map((_file, index) => index));
		expect((await scene.wait({}, { items })).outputs[COMPLETED]).toHaveLength(files.length);
	});

	const truncated = (encoding: string, bytes: Buffer): [string, Host] => [
		`truncated ${encoding}`,
		withLength(bytes.subarray(0, -99), { 'content-encoding': encoding }),
	];
	test.each<[string, Host]>([
		['half of a file that ends with its connection', untilClosed(HALF)],
		['a Content-Length that is too small', withLength(HALF)],
		['half of a file whose index is at its end', withLength(END.subarray(0, END.length / 2))],
		['the first 24 bytes', withLength(Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isommp41'))],
		truncated('gzip', gzipSync(FILE)),
		truncated('br', brotliCompressSync(FILE)),
		truncated('zstd', zstdCompressSync(FILE)),
		['an empty body', withLength(Buffer.alloc(0))],
		['a status without a body', answer(undefined, '', 204)],
	])(
		'is not %s: asked for again with pauses, then no file, and the row stays open',
		async (_name, host) => {
			scene.host = host;
			const waited = await waitRow();
			expect(waited).toMatchObject(GONE);
			expect(waited.error).toMatch(
				/^The (file ends too early for video\/mp4|host did not send a video, but an empty body)/,
			);
			expect(scene.pauses()).toStrictEqual(PAUSES);
		},
	);

	test('may come the last time', async () => {
		const bodies = [FILE.subarray(0, 0), HALF, FILE.subarray(0, 24), HALF, FILE];
		scene.host = choose((index) => untilClosed(bodies[index]!));
		expect(await waitRow()).toMatchObject(WHOLE);
		expect(scene.pauses()).toStrictEqual(PAUSES);
	});

	test.each(['live.webm', 'h264.mkv'])('%s is as long as its Content-Length', async (name) => {
		const { bytes } = video(name);
		scene.host = broken(bytes, bytes.length - 9);
		expect(await waitRow()).toMatchObject(GONE);
		expect(scene.pauses()).toStrictEqual(PAUSES);
	});

	test.each([
		['all of it', FILE, `bytes 0-${FILE.length - 1}/${FILE.length}`, true],
		['its beginning', HALF, `bytes 0-${HALF.length - 1}/${FILE.length}`, false],
		['its end', FILE.subarray(1), `bytes 1-${FILE.length - 1}/${FILE.length}`, false],
		['nothing that is known', FILE, 'bytes */5', false],
	])('may be a part with %s: status 206', async (_name, body, range, isCompleted) => {
		scene.host = withLength(body, { 'content-range': range }, 206);
		expect(await waitRow()).toMatchObject({ isCompleted });
		expect(scene.times).toHaveLength(1);
	});
});

test('an interrupted download begins again, and never asks for a part', async () => {
	const file = sampleFile('video/mp4', '0123456789'.repeat(20_000));
	scene.host = choose((index) => (index < 2 ? broken(file, 60_000) : withLength(file)));
	const { file: stored } = await scene.wait();
	expect(Buffer.from(stored!.data, 'base64').equals(file)).toBe(true);
	expect(stored!.bytes).toBe(file.length);
	expect(scene.files()).toHaveLength(3);
	for (const { headers } of scene.files()) {
		expect(headers).not.toHaveProperty('range');
		expect(headers).not.toHaveProperty('if-range');
		expect(headers).not.toHaveProperty('authorization');
	}
});

test('a task of two items stays open while one of them has no file', async () => {
	scene.host = choose((index) => withLength(index === 0 ? FILE : HALF));
	// Two downloads of one task: the second one never gets the whole.
	expect(await waitRow({}, { items: ids('task-1', 'task-1') })).toMatchObject({
		isCompleted: true,
		isClosed: false,
		row: { error: expect.stringContaining('The file ends too early for video/mp4') as string },
		bytes: FILE.toString('base64'),
	});
});

test('Create Video with Wait Until Finished tells the same of its file', async () => {
	scene.reports = [{ task_id: 'task-1', status: 'queued' }, {}];
	scene.host = withLength(FILE);
	const { outputs } = await withFakeTimers(
		async () =>
			await runNode('createVideo', {
				credential: { baseUrl: scene.url, apiKey: 'k' },
				parameters: { prompt: 'A lake', waitUntilFinished: true },
			}),
	);
	expect(outputs[0]![0]!.json['file']).toStrictEqual({ bytes: FILE.length, type: 'video/mp4' });
});

describe('a status of the host', () => {
	test.each([403, 404, 408, 425, 429, 500, 502, 503, 504])(
		'%d is tried again with pauses of 1, 3, 9 and 20 s',
		async (status) => {
			scene.host = choose((index) => withLength(FILE, {}, index < 4 ? status : 200));
			expect(await waitRow()).toMatchObject({ isCompleted: true });
			expect(scene.pauses()).toStrictEqual(PAUSES);
			// Its file is there: the service is not asked again.
			expect(scene.polls()).toHaveLength(1);
		},
	);

	test('that stays is Failed with the words of the host, after one question to the service', async () => {
		const words =
			'<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';
		scene.host = answer('application/xml', words, 403);
		const { error, ...waited } = await waitRow();
		expect(waited).toMatchObject(GONE);
		expect(error).toBe(
			`The file could not be downloaded: AccessDenied Request has expired (status 403). ${HINT}`,
		);
		expect(scene.pauses()).toStrictEqual(PAUSES);
		expect(scene.polls()).toHaveLength(2);
	});

	test.each([400, 410, 451])('%d is not tried again', async (status) => {
		scene.host = answer(undefined, 'Gone for good', status);
		expect((await waitRow()).error).toContain(`: Gone for good (status ${status})`);
		expect(scene.times).toHaveLength(1);
	});

	test('that wants a key is named, and gets none', async () => {
		scene.host = answer(undefined, '{"error":"missing token"}', 401);
		const { error, ...waited } = await waitRow();
		expect(waited).toMatchObject(GONE);
		expect(error).toBe(
			'The host 127.0.0.1 wants a key, and only the service gets the API key (status 401). Download it with an HTTP Request node and a credential for that host',
		);
		expect(scene.files().map(({ headers }) => headers.authorization)).toStrictEqual([
			undefined,
		]);
	});

	test('that fails the node is in its error, with task and URL', async () => {
		scene.host = answer('application/json', '{}', 404);
		const options = { onFailed: 'fail' };
		const video_url = `${scene.url}/cdn/task-1.mp4`;
		const { error } = await withFakeTimers(async () => await scene.run(options));
		expect(error).toMatchObject({
			name: 'NodeApiError',
			message: 'The file could not be downloaded. Retry polls again, free of charge',
			httpCode: '404',
		});
		expect(error!.description).toContain('task_id: task-1');
		expect(error!.description).toContain(`video_url: ${video_url}`);
		const { outputs } = await scene.wait(options, { onError: 'continueErrorOutput' });
		expect(outputs[ERROR]![0]!.json['details']).toMatchObject({
			status: 404,
			task_id: 'task-1',
			video_url,
		});
	});
});

describe('a fresh URL', () => {
	beforeEach(() => {
		scene.host = choose((_index, path) =>
			withLength(FILE, {}, path.includes('old') ? 403 : 200),
		);
	});
	const at = (name: string) => ({ video_url: `${scene.url}/cdn/${name}.mp4` });
	const requests = () => [scene.polls().length, scene.files().length];

	test('is asked for when a download has failed', async () => {
		scene.reports = [at('old'), at('new')];
		expect(await waitRow()).toMatchObject({ ...WHOLE, row: at('new') });
		expect(requests()).toStrictEqual([2, 6]);
	});

	test('is asked for once', async () => {
		scene.reports = [at('old'), at('old2'), at('new')];
		const waited = await waitRow();
		expect(waited).toMatchObject(GONE);
		expect(waited.error).toContain('(status 403)');
		expect(requests()).toStrictEqual([2, 10]);
	});

	test.each<[string, () => object]>([
		['the same', () => at('old')],
		['none', () => ({ video_url: null })],
		['a failure', () => ({ status: 'failed', video_url: null })],
	])('that is %s is not tried', async (_name, next) => {
		scene.reports = [at('old'), next()];
		expect(await waitRow()).toMatchObject(GONE);
		expect(scene.files()).toHaveLength(5);
	});

	test('is not asked for when a file exceeds a limit', async () => {
		scene.reports = [at('a'), at('new')];
		const { error } = await waitRow({ options: { maximumFileSize: 0.001 } });
		// It is paid for: an error that begins with the name of a field says that nothing was sent.
		expect(error).toMatch(
			/^The video is too large\. Maximum File Size is .*Raise the limit.*is completed/,
		);
		expect(scene.polls()).toHaveLength(1);
	});

	test('replaces what is no URL of a file', async () => {
		scene.reports = [{ video_url: 'javascript:alert(1)' }, at('new')];
		expect(await waitRow()).toMatchObject(WHOLE);
	});
});

describe('Download Video', () => {
	test.each([{}, 'pending', '/cdn/x.mp4', 'javascript:alert(1)', 'http://a b/', 17])(
		'off: %j is no URL of a file, and the row stays open',
		async (video_url) => {
			scene.reports = [{ video_url }];
			const { error, ...waited } = await waitRow({ download: false });
			expect(waited).toMatchObject(GONE);
			expect(error).toMatch(/^The URL of the file is not an http\(s\) URL: /);
		},
	);

	test('off: a URL of a file is the result', async () => {
		expect(await waitRow({ download: false })).toMatchObject({ ...WHOLE, file: undefined });
		expect(scene.files()).toHaveLength(0);
	});

	test.each([
		['FALSE', 0],
		[null, 1],
	])('from an expression may be %j', async (download, files) => {
		scene.host = withLength(FILE);
		const items = [{ task_id: 'task-1', download }];
		const parameters = { download: '={{ $json.download }}' };
		expect((await scene.wait({}, { items, parameters })).isCompleted).toBe(true);
		expect(scene.files()).toHaveLength(files);
	});
});

describe('a thumbnail', () => {
	const still = () => `${scene.url}/cdn/still`;
	/** A host of the video, and of this thumbnail. */
	const withStill = (host: Host) => {
		scene.reports = [{ thumbnail_url: still() }];
		scene.host = choose((_index, path) => (path.endsWith('still') ? host : withLength(MP4)));
	};
	const options = { downloadThumbnail: true };

	test('is a file of its own, and the name can be an expression', async () => {
		withStill(answer('image/png', PNG));
		const { outputs } = await scene.wait(
			{ ...options, fileName: '={{ $json.topic }}' },
			{ items: [{ task_id: 'task-1', topic: 'A tram/at night' }] },
		);
		expect(outputs[COMPLETED]![0]!.binary).toMatchObject({
			data: { fileName: 'A tram-at night.mp4', mimeType: 'video/mp4' },
			thumbnail: { fileName: 'A tram-at night.png', mimeType: 'image/png' },
		});
	});

	test('that the video does not have is not an error', async () => {
		scene.host = withLength(MP4);
		const { outputs } = await scene.wait(options);
		expect(Object.keys(outputs[COMPLETED]![0]!.binary!)).toStrictEqual(['data']);
	});

	test.each<[string, Host, string, number?]>([
		[
			'404',
			answer('text/plain', 'gone', 404),
			`The file could not be downloaded: gone (status 404). ${HINT}`,
		],
		[
			'an error page',
			answer('image/jpeg', '{"error":"expired"}'),
			`The host did not send an image, but application/json: {"error":"expired"}. ${HINT}`,
		],
		[
			'a video',
			answer('image/jpeg', MP4),
			`The host did not send an image, but video/mp4. ${HINT}`,
		],
		[
			'a number in place of its URL',
			answer('image/png', PNG),
			'The URL of the file is not an http(s) URL: 5. Run Wait for Video with this task ID',
			5,
		],
	])('that fails with %s does not take the video with it', async (...row) => {
		const [, host, message, named] = row;
		withStill(host);
		const thumbnail_url = named ?? still();
		scene.reports = [{ thumbnail_url }];
		const url = String(thumbnail_url);
		for (const onFailed of ['output', 'fail']) {
			const { status, outputs, fields, run } = await scene.wait({ ...options, onFailed });
			expect(status).toBe('success');
			expect(outputs[FAILED]).toStrictEqual([]);
			expect(Object.keys(outputs[COMPLETED]![0]!.binary!)).toStrictEqual(['data']);
			expect(fields['missing_files']).toMatchObject([
				{ file: 'thumbnail', url, error_message: message },
			]);
			expect(fields).not.toHaveProperty('reason');
			expect(fields).not.toHaveProperty('error_message');
			expect(run.data.resultData.runData['Tested']![0]!.hints).toContainEqual({
				type: 'warning',
				location: 'outputPane',
				message: '1 file could not be downloaded. See "missing_files" in the output.',
			});
		}
	});

	test('that is canceled leaves the task open: its video has not arrived', async () => {
		const { onStart, cancel } = canceler();
		withStill(cancel);
		const tables = dataTables();
		tables.insert(TASK_TABLE, { task_id: 'task-1', status: 'queued', call: 'call-1' });
		const { status } = await scene.wait(options, { tables, onStart });
		expect(status).toBe('canceled');
		expect(tables.rows[0]!['finished_at'] ?? null).toBeNull();
	});

	test('in the field of the video is an error before the wait', async () => {
		const { error } = await scene.run({ ...options, thumbnailProperty: 'data' });
		expect(error).toMatchObject({
			message: 'Put Thumbnail in Field is also the field of the video',
			description: 'Enter another name',
		});
		expect(scene.polls()).toHaveLength(0);
	});
});

/** A host whose file has some bytes, and no end; settles when its connection is closed. */
async function untilHostClosed(onSent: () => void = () => undefined): Promise<void> {
	await new Promise<void>((resolve) => {
		scene.host = (response) => {
			response.writeHead(200, { 'content-type': 'video/mp4', etag: '"v1"' });
			response.on('close', resolve);
			response.write(Buffer.concat([MP4, Buffer.alloc(10_000)]), onSent);
		};
	});
}

test('canceling closes the connection of a download', async () => {
	const { onStart, cancel } = canceler();
	const closed = untilHostClosed(cancel);
	expect((await scene.run({}, { onStart })).status).toBe('canceled');
	await closed;
	expect(scene.files()).toHaveLength(1);
});

test('a store that fails closes the connection to the host', async () => {
	const store = jest.spyOn(Container.get(BinaryDataService), 'store');
	store.mockRejectedValue(new Error('No space left on device'));
	const closed = untilHostClosed();
	const { outputs, error } = await scene.run();
	await closed;
	expect(scene.files()).toHaveLength(1);
	expect(error?.message ?? outputs[FAILED]![0]!.json['error_message']).toContain('No space left');
});

describe('size', () => {
	const head = videoHead(30_000);
	test.each<[string, number | undefined, Host, string]>([
		[
			'an announced size over the limit is not downloaded',
			undefined,
			(response) => response.writeHead(200, { 'content-length': 500_000_001 }).write(MP4),
			'500 MB, but the file has 500 MB.',
		],
		[
			'compressed data counts as what it becomes',
			1,
			(response) => {
				const bomb = gzipSync(Buffer.concat([MP4, Buffer.alloc(2 * MEGABYTE)]));
				response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
			},
			'1 MB, but the file is larger.',
		],
		[
			'a small limit is shown as it was entered',
			0.02,
			withLength(Buffer.concat([head, Buffer.alloc(30_000 - head.length)])),
			'0.02 MB, but the file has 0.03 MB.',
		],
	])('%s', async (_name, maximumFileSize, host, words) => {
		scene.host = host;
		const { error } = await scene.wait({ ...(maximumFileSize && { maximumFileSize }) });
		expect(error).toContain(`Maximum File Size is ${words}`);
		expect(scene.files()).toHaveLength(1);
	});

	test('0 means no limit', async () => {
		scene.host = answer(undefined, Buffer.concat([MP4, Buffer.alloc(400_000)]));
		expect((await scene.wait({ maximumFileSize: 0 })).isCompleted).toBe(true);
	});

	test('what a host compresses unasked is decompressed, also when its length is announced', async () => {
		scene.host = withLength(gzipSync(MP4), { 'content-encoding': 'gzip' });
		expect((await scene.wait()).isCompleted).toBe(true);
		expect(scene.files()[0]!.headers['accept-encoding']).toBe('identity');
	});

	test('broken compressed data is not requested again', async () => {
		scene.host = withLength(Buffer.from('this is not gzip'), { 'content-encoding': 'gzip' });
		const { error } = await scene.wait();
		expect(error).toContain('The host sent broken compressed data. The video is completed');
		expect(scene.files()).toHaveLength(1);
	});
});

describe('time', () => {
	test.each([
		['of one host', Infinity, 1],
		['of another host, after its first one has failed', 14 * MINUTE_MS, 3],
	])(
		'a byte now and then does not keep a download going forever: %s',
		async (_host, failsAfterMs, count) => {
			const another = { status: 'completed', video_url: `${scene.url}/cdn/another.mp4` };
			scene.reports = [{ ...another, video_url: `${scene.url}/cdn/first.mp4` }, another];
			scene.host = (response, { path }, index) => {
				const isFirst = path.endsWith('first.mp4');
				if (isFirst && index > 0) {
					response.writeHead(410).end();
					return;
				}
				scene.hold(response);
				response.writeHead(200, { 'content-type': 'video/mp4', etag: '"v1"' });
				response.write(MP4);
				// Not `setInterval`, whose time is real.
				const drip = (): void => {
					response.write('x');
					if (!response.destroyed) setTimeout(drip, 20_000);
				};
				setTimeout(drip, 20_000);
				if (isFirst && failsAfterMs < Infinity)
					setTimeout(() => response.destroy(), failsAfterMs);
			};
			const { error, passedMs } = await scene.wait();
			expect(error).toContain(
				'The download took more than 15 minutes. The video is completed',
			);
			expect(passedMs).toBeGreaterThanOrEqual(15 * MINUTE_MS);
			expect(passedMs).toBeLessThan(16 * MINUTE_MS);
			expect(scene.files()).toHaveLength(count);
		},
		60_000,
	);

	test.each([
		['within the file', 200, MP4.subarray(0, -1)],
		['before it', 200, ''],
		['in the words of an error', 503, 'Wait'],
	])('a host that goes silent %s is asked again a minute later', async (_where, status, part) => {
		scene.host = (response, _request, index) => {
			if (index > 0) {
				response.end(MP4);
				return;
			}
			scene.hold(response);
			response.writeHead(status, { 'content-length': MP4.length });
			response.flushHeaders();
			if (part !== '') response.write(part);
		};
		const { isCompleted, passedMs } = await scene.wait();
		expect(isCompleted).toBe(true);
		expect(passedMs).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(passedMs).toBeLessThan(2 * MINUTE_MS);
		expect(scene.files()).toHaveLength(2);
	});

	test('a finished download leaves no timer', async () => {
		scene.host = answer(undefined, MP4);
		const timersAfter = async (download: boolean) =>
			await withFakeTimers(async (time) => {
				await scene.run({}, { parameters: { download } });
				// Connections close within a few turns.
				for (let turn = 0; turn < 100 && time.pendingTimers() > 0; turn++)
					await new Promise((resolve) => setImmediate(resolve));
				return time.pendingTimers();
			});
		expect(await timersAfter(true)).toBe(await timersAfter(false));
		expect(scene.files()).toHaveLength(1);
	});

	test('dead links cost seconds', async () => {
		const dead = await startScriptedServer(() => undefined);
		await dead.stop();
		const urls = Array.from({ length: 5 }, (_, index) => `${dead.url}/${index}.mp4`);
		const { media, passedMs } = await scene.media(urls.join(' '));
		expect(media.filter(({ error_message: error }) => error)).toHaveLength(5);
		expect(passedMs).toBeLessThan(6_000);
	});
});

describe('number', () => {
	const links = (count: number) =>
		Array.from({ length: count }, (_, index) => `${scene.url}/cdn/${index}.mp4`).join(' ');

	test('of the links of a reply 20 are downloaded, the others keep their URL', async () => {
		scene.host = answer(undefined, MP4);
		const { media } = await scene.media(links(3_000));
		expect(scene.files()).toHaveLength(20);
		expect(media.filter(({ fileName }) => fileName)).toHaveLength(20);
		// Of 3,000 links the first 1,000 count.
		const errors = media.flatMap(({ error_message: error }) => error ?? []);
		expect(errors).toHaveLength(980);
		expect(errors[0]).toBe('A reply has more than 20 files. Open the URL of the file');
	});

	test('three are downloaded side by side', async () => {
		let open = 0;
		let most = 0;
		const waiting: ServerResponse[] = [];
		scene.host = (response, _request, index) => {
			most = Math.max(most, ++open);
			response.on('close', () => open--);
			waiting.push(response);
			// Answers when three wait, or when no more are to come.
			if (waiting.length === 3 || index > 5)
				waiting.splice(0).forEach((each) => each.end(MP4));
		};
		const { media } = await scene.media(links(7));
		expect(media.filter(({ fileName }) => fileName)).toHaveLength(7);
		expect(most).toBe(3);
	});
});

describe('memory', () => {
	const SIZES: Readonly<Record<string, number>> = { small: MEGABYTE, large: 120 * MEGABYTE };
	const ROOT = join(__dirname, '..', '..');
	/** Inside the project, so that Node resolves n8n's engine. */
	const PROGRAM = join(ROOT, '.cache', `measureDownload-${process.pid}.cjs`);
	let folder: string;

	beforeAll(async () => {
		await build({
			entryPoints: [join(ROOT, 'test', 'support', 'measureDownload.ts')],
			outfile: PROGRAM,
			bundle: true,
			platform: 'node',
			packages: 'external',
			// `X.node` is X.node.ts here, not the X.node.json beside it.
			resolveExtensions: ['.ts', '.js', '.json'],
		});
		folder = await mkdtemp(join(tmpdir(), 'wait-for-video-'));
	});
	afterAll(async () => {
		await rm(folder, { recursive: true, force: true });
		await rm(PROGRAM, { force: true });
	});

	test('a download of 120 MB needs less than 50 MB', async () => {
		scene.host = (response, { path }) => {
			const bytes = SIZES[/(\w+)\.mp4$/.exec(path)![1]!]!;
			const piece = Buffer.alloc(MEGABYTE / 10, 'v');
			response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
			const first = Buffer.concat([videoHead(bytes), piece]).subarray(0, piece.length);
			const pieces = Array.from({ length: bytes / piece.length }, (_, i) =>
				i === 0 ? first : piece,
			);
			pipeline(Readable.from(pieces), response, () => undefined);
		};
		const env = {
			...process.env,
			N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
			N8N_USER_FOLDER: folder,
		};
		const args = ['--expose-gc', PROGRAM, scene.url, folder];
		const { stdout } = await promisify(execFile)(process.execPath, args, {
			env,
			timeout: 60_000,
		});
		const measured = JSON.parse(stdout) as Measured;
		expect(measured).toMatchObject({
			status: 'success',
			mode: 'filesystem-v2',
			bytes: SIZES['large'],
		});
		expect(measured.residentGrowth).toBeLessThan(50 * MEGABYTE);
		expect(measured.externalGrowth).toBeLessThan(50 * MEGABYTE);

		const files = await readdir(folder, { recursive: true });
		expect(files.filter((file) => file.includes('.tmp.'))).toStrictEqual([]);
	}, 90_000);
});
