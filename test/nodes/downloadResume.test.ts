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
const OTHER = sampleFile('video/mp4', 'abcdefghij'.repeat(1_000));
const SIZE = FILE.length;
const CUT = 6_000;
const ETAG = '"v1"';
const DATE = 'Mon, 02 Nov 2026 10:00:00 GMT';

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
function sendWhole(response: ServerResponse, file: Buffer, sent = file.length, headers = {}): void {
	response.writeHead(200, { 'content-length': file.length, etag: ETAG, ...headers });
	if (sent === file.length) response.end(file);
	else
		response.write(file.subarray(0, sent), () => {
			response.socket!.destroySoon();
		});
}

/** Sends a part of a file with these headers; undefined leaves a header out. */
function sendPart(response: ServerResponse, part: Buffer, headers: object): void {
	const all: Record<string, unknown> = {
		'content-length': part.length,
		'content-range': `bytes ${CUT}-${SIZE - 1}/${SIZE}`,
		etag: ETAG,
		...headers,
	};
	const set = Object.entries(all).filter(([, value]) => value !== undefined);
	response.writeHead(206, Object.fromEntries(set) as Record<string, string>).end(part);
}

const rest = OTHER.subarray(CUT);

test.each<[string, (response: ServerResponse) => void]>([
	[
		'another ETag',
		(response) => {
			sendPart(response, rest, { etag: '"v2"' });
		},
	],
	[
		'a weak ETag',
		(response) => {
			sendPart(response, rest, { etag: 'W/"v1"' });
		},
	],
	[
		'another modification date',
		(response) => {
			sendPart(response, rest, { 'last-modified': 'Tue, 03 Nov 2026 10:00:00 GMT' });
		},
	],
	[
		'another total',
		(response) => {
			sendPart(response, rest, { 'content-range': `bytes ${CUT}-${SIZE - 1}/${SIZE + 5}` });
		},
	],
	[
		'another position',
		(response) => {
			sendPart(response, rest, { 'content-range': `bytes ${CUT + 1}-${SIZE - 1}/${SIZE}` });
		},
	],
	[
		'a position that begins with the same digits',
		(response) => {
			sendPart(response, rest, { 'content-range': `bytes ${CUT}0-${CUT}9/*` });
		},
	],
	[
		'a range that ends early',
		(response) => {
			sendPart(response, rest.subarray(0, 100), {
				'content-range': `bytes ${CUT}-${CUT + 99}/${SIZE}`,
			});
		},
	],
	[
		'an unknown total',
		(response) => {
			sendPart(response, rest, { 'content-range': `bytes ${CUT}-${SIZE - 1}/*` });
		},
	],
	[
		'no range',
		(response) => {
			sendPart(response, rest, { 'content-range': undefined });
		},
	],
	[
		'a status that denies the range',
		(response) => response.writeHead(416, { 'content-range': `bytes */${CUT}` }).end(),
	],
	[
		'the whole of another version',
		(response) => {
			sendWhole(response, OTHER, SIZE);
		},
	],
])('a remainder with %s is not joined: the download starts over', async (_name, answer) => {
	host = (response, { headers }, index) => {
		if (index === 0) sendWhole(response, FILE, CUT, { 'last-modified': DATE });
		else if (headers.range === undefined) sendWhole(response, OTHER);
		else answer(response);
	};
	expect(await download()).toStrictEqual({ bytes: OTHER.toString('latin1'), error: undefined });
	expect(downloads().map(({ headers }) => headers.range)).toStrictEqual([
		undefined,
		`bytes=${CUT}-`,
		undefined,
	]);
});

test('a remainder that is shorter than its range is not the end of the file', async () => {
	host = (response, { headers }, index) => {
		const from = Number(/\d+/.exec(headers.range ?? '')?.[0] ?? 0);
		const end = index === 2 ? SIZE : from + 100;
		if (index === 0) sendWhole(response, FILE, CUT);
		else {
			sendPart(response, FILE.subarray(from, end), {
				'content-range': `bytes ${from}-${SIZE - 1}/${SIZE}`,
			});
		}
	};
	expect((await download()).bytes).toBe(FILE.toString('latin1'));
	expect(downloads().map(({ headers }) => headers.range)).toStrictEqual([
		undefined,
		`bytes=${CUT}-`,
		`bytes=${CUT + 100}-`,
	]);
});

test('a remainder that is longer than its range is not part of the file', async () => {
	host = (response, { headers }, index) => {
		if (index === 0) sendWhole(response, FILE, CUT);
		else if (headers.range === undefined) sendWhole(response, FILE);
		else sendPart(response, Buffer.concat([FILE.subarray(CUT), rest]), {});
	};
	expect((await download()).bytes).toBe(FILE.toString('latin1'));
});

test('the remainder may leave out its ETag, and the modification date is a validator, too', async () => {
	const headers = { etag: 'W/"weak"', 'last-modified': DATE };
	host = (response, request, index) => {
		if (index === 0) sendWhole(response, FILE, CUT, headers);
		else sendPart(response, FILE.subarray(CUT), { etag: undefined, 'last-modified': DATE });
	};
	expect((await download()).bytes).toBe(FILE.toString('latin1'));
	expect(downloads()[1]!.headers['if-range']).toBe(DATE);
});

test('a part in answer to a request for the whole file is an error', async () => {
	host = (response) => {
		sendPart(response, FILE.subarray(0, 100), {
			'content-range': `bytes 0-99/${SIZE}`,
		});
	};
	expect((await download()).error).toContain('The file could not be downloaded (status 206)');
	expect(downloads()).toHaveLength(1);
});
