import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import { runNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { json, serverForEach, type SeenRequest } from '../support/scriptedServer';
import { COMPLETED, ERROR } from '../support/waitOutputs';

const FILE = sampleFile('video/mp4', '0123456789'.repeat(20_000));

/** Answers a request for the file; `index` counts the requests before it. */
type Cdn = (response: ServerResponse, request: SeenRequest, index: number) => void;

let cdn: Cdn;
let report: object;

const downloads = () => server.requests.filter(({ path }) => path.startsWith('/cdn/'));

const server = serverForEach((response, request) => {
	if (request.path.startsWith('/cdn/')) {
		cdn(response, request, downloads().length - 1);
		return;
	}
	const { task_id } = request.body as { task_id: string };
	const video_url = `${server.url}/cdn/${task_id}.mp4`;
	json(response, 200, { task_id, status: 'completed', video_url, ...report });
});

beforeEach(() => {
	report = {};
});

/** Sends the file; breaks the connection after `breakAfter` bytes. */
function send(response: ServerResponse, { breakAfter = Infinity, file = FILE } = {}): void {
	response.writeHead(200, {
		'content-type': 'video/mp4',
		'content-length': file.length,
		'accept-ranges': 'bytes',
		etag: '"v1"',
	});
	if (breakAfter >= file.length) {
		response.end(file);
		return;
	}
	response.write(file.subarray(0, breakAfter), () => {
		response.socket!.destroySoon();
	});
}

const run = async (options: object = {}, more: Partial<RunOptions> = {}) =>
	await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		items: [{ task_id: 'task-1', topic: 'A tram/at night' }],
		parameters: { options },
		...more,
	});

/** The same while time jumps. */
const wait = async (...args: Parameters<typeof run>) =>
	await withFakeTimers(async () => await run(...args));

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const bytesOf = (data: string) => Buffer.from(data, 'base64');

test('an interrupted download begins again, and never asks for a part', async () => {
	cdn = (response, _request, index) => {
		send(response, index < 2 ? { breakAfter: 60_000 } : {});
	};
	const { outputs } = await wait();
	const video = outputs[COMPLETED]![0]!.binary!['data']!;
	expect(sha(bytesOf(video.data))).toBe(sha(FILE));
	expect(video.bytes).toBe(FILE.length);
	expect(downloads()).toHaveLength(3);
	for (const { headers } of downloads()) {
		expect(headers).not.toHaveProperty('range');
		expect(headers).not.toHaveProperty('if-range');
		expect(headers).not.toHaveProperty('authorization');
	}
});

test('with Fail the Node a failed download stops the node, and the error names task and URL', async () => {
	cdn = (response) => {
		json(response, 404, {});
	};
	const stopped = await wait({ onFailed: 'fail' });
	expect(stopped.error).toMatchObject({
		name: 'NodeApiError',
		message: 'The file could not be downloaded. Retry polls again, free of charge',
		httpCode: '404',
	});
	expect(stopped.error!.description).toContain('task_id: task-1');
	expect(stopped.error!.description).toContain(`video_url: ${server.url}/cdn/task-1.mp4`);

	const { outputs } = await wait({ onFailed: 'fail' }, { onError: 'continueErrorOutput' });
	expect(outputs[ERROR]![0]!.json['details']).toMatchObject({
		status: 404,
		task_id: 'task-1',
		video_url: `${server.url}/cdn/task-1.mp4`,
	});
});

test('the thumbnail is a file of its own, and the name can be an expression', async () => {
	report = { thumbnail_url: `${server.url}/cdn/still` };
	cdn = (response, request) => {
		if (!request.path.endsWith('still')) send(response);
		else response.writeHead(200, { 'content-type': 'image/png' }).end(sampleFile('image/png'));
	};
	const { outputs } = await wait({ downloadThumbnail: true, fileName: '={{ $json.topic }}' });
	expect(outputs[COMPLETED]![0]!.binary).toMatchObject({
		data: { fileName: 'A tram-at night.mp4', mimeType: 'video/mp4' },
		thumbnail: { fileName: 'A tram-at night.png', mimeType: 'image/png' },
	});
});

describe('Download Video from an expression', () => {
	const waitWith = async (download: unknown) => {
		cdn = (response) => {
			send(response);
		};
		const item = { task_id: 'task-1', download: download as string };
		return await wait({}, { items: [item], parameters: { download: '={{ $json.download }}' } });
	};

	test.each([true, 'TRUE', 1, '1', null, undefined, ''])('%p: the file', async (download) => {
		const { outputs } = await waitWith(download);
		expect(outputs[COMPLETED]).toMatchObject([{ binary: { data: { fileSize: '200 kB' } } }]);
	});

	test.each([false, 'FALSE', 'false', 0, '0'])('%p: no file', async (download) => {
		const { outputs } = await waitWith(download);
		expect(outputs[COMPLETED]).toHaveLength(1);
		expect(downloads()).toHaveLength(0);
	});

	test.each(['yes', [], {}])('%p is an error before the first poll', async (download) => {
		const { error } = await waitWith(download);
		expect(error!.message).toMatch(/^Download Video is /);
		expect(server.requests).toHaveLength(0);
	});
});

test('a video without a thumbnail is not an error', async () => {
	cdn = (response) => {
		send(response);
	};
	const { outputs } = await wait({ downloadThumbnail: true });
	expect(Object.keys(outputs[COMPLETED]![0]!.binary!)).toStrictEqual(['data']);
});

test('canceling closes the connection of a download', async () => {
	let cancel: () => void = () => undefined;
	const closed = new Promise<void>((resolve) => {
		cdn = (response) => {
			response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': 1_000 });
			response.on('close', resolve);
			// The rest never comes: only canceling closes the connection before the test times out.
			response.write('some bytes', () => {
				cancel();
			});
		};
	});
	const onStart = (stop: () => void) => {
		cancel = stop;
	};
	const { status } = await run({}, { onStart });
	expect(status).toBe('canceled');
	await closed;
	expect(downloads()).toHaveLength(1);
});
