import type { ServerResponse } from 'node:http';

import { runNode } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import {
	json,
	startScriptedServer,
	type ScriptedServer,
	type SeenRequest,
} from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

const FILE = sampleFile('video/mp4', '0123456789'.repeat(1_000));
const CUT = 6_000;

let server: ScriptedServer;
/** Answers each request for the file; `index` counts those before it. */
let host: (response: ServerResponse, request: SeenRequest, index: number) => void;

const downloads = () => server.requests.filter(({ path }) => path === '/a.mp4');

beforeEach(async () => {
	server = await startScriptedServer((response, request) => {
		if (request.path === '/a.mp4') host(response, request, downloads().length - 1);
		else json(response, 200, { status: 'completed', video_url: `${server.url}/a.mp4` });
	});
});
afterEach(async () => {
	await server.stop();
});

async function download() {
	return await withFakeTimers(async () => {
		const { outputs } = await runNode('waitForVideo', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{ task_id: 'task-1' }],
		});
		const data = outputs[COMPLETED]![0]?.binary!['data']!.data;
		return {
			bytes: data === undefined ? undefined : Buffer.from(data, 'base64').toString('latin1'),
			error: outputs[FAILED]![0]?.json['error_message'],
		};
	});
}

/** Sends a whole file, or only its beginning before the connection breaks. */
function sendWhole(response: ServerResponse, file: Buffer, sent = file.length): void {
	response.writeHead(200, { 'content-length': file.length, etag: '"v1"' });
	if (sent === file.length) response.end(file);
	else
		response.write(file.subarray(0, sent), () => {
			response.socket!.destroySoon();
		});
}

test('a download that breaks every time fails after four retries', async () => {
	host = (response) => {
		sendWhole(response, FILE, CUT);
	};
	expect((await download()).error).toContain('The download was interrupted');
	// Each begins again: a part of another version would not fit.
	expect(downloads().map(({ headers }) => headers.range)).toStrictEqual(Array(5).fill(undefined));
});

test.each([206, 416])('status %i in place of the whole file is an error', async (status) => {
	host = (response, _request, index) => {
		if (index === 0) sendWhole(response, FILE, CUT);
		else {
			const range = `bytes ${CUT}-${FILE.length - 1}/${FILE.length}`;
			response.writeHead(status, { 'content-range': range }).end(FILE.subarray(CUT));
		}
	};
	const words = `The file could not be downloaded (status ${status})`;
	expect((await download()).error).toContain(words);
	expect(downloads()).toHaveLength(2);
});
