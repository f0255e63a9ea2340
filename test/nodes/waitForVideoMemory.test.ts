import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';

import { build } from 'esbuild';

import type { Measured } from '../support/measureDownload';
import { videoHead } from '../support/sampleFiles';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const MEGABYTE = 1_000_000;
const SIZES: Readonly<Record<string, number>> = { small: MEGABYTE, large: 200 * MEGABYTE };
const ROOT = join(__dirname, '..', '..');
/** Inside the project, so that Node resolves n8n's engine. */
const PROGRAM = join(ROOT, '.cache', `measureDownload-${process.pid}.cjs`);

let server: ScriptedServer;
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
	server = await startScriptedServer((response, { path, body }) => {
		if (path.startsWith('/cdn/')) {
			sendFile(response, SIZES[path.slice('/cdn/'.length)]!);
			return;
		}
		const { task_id } = body as { task_id: string };
		const video_url = `${server.url}/cdn/${task_id}`;
		json(response, 200, { task_id, status: 'completed', video_url });
	});
});
afterAll(async () => {
	await server.stop();
	await rm(folder, { recursive: true, force: true });
	await rm(PROGRAM, { force: true });
});

function sendFile(response: ServerResponse, bytes: number): void {
	const piece = Buffer.alloc(MEGABYTE / 10, 'v');
	response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
	const first = Buffer.concat([videoHead(bytes), piece]).subarray(0, piece.length);
	const pieces = Array.from({ length: bytes / piece.length }, (_, i) =>
		i === 0 ? first : piece,
	);
	pipeline(Readable.from(pieces), response, () => undefined);
}

test('a download of 200 MB needs less than 50 MB of memory', async () => {
	const env = {
		...process.env,
		N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
		N8N_USER_FOLDER: folder,
	};
	const args = ['--expose-gc', PROGRAM, server.url, folder];
	const { stdout } = await promisify(execFile)(process.execPath, args, { env, timeout: 60_000 });
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
