// @seconds 75
// cspell:ignore faststart
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import type { IDataObject } from 'n8n-workflow';

import { outputItems } from '../../lab/n8n/execution';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { Running } from '../../lab/services/Running';
import { video } from '../support/mediaFiles';
import { json, startScriptedServer } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { drawn, node } from './support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';
import { sharedN8nUrl } from './support/sharedN8n';

const CREDENTIAL = 'Odd files';
const MP4 = video('faststart.mp4').bytes;
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

/** What the host of a task sends, by the number of requests before. */
type Host = (response: ServerResponse, nth: number) => void;

const sends =
	(body: Buffer, headers: Readonly<Record<string, string>> = {}, status = 200): Host =>
	(response) => {
		response.writeHead(status, {
			'content-type': 'video/mp4',
			'content-length': String(body.length),
			...headers,
		});
		response.end(body);
	};
/** A body that ends with its connection, so that nothing tells its length. */
const untilClosed =
	(body: Buffer): Host =>
	({ socket }) => {
		socket!.end(
			Buffer.concat([
				Buffer.from(
					'HTTP/1.0 200 OK\r\nConnection: close\r\nContent-Type: video/mp4\r\n\r\n',
				),
				body,
			]),
		);
	};
interface Task {
	readonly host?: Host;
	/** What the service reports, by the number of polls before. Default: completed. */
	readonly report?: (url: string, nth: number) => object;
	/** What comes out, and where. */
	readonly output: typeof COMPLETED | typeof FAILED;
	readonly item: IDataObject;
}

const failed = (words: RegExp): Pick<Task, 'output' | 'item'> => ({
	output: FAILED,
	item: { reason: 'download', error_message: expect.stringMatching(words) as string },
});
const whole = (type = 'video/mp4'): Pick<Task, 'output' | 'item'> => ({
	output: COMPLETED,
	item: { file: { bytes: expect.any(Number) as number, type } },
});
/** Answers with these statuses, then with the file. */
const after =
	(...statuses: readonly number[]): Host =>
	(response, nth) => {
		const status = statuses[nth];
		if (status === undefined) sends(MP4)(response, nth);
		else response.writeHead(status).end();
	};

const TASKS: Readonly<Record<string, Task>> = {
	'half of a file that ends with its connection': {
		host: untilClosed(half(MP4)),
		...failed(/ends too early for video\/mp4/),
	},
	'half of a MOV': { host: sends(half(video('h264.mov').bytes)), ...failed(/ends too early/) },
	'24 bytes': { host: sends(MP4.subarray(0, 24)), ...failed(/ends too early/) },
	'gzip that is cut': {
		host: sends(gzipSync(MP4).subarray(0, -99), { 'content-encoding': 'gzip' }),
		...failed(/ends too early|interrupted/),
	},
	'an archive': {
		host: sends(Buffer.from('7z\xbc\xaf\x27\x1c\0\x04', 'latin1')),
		...failed(/bytes that are declared as video\/mp4/),
	},
	'a program': {
		host: sends(Buffer.from('\x7fELF\x02\x01\x01\0', 'latin1')),
		...failed(/bytes that are declared as video\/mp4/),
	},
	'a live WebM without a length': {
		host: untilClosed(video('live.webm').bytes),
		...whole('video/webm'),
	},
	'AV1 until the connection ends': { host: untilClosed(video('av1.mp4').bytes), ...whole() },
	'bytes behind the boxes': {
		host: sends(Buffer.concat([MP4, Buffer.from('<!-- a proxy was here -->')])),
		...whole(),
	},
	'403, 404, then the file': { host: after(403, 404), ...whole() },
	'503, an empty body, then the file': {
		host: (response, nth) => {
			if (nth === 1) response.writeHead(200, { 'content-length': 0 }).end();
			else after(503)(response, nth);
		},
		...whole(),
	},
	'a host that wants a key': {
		host: after(401, 401),
		...failed(/^The host 127\.0\.0\.1 wants a key.* \(status 401\)/),
	},
	'a host that has lost it': {
		host: sends(Buffer.from('<h1>Moved to the archive</h1>'), {}, 410),
		...failed(/downloaded: Moved to the archive \(status 410\)/),
	},
	'206 with all of it': {
		host: sends(MP4, { 'content-range': `bytes 0-${MP4.length - 1}/${MP4.length}` }, 206),
		...whole(),
	},
	'a URL that has expired': {
		host: (response) => {
			response.writeHead(410).end();
		},
		report: (url, nth) => ({
			status: 'completed',
			video_url: nth === 0 ? url : url.replace('a%20URL%20that%20has%20expired', 'fresh'),
		}),
		...whole(),
	},
	fresh: { host: sends(MP4), ...whole() },
	'SUCCEEDED in two wrappers': {
		report: (url) => ({
			status: 'success',
			data: { output: { status: 'SUCCEEDED', video_url: url } },
		}),
		...whole(),
	},
	Failure: {
		report: () => ({ status: 'Failure', error: { message: 'too dark' } }),
		output: FAILED,
		item: { reason: 'failed', error_message: 'too dark' },
	},
	' CANCELED ': {
		report: () => ({ status: ' CANCELED ', fail_reason: 'no room' }),
		output: FAILED,
		item: { reason: 'failed', error_message: 'no room' },
	},
	'a URL that comes a poll later': {
		report: (url, nth) => ({ status: 'done', video_url: nth === 0 ? null : url }),
		...whole(),
	},
};

const running = new Running();
let client: N8nClient;
afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

it(
	'every file and every state of one run comes out as what it is, with default settings',
	async () => {
		const counts = new Map<string, number>();
		const count = (name: string) => {
			const nth = counts.get(name) ?? 0;
			counts.set(name, nth + 1);
			return nth;
		};
		const server = running.keep(
			await startScriptedServer((response, { path, body }) => {
				if (path.startsWith('/files/')) {
					const { host = sends(MP4) } = TASKS[decodeURIComponent(path.slice(7))]!;
					host(response, count(path));
					return;
				}
				const { task_id: id } = body as { task_id: string };
				// The node trims the ID.
				const [name, { report }] = Object.entries(TASKS).find(
					([each]) => each.trim() === id,
				)!;
				const url = `${server.url}/files/${encodeURIComponent(name)}`;
				const done = { status: 'completed', video_url: url };
				json(response, 200, report?.(url, count(name)) ?? done);
			}),
		);
		client = await N8nClient.signIn(await sharedN8nUrl());
		running.keep({ stop: () => client.archiveWorkflows() });
		await client.createCredential({
			name: CREDENTIAL,
			type: 'agentVideoApi',
			data: { baseUrl: server.url, apiKey: 'k' },
		});
		const ids = Object.keys(TASKS);
		const nodes = [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Tasks', 'n8n-nodes-base.set', 3.4, {
				parameters: { mode: 'raw', jsonOutput: JSON.stringify({ task_id: ids }) },
			}),
			node('Each', 'n8n-nodes-base.splitOut', 1, {
				parameters: { fieldToSplitOut: 'task_id' },
			}),
			node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1, { credential: CREDENTIAL }),
			node('Done', 'n8n-nodes-base.noOp', 1),
		];
		const wires = {
			Start: [['Tasks']],
			Tasks: [['Each']],
			Each: [['Wait']],
			Wait: [['Done'], ['Done']],
		};
		const ref = await client.importWorkflow(drawn('Odd files', nodes, wires));
		const execution = await client.waitForExecution(await client.run(ref, 'Start'));
		const seen = Object.fromEntries(
			[COMPLETED, FAILED].flatMap((output) =>
				outputItems(execution, 'Wait', output).map(({ json: { task_id, ...fields } }) => [
					task_id,
					{ output, item: fields },
				]),
			),
		) as object;
		const wanted = Object.entries(TASKS).map(([name, { output, item }]) => [
			name.trim(),
			{ output, item },
		]);
		expect(seen).toMatchObject(Object.fromEntries(wanted));
	},
	SET_UP_LIMIT_MS,
);
