import { BinaryDataService } from 'n8n-core';
import { Container } from '@n8n/di';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';

import { runNode } from '../support/engine';
import { withFakeTimers, type FakeTime } from '../support/fakeTimers';
import { sampleFile, videoHead } from '../support/sampleFiles';
import {
	json,
	serverForEach,
	startScriptedServer,
	type SeenRequest,
} from '../support/scriptedServer';
import { thorough } from '../support/thorough';
import { COMPLETED, FAILED } from '../support/waitOutputs';

const MP4 = sampleFile('video/mp4', 'frames');
const MEGABYTE = Buffer.alloc(1_000_000);
const MINUTE_MS = 60_000;

type Host = (response: ServerResponse, request: SeenRequest) => void;

let host: Host;
/** What the service replies to a chat. */
let reply: string;

const filesOf = () => server.requests.filter(({ path }) => path.startsWith('/files/'));

const server = serverForEach((response, request) => {
	if (request.path.startsWith('/files/')) host(response, request);
	else if (request.path === '/v1/videos/tasks') {
		const { task_id } = request.body as { task_id: string };
		json(response, 200, {
			status: 'completed',
			video_url: `${server.url}/files/${task_id}.mp4`,
		});
	} else {
		const message = { role: 'assistant', content: reply };
		json(response, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] });
	}
});

interface Downloaded {
	readonly files: number;
	readonly errors: string[];
	readonly passedMs: number;
}

/** Runs Wait for Video for tasks; time jumps while nothing happens. */
async function wait(
	taskIds: readonly string[] = ['task-1'],
	options: object = {},
	onTime: (time: FakeTime) => void = () => undefined,
): Promise<Downloaded> {
	return await withFakeTimers(async (time) => {
		onTime(time);
		const { outputs } = await runNode('waitForVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: taskIds.map((task_id) => ({ task_id })),
			parameters: { options },
		});
		return {
			files: outputs[COMPLETED]!.length,
			errors: outputs[FAILED]!.map(({ json: fields }) => String(fields['error_message'])),
			passedMs: time.passedMs(),
		};
	});
}

/** Runs Chat Completion with Download Media for links to these files. */
async function fetchLinks(urls: readonly string[], options: object = {}): Promise<Downloaded> {
	reply = urls.join(' ');
	return await withFakeTimers(async ({ passedMs }) => {
		const { outputs } = await runNode('chatCompletion', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{ chatInput: 'Show me' }],
			parameters: { streaming: 'off', options: { downloadMedia: true, ...options } },
		});
		const media = outputs[0]![0]!.json['media'] as { error_message?: string }[];
		return {
			files: Object.keys(outputs[0]![0]!.binary ?? {}).length,
			errors: media.flatMap(({ error_message: error }) => error ?? []),
			passedMs: passedMs(),
		};
	});
}

const links = (count: number) =>
	Array.from({ length: count }, (_, index) => `${server.url}/files/${index}.mp4`);

describe('size', () => {
	test('a file without an end is given up at the limit', async () => {
		const limit = thorough(50, 500);
		let sent = 0;
		const closed = new Promise<void>((resolve) => {
			host = (response) => {
				response.writeHead(200, { 'content-type': 'video/mp4' });
				response.on('close', resolve);
				response.write(MP4);
				const sendMore = (): void => {
					sent += MEGABYTE.length;
					if (!response.destroyed) response.write(MEGABYTE, sendMore);
				};
				sendMore();
			};
		});
		// A store that keeps nothing: in the engine of the tests n8n keeps files in memory.
		const service = Container.get(BinaryDataService);
		const store = jest.spyOn(service, 'store');
		store.mockImplementation(async (_location, stream) => {
			await finished((stream as Readable).resume());
			throw new Error('The stream has ended');
		});
		const { outputs } = await runNode('waitForVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{ task_id: 'task-1' }],
			parameters: { options: { maximumFileSize: limit } },
		});
		store.mockRestore();
		expect(outputs[FAILED]![0]!.json['error_message']).toContain(
			`Maximum File Size is ${limit} MB, but the file is larger. Raise the limit under Options`,
		);
		await closed;
		expect(sent).toBeLessThan((limit + 100) * 1_000_000);
		expect(filesOf()).toHaveLength(1);
	}, 120_000);

	test('an announced size over the limit is not downloaded', async () => {
		host = (response) => {
			response.writeHead(200, { 'content-length': 500_000_001 }).write(MP4);
		};
		const { errors } = await wait();
		expect(errors[0]).toContain('Maximum File Size is 500 MB, but the file has 500 MB.');
	});

	test('compressed data counts as what it becomes', async () => {
		const bomb = gzipSync(Buffer.concat([MP4, Buffer.alloc(20_000_000)]));
		expect(bomb.length).toBeLessThan(100_000);
		host = (response) => {
			response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'video/mp4' });
			response.end(bomb);
		};
		const { errors } = await wait(['task-1'], { maximumFileSize: 10 });
		expect(errors[0]).toContain('Maximum File Size is 10 MB, but the file is larger.');
		expect(filesOf()).toHaveLength(1);
	});

	test('what a host compresses unasked is decompressed, also when its length is announced', async () => {
		const body = gzipSync(MP4);
		host = (response) => {
			response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': body.length });
			response.end(body);
		};
		expect(await wait()).toMatchObject({ files: 1, errors: [] });
		expect(filesOf()[0]!.headers['accept-encoding']).toBe('identity');
	});

	test('a small limit is shown as it was entered', async () => {
		const head = videoHead(30_000);
		const file = Buffer.concat([head, Buffer.alloc(30_000 - head.length)]);
		host = (response) => response.end(file);
		const { errors } = await wait(['task-1'], { maximumFileSize: 0.02 });
		expect(errors[0]).toContain('Maximum File Size is 0.02 MB, but the file has 0.03 MB.');
	});

	test('0 means no limit', async () => {
		host = (response) => response.end(Buffer.concat([MP4, Buffer.alloc(400_000)]));
		expect((await wait(['a', 'b'], { maximumFileSize: 0 })).files).toBe(2);
	});
});

describe('time', () => {
	test('a byte now and then does not keep a download going forever', async () => {
		let time: FakeTime;
		host = (response) => {
			time.hold(response);
			response.writeHead(200, { 'content-type': 'video/mp4', etag: '"v1"' });
			response.write(MP4);
			// Not `setInterval`, whose time is real.
			const drip = (): void => {
				response.write('x');
				if (!response.destroyed) setTimeout(drip, 20_000);
			};
			setTimeout(drip, 20_000);
		};
		const { errors, passedMs } = await wait(['task-1'], {}, (fake) => {
			time = fake;
		});
		expect(errors[0]).toContain(
			'The download took more than 15 minutes. The video is completed',
		);
		expect(passedMs).toBeGreaterThanOrEqual(15 * MINUTE_MS);
		expect(passedMs).toBeLessThan(16 * MINUTE_MS);
		expect(filesOf()).toHaveLength(1);
	}, 60_000);

	test.each([
		['within the file', 200, MP4.subarray(0, -1)],
		['before it', 200, ''],
		['in the words of an error', 503, 'Wait'],
	])('a host that goes silent %s is asked again a minute later', async (_where, status, part) => {
		let time: FakeTime;
		host = (response) => {
			if (filesOf().length > 1) {
				response.end(MP4);
				return;
			}
			time.hold(response);
			response.writeHead(status, { 'content-length': MP4.length });
			response.flushHeaders();
			if (part !== '') response.write(part);
		};
		const { files, errors, passedMs } = await wait(['task-1'], {}, (fake) => {
			time = fake;
		});
		expect({ files, errors }).toEqual({ files: 1, errors: [] });
		expect(passedMs).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(passedMs).toBeLessThan(2 * MINUTE_MS);
		expect(filesOf()).toHaveLength(2);
	});

	test('a finished download leaves no timer', async () => {
		host = (response) => response.end(MP4);
		const timersAfter = async (download: boolean) =>
			await withFakeTimers(async (time) => {
				await runNode('waitForVideo', {
					credential: { baseUrl: server.url, apiKey: 'k' },
					items: [{ task_id: 'task-1' }],
					parameters: { download },
				});
				// Connections close within a few turns.
				for (let turn = 0; turn < 100 && time.pendingTimers() > 0; turn++)
					await new Promise((resolve) => setImmediate(resolve));
				return time.pendingTimers();
			});
		expect(await timersAfter(true)).toBe(await timersAfter(false));
		expect(filesOf()).toHaveLength(1);
	});

	test('dead links cost seconds', async () => {
		const dead = await startScriptedServer(() => undefined);
		await dead.stop();
		const urls = Array.from({ length: 5 }, (_, index) => `${dead.url}/${index}.mp4`);
		const { errors, passedMs } = await fetchLinks(urls);
		expect(errors).toHaveLength(5);
		expect(passedMs).toBeLessThan(6_000);
	});

	test('broken compressed data is not requested again', async () => {
		host = (response) => {
			response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'video/mp4' });
			response.end('this is not gzip');
		};
		const { errors } = await wait();
		expect(errors[0]).toContain('The host sent broken compressed data. The video is completed');
		expect(filesOf()).toHaveLength(1);
	});
});

describe('number', () => {
	test('of the links of a reply 20 are downloaded, the others keep their URL', async () => {
		host = (response) => response.end(MP4);
		const { files, errors } = await fetchLinks(links(3_000));
		expect(files).toBe(20);
		expect(filesOf()).toHaveLength(20);
		// Of 3,000 links the first 1,000 count.
		expect(errors).toHaveLength(980);
		expect(errors[0]).toBe('A reply has more than 20 files. Open the URL of the file');
	});

	test('three are downloaded side by side', async () => {
		let open = 0;
		let most = 0;
		const waiting: ServerResponse[] = [];
		host = (response) => {
			most = Math.max(most, ++open);
			response.on('close', () => open--);
			waiting.push(response);
			// Answers when three wait, or when no more are to come.
			if (waiting.length === 3 || filesOf().length > 6) {
				waiting.splice(0).forEach((each) => each.end(MP4));
			}
		};
		expect((await fetchLinks(links(7))).files).toBe(7);
		expect(most).toBe(3);
	});
});

test('a store that fails closes the connection to the host', async () => {
	const store = jest.spyOn(Container.get(BinaryDataService), 'store');
	store.mockRejectedValue(new Error('No space left on device'));
	const closed = new Promise<void>((resolve) => {
		host = (response) => {
			response.writeHead(200, { 'content-type': 'video/mp4', etag: '"v1"' });
			response.on('close', resolve);
			// The rest never comes.
			response.write(Buffer.concat([MP4, Buffer.alloc(10_000)]));
		};
	});
	const { outputs, error } = await runNode('waitForVideo', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: [{ task_id: 'task-1' }],
	});
	store.mockRestore();
	await closed;
	expect(filesOf()).toHaveLength(1);
	expect(error?.message ?? outputs[FAILED]![0]!.json['error_message']).toContain('No space left');
});
