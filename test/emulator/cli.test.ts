import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';

const CLI = join(__dirname, '..', '..', 'emulator', 'cli.ts');
const started: ChildProcess[] = [];
afterEach(() => {
	for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Run {
	/** Resolves with the output when it contains the text, or when the program ends. */
	readonly until: (text: string) => Promise<string>;
	readonly ended: Promise<{
		readonly code: number | null;
		readonly out: string;
		readonly err: string;
	}>;
	readonly stop: (signal: NodeJS.Signals) => void;
}

function run(...args: string[]): Run {
	const child = spawn(process.execPath, ['--import', 'tsx', CLI, ...args]);
	started.push(child);
	let [out, err] = ['', ''];
	child.stdout.on('data', (data: Buffer) => (out += data.toString()));
	child.stderr.on('data', (data: Buffer) => (err += data.toString()));
	const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
		child.on('close', (code) => {
			resolve({ code, out, err });
		}),
	);
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
	return { until, ended, stop: (signal) => child.kill(signal) };
}

const portOf = (printed: string): number =>
	Number(/^Listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(printed)![1]);

describe('command line', () => {
	it('prints its URL, logs one line per request, and stops cleanly', async () => {
		const emulator = run('--port', '0', '--video-seconds', '0', '--seed', '7');
		const port = portOf(await emulator.until('Listening on '));
		await fetch(`http://127.0.0.1:${port}/v1/videos/tasks`, { method: 'POST' });
		await emulator.until('/v1/videos/tasks');
		emulator.stop('SIGTERM');
		const { code, out, err } = await emulator.ended;

		expect([code, err]).toEqual([0, '']);
		expect(out).toMatch(
			/^Listening on http:\/\/127\.0\.0\.1:\d+\n\d\d:\d\d:\d\d POST \/v1\/videos\/tasks 401 \d+ ms none\n$/,
		);
	});

	it('reports that the port is in use', async () => {
		const server = await new Promise<Server>((resolve) => {
			const listening = createServer().listen(0, '127.0.0.1', () => {
				resolve(listening);
			});
		});
		const { port } = server.address() as AddressInfo;
		const { code, err } = await run('--port', String(port)).ended;
		server.close();

		expect([code, err]).toEqual([
			1,
			`Port ${port} is already in use. Choose another port with --port, or stop the program that uses it.\n`,
		]);
	});

	it('prints help and rejects invalid options', async () => {
		const [help, port, host] = await Promise.all([
			run('--help').ended,
			run('--port', 'abc').ended,
			run('--port', '0', '--host', '192.0.2.1').ended,
		]);
		expect(help.code).toBe(0);
		for (const option of [
			'port',
			'host',
			'video-seconds',
			'chunk-ms',
			'seed',
			'minimal',
			'quiet',
		]) {
			expect(help.out).toContain(`--${option}`);
		}
		expect([port.code, port.err]).toEqual([
			1,
			expect.stringContaining('It must be an integer from 0 to 65535.'),
		]);
		expect([host.code, host.err]).toEqual([
			1,
			'192.0.2.1 is not an address of this machine.\n',
		]);
	});
});
