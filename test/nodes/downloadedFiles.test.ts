// cspell:ignore ftyp ftypmif heim heis heix hevx
import type { ServerResponse } from 'node:http';

import type { INodeExecutionData } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables } from '../support/dataTables';
import { runNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { SAMPLE_TYPES, sampleFile } from '../support/sampleFiles';
import {
	json,
	startScriptedServer,
	type ScriptedServer,
	type SeenRequest,
} from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

/** Answers a request for a file. */
type Host = (response: ServerResponse, request: SeenRequest) => void;

const HINT = 'The video is completed: open its URL, or run Wait for Video with this task ID';
const PAGE = '<!DOCTYPE html>\n<html><body>Please\tsign in</body></html>';
const EXPIRED = '{"error":"expired"}';
const MP4 = sampleFile('video/mp4', 'frames');
const PNG = sampleFile('image/png', 'pixels');

let server: ScriptedServer;
let host: Host;
let report: object;

beforeEach(async () => {
	report = { video_url: `${server.url}/cdn/a.mp4` };
});
beforeAll(async () => {
	server = await startScriptedServer((response, request) => {
		if (request.path.startsWith('/cdn/')) host(response, request);
		else json(response, 200, { status: 'completed', ...report });
	});
});
afterEach(() => {
	server.requests.length = 0;
});
afterAll(async () => {
	await server.stop();
});

const downloads = () => server.requests.filter(({ path }) => path.startsWith('/cdn/'));

/** A host that answers every request with this body. */
const answer =
	(type: string | undefined, body: string | Buffer, status = 200): Host =>
	(response) => {
		response.writeHead(status, type === undefined ? {} : { 'content-type': type });
		response.end(body);
	};

/** Runs Wait for Video for one task. */
const run = async (options: object = {}, more: Partial<RunOptions> = {}) =>
	await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		items: [{ task_id: 'task-1' }],
		parameters: { options },
		...more,
	});

/** The same while time jumps, so that a retry is seen by its request. */
const wait = async (...args: Parameters<typeof run>) =>
	await withFakeTimers(async () => await run(...args));

const errorOf = (item?: INodeExecutionData) => item?.json['error_message'];

describe('what is no video leaves through Failed, and keeps its URL', () => {
	test.each<[string, Host, string]>([
		[
			'a login page',
			answer('text/html; charset=utf-8', PAGE),
			'The host did not send a video, but text/html: Please sign in',
		],
		[
			'a login page that is declared as a video',
			answer('video/mp4', PAGE),
			'The host did not send a video, but text/html: Please sign in',
		],
		[
			'a JSON error',
			answer('application/json', EXPIRED),
			'The host did not send a video, but application/json: {"error":"expired"}',
		],
		[
			'a JSON error that is declared as a video',
			answer('video/mp4', EXPIRED),
			'The host did not send a video, but application/json: {"error":"expired"}',
		],
		[
			'an XML error',
			answer(
				'application/xml',
				'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
			),
			'The host did not send a video, but application/xml: AccessDenied',
		],
		[
			'a text that begins like the name of a format',
			answer('application/octet-stream', 'Gateway timeout'),
			'The host did not send a video, but text/plain: Gateway timeout',
		],
		[
			'a long text, cut to one short line without control characters',
			answer('text/plain', `First line\r\n\u001b[1m red\u202e ${'word '.repeat(400)}`),
			`The host did not send a video, but text/plain: ${`First line [1m red ${'word '.repeat(400)}`.slice(0, 200)}…`,
		],
		['a picture', answer('video/mp4', PNG), 'The host did not send a video, but image/png'],
		[
			'bytes of an unknown kind that nobody calls a video',
			answer('application/octet-stream', Buffer.from([1, 2, 3, 4, 5])),
			'The host did not send a video, but bytes that are declared as application/octet-stream',
		],
	])('%s', async (_name, script, message) => {
		host = script;
		const { status, outputs } = await wait();
		expect(status).toBe('success');
		expect(outputs[COMPLETED]).toStrictEqual([]);
		const [item] = outputs[FAILED]!;
		expect(item!.json).toMatchObject({
			task_id: 'task-1',
			reason: 'download',
			video_url: `${server.url}/cdn/a.mp4`,
		});
		expect(errorOf(item)).toBe(`${message}. ${HINT}`);
		expect(item).not.toHaveProperty('binary');
		// Another attempt would bring the same.
		expect(downloads()).toHaveLength(1);
	});

	test.each([
		['an empty body', answer('video/mp4', '')],
		['204', answer(undefined, '', 204)],
	])('%s, which is asked for again', async (_name, script) => {
		host = script;
		const { outputs } = await wait();
		const message = 'The host did not send a video, but an empty body';
		expect(errorOf(outputs[FAILED]![0])).toBe(`${message}. ${HINT}`);
		expect(downloads()).toHaveLength(5);
	});

	test('an error page without an end, whose connection is closed', async () => {
		const closed = new Promise<void>((resolve) => {
			host = (response) => {
				response.writeHead(200, { 'content-type': 'text/html' });
				response.on('close', resolve);
				const sendMore = (): void => {
					if (!response.destroyed) response.write(PAGE.padEnd(5_000), sendMore);
				};
				sendMore();
			};
		});
		const { outputs } = await run();
		expect(errorOf(outputs[FAILED]![0])).toContain('Please sign in');
		await closed;
	});
});

describe('a video is recognized by its bytes, whatever its declared type', () => {
	test.each(SAMPLE_TYPES.filter((type) => type.startsWith('video/')))('%s', async (type) => {
		const file = sampleFile(type, Buffer.from([0, 1, 2, 3]));
		for (const declared of [undefined, 'application/octet-stream', 'text/html', 'video/mp4']) {
			host = answer(declared, file);
			const { outputs } = await wait();
			const { data } = outputs[COMPLETED]![0]!.binary!;
			expect(data).toMatchObject({ mimeType: type, data: file.toString('base64') });
			expect(data!.fileName).toBe(`task-1.${data!.fileExtension}`);
		}
	});

	test('a container that is not in the table is none, also if the host declares one', async () => {
		host = answer('video/x-new', Buffer.from([6, 0x0e, 0x2b, 0x34, 2]));
		const { outputs } = await wait();
		expect(errorOf(outputs[FAILED]![0])).toContain('bytes that are declared as video/x-new');
	});

	test('a video that arrives byte by byte is whole', async () => {
		const file = sampleFile('video/mp4', 'x'.repeat(2_000));
		host = (response) => {
			response.writeHead(200, { 'content-type': 'binary/octet-stream' });
			let sent = 0;
			const sendNext = (): void => {
				if (sent === file.length) response.end();
				else response.write(file.subarray(sent, ++sent), sendNext);
			};
			sendNext();
		};
		const { outputs } = await wait();
		expect(outputs[COMPLETED]![0]!.binary!['data']!.data).toBe(file.toString('base64'));
	});

	test.each([
		['clip.v2', 'clip.v2.mp4'],
		['example.com', 'example.com.mp4'],
		['Dr.Who', 'Dr.Who.mp4'],
		['clip.m4v', 'clip.m4v'],
		['clip.MP4', 'clip.MP4'],
		['clip.jpeg', 'clip.mp4'],
	])('a video named %s is stored as %s', async (wanted, fileName) => {
		host = answer('video/mp4', MP4);
		const { outputs } = await wait({ fileName: wanted });
		expect(outputs[COMPLETED]![0]!.binary!['data']).toMatchObject({ fileName });
	});

	test.each(['heic', 'heix', 'hevc', 'hevx', 'heim', 'heis', 'mif1', 'msf1'])(
		'a picture of the brand %s is no video',
		async (brand) => {
			const head = `\0\0\0\x18ftyp${brand}\0\0\0\0`;
			host = answer('video/mp4', Buffer.from(`${head}mif1heic`));
			const { outputs } = await wait();
			expect(errorOf(outputs[FAILED]![0])).toContain('a video, but image/heic');
			host = answer('video/mp4', Buffer.from(`\0\0\0\x1cftypmif1\0\0\0\0mif1avif`));
			const { outputs: avif } = await wait();
			expect(errorOf(avif[FAILED]![0])).toContain('a video, but image/avif');
		},
	);

	test('the extension of the file is the true one', async () => {
		host = answer('video/mp4', sampleFile('video/webm'));
		const { outputs } = await wait({ fileName: 'Trip v1.25.mp4' });
		expect(outputs[COMPLETED]![0]!.binary!['data']).toMatchObject({
			fileName: 'Trip v1.25.webm',
			fileExtension: 'webm',
		});
	});
});

describe('a URL that leads nowhere is an error at once', () => {
	test.each<[string, unknown, string]>([
		[
			'a relative URL',
			'/videos/a.mp4',
			'The URL of the file is not an http(s) URL: /videos/a.mp4',
		],
		['a number', 17, 'The URL of the file is not an http(s) URL: 17'],
		['an object', { link: 'x' }, 'The URL of the file is not an http(s) URL: {"link":"x"}'],
		['an object with its url', { url: 'x' }, 'The URL of the file is not an http(s) URL: x'],
		[
			'file:',
			'file:///etc/passwd',
			'The URL of the file is not an http(s) URL: file:///etc/passwd',
		],
		['ftp:', 'ftp://host/a.mp4', 'The URL of the file is not an http(s) URL: ftp://host/a.mp4'],
		['null', null, 'The service returned no video_url'],
		['an empty text', '', 'The service returned no video_url'],
	])('%s', async (_name, video_url, message) => {
		report = { video_url };
		const { status, outputs } = await wait();
		expect(status).toBe('success');
		const [item] = outputs[FAILED]!;
		expect(item!.json).toMatchObject({ task_id: 'task-1', reason: 'download' });
		expect(errorOf(item)).toContain(`${message}. `);
		expect(downloads()).toHaveLength(0);
	});

	test.each<[string, string, string]>([
		['a redirect loop', '/cdn/a.mp4', 'without end'],
		['a redirect to a file', 'file:///etc/passwd', 'to an address that cannot be opened'],
		['a redirect to FTP', 'ftp://host/a.mp4', 'to an address that cannot be opened'],
		['a redirect to no URL', 'http://', 'to an address that cannot be opened'],
	])('%s', async (_name, location, words) => {
		host = (response) => response.writeHead(302, { location }).end();
		const { outputs } = await wait();
		const [item] = outputs[FAILED]!;
		expect(item!.json).toMatchObject({ reason: 'download', ...report });
		expect(errorOf(item)).toBe(`The URL of the file redirects ${words}. ${HINT}`);
		// The engine follows 21 redirects at most.
		expect(downloads().length).toBeLessThan(25);
	});

	test('a redirect without a target is no file', async () => {
		host = (response) => response.writeHead(302).end();
		const { outputs } = await wait();
		expect(errorOf(outputs[FAILED]![0])).toBe(
			`The file could not be downloaded (status 302). ${HINT}`,
		);
		expect(downloads()).toHaveLength(1);
	});
});

describe('a thumbnail', () => {
	const still = () => `${server.url}/cdn/still`;
	beforeEach(() => {
		report = { ...report, thumbnail_url: still() };
	});

	test.each<[string, Host, string]>([
		[
			'404',
			answer('text/plain', 'gone', 404),
			'The file could not be downloaded: gone (status 404)',
		],
		[
			'an error page',
			answer('image/jpeg', EXPIRED),
			'The host did not send an image, but application/json: {"error":"expired"}',
		],
		['a video', answer('image/jpeg', MP4), 'The host did not send an image, but video/mp4'],
	])('that fails with %s does not take the video with it', async (_name, script, message) => {
		host = (response, request) => {
			const isStill = request.path.endsWith('still');
			(isStill ? script : answer('video/mp4', MP4))(response, request);
		};
		for (const onFailed of ['output', 'fail']) {
			const { status, outputs, ...more } = await wait({ downloadThumbnail: true, onFailed });
			expect(status).toBe('success');
			expect(outputs[FAILED]).toStrictEqual([]);
			const [item] = outputs[COMPLETED]!;
			expect(Object.keys(item!.binary!)).toStrictEqual(['data']);
			expect(item!.json).toMatchObject({
				missing_files: [
					{
						file: 'thumbnail',
						url: still(),
						error_message: `${message}. ${HINT}`,
					},
				],
			});
			expect(item!.json).not.toHaveProperty('reason');
			expect(item!.json).not.toHaveProperty('error_message');
			const hints = more.run.data.resultData.runData['Tested']![0]!.hints;
			expect(hints).toContainEqual({
				type: 'warning',
				location: 'outputPane',
				message: '1 file could not be downloaded. See "missing_files" in the output.',
			});
		}
	});

	test('that is no URL does not take the video with it', async () => {
		report = { ...report, thumbnail_url: 5 };
		host = answer('video/mp4', MP4);
		const { outputs } = await wait({ downloadThumbnail: true });
		expect(outputs[COMPLETED]![0]!.json['missing_files']).toMatchObject([
			{ error_message: expect.stringContaining('is not an http(s) URL: 5') as string },
		]);
	});

	test('that is canceled leaves the task open: its video has not arrived', async () => {
		let cancel: () => void = () => undefined;
		host = (response, request) => {
			if (request.path.endsWith('still')) cancel();
			else answer('video/mp4', MP4)(response, request);
		};
		const tables = dataTables();
		tables.insert(TASK_TABLE, { task_id: 'task-1', status: 'queued', call: 'call-1' });
		const { status } = await wait(
			{ downloadThumbnail: true },
			{
				tables,
				onStart: (stop) => {
					cancel = stop;
				},
			},
		);
		expect(status).toBe('canceled');
		const [row] = tables.rows;
		expect(row!['finished_at'] ?? null).toBeNull();
	});

	test('in the field of the video is an error before the wait', async () => {
		const { error } = await wait({ downloadThumbnail: true, thumbnailProperty: 'data' });
		expect(error).toMatchObject({
			message: 'Put Thumbnail in Field is also the field of the video',
			description: 'Enter another name',
		});
		expect(server.requests).toHaveLength(0);
	});
});

test('a file of the input item is not taken for the video', async () => {
	host = answer('text/html', PAGE);
	const invoice = { data: 'aW52b2ljZQ==', mimeType: 'application/pdf', fileName: 'invoice.pdf' };
	const { outputs } = await wait({}, { binaries: [{ data: invoice }] });
	expect(outputs[FAILED]![0]).not.toHaveProperty('binary');
});

describe('Download Media', () => {
	/** Lets Chat Completion answer with a link to this file. */
	async function fetchLink(
		name: string,
		script: Host,
		contentOf: (url: string) => unknown = (url) => url,
	) {
		const content = contentOf(`${server.url}/cdn/${name}`);
		report = {
			choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
		};
		host = script;
		const { outputs } = await withFakeTimers(
			async () =>
				await runNode('chatCompletion', {
					credential: { baseUrl: server.url, apiKey: 'k' },
					items: [{ chatInput: 'Show me' }],
					parameters: { streaming: 'off', options: { downloadMedia: true } },
				}),
		);
		const [item] = outputs[0]!;
		const [entry] = item!.json['media'] as [{ error_message?: string }];
		const { mimeType, fileName } = item!.binary?.['media_0'] ?? {};
		return { error: entry.error_message, file: fileName && [fileName, mimeType] };
	}

	test.each<[string, string | undefined, Buffer | string, [string, string] | undefined]>([
		['export?id=5', 'text/csv', 'a,b\n1,2\n', ['export.csv', 'text/csv']],
		['export', 'application/json', EXPIRED, ['export.json', 'application/json']],
		['export', 'application/yaml', 'a: 1', ['export', 'application/yaml']],
		['export', 'application/pdf', 'No', undefined],
		['export', undefined, 'a: 1', ['export.txt', 'text/plain']],
		[
			'export',
			'binary/octet-stream',
			Buffer.from([1, 2, 3]),
			['export', 'application/octet-stream'],
		],
		['export', 'application/pdf', PNG, ['export.png', 'image/png']],
		['page', 'text/html; charset=utf-8', PAGE, ['page.html', 'text/html']],
		['export', 'text/csv', PAGE, undefined],
		['export', undefined, PAGE, undefined],
	])('a part with a link to %s, declared as %s', async (name, declared, body, file) => {
		const fetched = await fetchLink(name, answer(declared, body), (url) => [
			{ type: 'file', file: { url } },
		]);
		expect(fetched.file).toStrictEqual(file);
		expect(fetched.error === undefined).toBe(file !== undefined);
	});

	const CSV = 'name,age\nAda,36\n';

	test.each<[string, string | undefined, Buffer | string, [string, string]]>([
		[
			'film.mp4',
			'application/octet-stream',
			sampleFile('video/quicktime'),
			['film.mov', 'video/quicktime'],
		],
		['photo.jpeg', 'image/png', sampleFile('image/jpeg'), ['photo.jpeg', 'image/jpeg']],
		['photo.jpg', 'image/jpeg', PNG, ['photo.png', 'image/png']],
		['logo.svg', 'image/svg+xml', sampleFile('image/svg+xml'), ['logo.svg', 'image/svg+xml']],
		['song.mp3', undefined, sampleFile('audio/mpeg'), ['song.mp3', 'audio/mpeg']],
		['song.m4a', 'video/mp4', MP4, ['song.m4a', 'audio/mp4']],
		['song.opus', undefined, sampleFile('audio/ogg'), ['song.opus', 'audio/ogg']],
		['scan.tif', undefined, sampleFile('image/tiff'), ['scan.tif', 'image/tiff']],
		['photo.heif', undefined, sampleFile('image/heic'), ['photo.heif', 'image/heic']],
		['song.wav', 'audio/x-wav', sampleFile('audio/wav'), ['song.wav', 'audio/wav']],
		[
			'report.pdf',
			'binary/octet-stream',
			sampleFile('application/pdf'),
			['report.pdf', 'application/pdf'],
		],
		['report.pdf', 'application/pdf', PNG, ['report.png', 'image/png']],
		[
			'all.zip',
			'application/zip',
			sampleFile('application/zip'),
			['all.zip', 'application/zip'],
		],
		['data.json', 'application/json', EXPIRED, ['data.json', 'application/json']],
		['data.json', 'text/plain', EXPIRED, ['data.json', 'application/json']],
		['table.csv', 'application/octet-stream', CSV, ['table.csv', 'text/csv']],
		['notes.txt', 'text/plain', '{"a": 1} is JSON', ['notes.txt', 'text/plain']],
		[
			'notes.md',
			'application/octet-stream',
			'<p align="center">Hi</p>',
			['notes.md', 'text/markdown'],
		],
	])('%s, declared as %s, is a file', async (name, declared, body, file) => {
		expect(await fetchLink(name, answer(declared, body))).toStrictEqual({
			error: undefined,
			file,
		});
	});

	test.each<[string, string | undefined, Buffer | string, string]>([
		['film.mp4', 'text/html', PAGE, 'a video, but text/html: '],
		['photo.jpg', 'application/json', EXPIRED, 'an image, but application/json: '],
		['photo.jpg', 'image/jpeg', MP4, 'an image, but video/mp4'],
		['song.mp3', 'text/plain', 'Forbidden', 'an audio file, but text/plain: Forbidden'],
		['report.pdf', 'text/html', PAGE, 'the file, but text/html: '],
		['all.zip', 'text/plain', 'Forbidden', 'the file, but text/plain: Forbidden'],
		['table.csv', 'application/json', EXPIRED, 'the file, but application/json: '],
		['table.csv', 'text/plain', PAGE, 'the file, but text/html: '],
		['data.json', 'text/html', PAGE, 'the file, but text/html: '],
		['notes.txt', 'application/xml', '<Error>No</Error>', 'the file, but application/xml: '],
	])('%s, declared as %s, is an error page', async (name, declared, body, words) => {
		const { file, error } = await fetchLink(name, answer(declared, body));
		expect(file).toBeUndefined();
		expect(error).toContain(`The host did not send ${words}`);
		expect(downloads()).toHaveLength(1);
	});

	test('an empty body is asked for again twice', async () => {
		const { file, error } = await fetchLink('all.zip', answer('application/zip', ''));
		expect(file).toBeUndefined();
		expect(error).toContain('The host did not send the file, but an empty body');
		expect(downloads()).toHaveLength(3);
	});

	test.each(SAMPLE_TYPES.filter((type) => /^(image|audio)/.test(type)))(
		'%s is recognized by its bytes',
		async (type) => {
			const name = type.startsWith('image') ? 'any.jpg' : 'any.mp3';
			const { file } = await fetchLink(
				name,
				answer('application/octet-stream', sampleFile(type)),
			);
			expect(file).toStrictEqual([expect.stringMatching(/^any\.\w+$/), type]);
		},
	);
});
