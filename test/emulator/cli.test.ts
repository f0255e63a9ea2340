// @seconds 8
/** The emulator as its package is installed: by npx, and by its command line. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { packEmulator } from '../../scripts/packEmulator';
import { startScriptedServer } from '../support/scriptedServer';

const LIMIT_MS = 120_000;
const MAX_BYTES = 5 * 2 ** 20;

const folder = mkdtempSync(join(tmpdir(), 'packed-'));
let packed: string;
beforeAll(async () => {
	packed = await packEmulator(folder);
	execFileSync('tar', ['-xzf', packed, '-C', folder]);
}, LIMIT_MS);

const started: ChildProcess[] = [];
afterEach(() => {
	// The whole group: npx starts the emulator as a process of its own.
	for (const { pid, exitCode } of started.splice(0))
		if (exitCode === null) process.kill(-pid!, 'SIGKILL');
});
afterAll(() => {
	rmSync(folder, { recursive: true });
});

function run(program: string, args: readonly string[], cwd = folder, more = {}) {
	const env = { ...process.env, ...more };
	const child = spawn(program, args, { cwd, env, detached: true });
	started.push(child);
	let [out, err] = ['', ''];
	child.stdout.on('data', (data: Buffer) => (out += data.toString()));
	child.stderr.on('data', (data: Buffer) => (err += data.toString()));
	const ended = once(child, 'close').then(([code]) => ({ code: code as number, out, err }));
	/** Resolves with the output when it contains the text, or when the program ends. */
	const until = (text: string) =>
		new Promise<string>((resolve) => {
			const check = () => {
				if (out.includes(text)) resolve(out);
			};
			child.stdout.on('data', check);
			void ended.then(() => {
				resolve(out + err);
			});
			check();
		});
	return { until, ended, stop: (signal: NodeJS.Signals) => child.kill(signal) };
}

const cli = (...args: string[]) =>
	run(process.execPath, [join(folder, 'package', 'cli.js'), ...args]);

const urlOf = (printed: string): string =>
	/^Listening on (http:\/\/127\.0\.0\.1:\d+)$/m.exec(printed)![1]!;

test(
	'the packed emulator is small, and works by npx in an empty folder',
	async () => {
		expect(statSync(packed).size).toBeLessThan(MAX_BYTES);
		const empty = join(folder, 'empty');
		mkdirSync(empty);
		copyFileSync(packed, join(empty, 'file.tgz'));
		const cache = { npm_config_cache: join(empty, 'cache'), npm_config_offline: 'true' };
		const args = ['--yes', './file.tgz', '--port', '0', '--script', 'ollama'];
		const url = urlOf(await run('npx', args, empty, cache).until('Listening on '));
		const answer = await fetch(`${url}/v1/chat/completions`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ messages: [{ role: 'user', content: 'What is 2 + 2?' }] }),
		});
		expect(await answer.text()).toContain('"content":"2 + 2 = 4"');
		for (const path of ['thumbnails/a.jpg', 'videos/t_480P_16x9_4s_Hi.mp4']) {
			expect((await fetch(`${url}/cdn/${path}`)).status).toBe(200);
		}
	},
	LIMIT_MS,
);

test('it prints its URL, logs one line per request, and stops cleanly', async () => {
	const emulator = cli('--port', '0', '--video-seconds', '0', '--seed', '7');
	const url = urlOf(await emulator.until('Listening on '));
	await fetch(`${url}/v1/videos/tasks`, { method: 'POST' });
	await emulator.until('/v1/videos/tasks');
	emulator.stop('SIGTERM');
	const { code, out, err } = await emulator.ended;

	expect([code, err]).toEqual([0, '']);
	expect(out).toMatch(
		/^Listening on http:\/\/127\.0\.0\.1:\d+\n\d\d:\d\d:\d\d POST \/v1\/videos\/tasks 401 \d+ ms none\n$/,
	);
});

test('it reports that the port is in use', async () => {
	const { port, stop } = await startScriptedServer(() => undefined);
	const { code, err } = await cli('--port', String(port)).ended;
	await stop();

	const said = `Port ${port} is already in use. Choose another port with --port, or stop the program that uses it.\n`;
	expect([code, err]).toEqual([1, said]);
});

test('it prints help and rejects invalid options', async () => {
	const [help, port, host] = await Promise.all([
		cli('--help').ended,
		cli('--port', 'abc').ended,
		cli('--port', '0', '--host', '192.0.2.1').ended,
	]);
	expect(help.code).toBe(0);
	const options = ['port', 'host', 'video-seconds', 'chunk-ms', 'seed', 'minimal', 'quiet'];
	for (const option of options) expect(help.out).toContain(`--${option}`);
	const said = expect.stringContaining('It must be an integer from 0 to 65535.') as string;
	expect([port.code, port.err]).toEqual([1, said]);
	expect([host.code, host.err]).toEqual([1, '192.0.2.1 is not an address of this machine.\n']);
});
