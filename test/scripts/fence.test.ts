import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ROOT } from '../../lab/paths';
import { startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const folder = mkdtempSync(join(tmpdir(), 'fence-'));
let emulator: ScriptedServer;
let other: ScriptedServer;

/** What code tries, and what is written down of it; HOST is the other server. */
const TRIES: Readonly<Record<string, readonly [code: string, refused: string]>> = {
	fetch: [`fetch('http://HOST').catch(say)`, 'a connection to HOST'],
	socket: [`require('net').connect(PORT, '127.0.0.1').on('error', say)`, 'a connection to HOST'],
	'a name of this machine': [
		`require('net').connect({ host: 'localhost', port: ALLOWED }).on('error', say)`,
		'a connection to localhost:ALLOWED',
	],
	'a look-up of its own': [
		`require('net').connect({ host: 'example.com', port: ALLOWED, lookup: (h, o, f) => f(null, '127.0.0.1', 4) }).on('error', say)`,
		'a connection to example.com:ALLOWED',
	],
	pipe: [`require('net').connect('/a/socket').on('error', say)`, 'a connection to /a/socket'],
	datagram: [`require('dgram').createSocket('udp4').send('x', PORT, '127.0.0.1')`, 'a datagram'],
	'a look-up': [`require('dns').lookup('example.com', say)`, 'a look-up of example.com'],
	'a resolver': [
		`new (require('dns').promises.Resolver)().resolve4('example.com').catch(say)`,
		'a look-up of example.com',
	],
	'a program': [
		`require('child_process').spawn('curl', ['HOST']).on('error', say)`,
		'the program curl',
	],
	'a program that it waits for': [`require('child_process').execSync('curl HOST')`, 'a program'],
	'a child with another environment': [
		`require('child_process').execFile('node', ['-e', "fetch('http://HOST').catch(() => 0)"], { env: { PATH: process.env.PATH } })`,
		'a connection to HOST',
	],
	'a thread': [
		`new (require('worker_threads').Worker)("fetch('http://HOST').catch(() => 0)", { eval: true })`,
		'a connection to HOST',
	],
};

beforeAll(async () => {
	const start = async () => await startScriptedServer((response) => response.end('{}'));
	[emulator, other] = [await start(), await start()];
});

afterAll(async () => {
	await Promise.all([emulator.stop(), other.stop()]);
	rmSync(folder, { recursive: true });
});

/** Runs code behind the fence. Returns what was refused. */
async function run(code: string): Promise<string[]> {
	writeFileSync(join(folder, 'allowed'), `${emulator.port}\n`);
	writeFileSync(join(folder, 'refused'), '');
	const preload = join(ROOT, 'lab', 'rehearsal', 'fenceInside.ts');
	const env = {
		...process.env,
		NODE_OPTIONS: `--require ${JSON.stringify(preload)}`,
		REHEARSAL_FENCE: folder,
	};
	const handled = `const say = () => 0; process.on('uncaughtException', say); ${code}`;
	await promisify(execFile)(process.execPath, ['-e', handled], { env });
	return readFileSync(join(folder, 'refused'), 'utf8').split('\n').filter(Boolean);
}

const filled = (text: string) =>
	text
		.replaceAll('HOST', `127.0.0.1:${other.port}`)
		.replaceAll('PORT', String(other.port))
		.replaceAll('ALLOWED', String(emulator.port));

it('nothing but the emulator is reached, whatever way code tries', async () => {
	const tries = Object.values(TRIES).map(([code]) => `try { ${code} } catch {}`);
	const reached = `fetch('${emulator.url}')`;
	const refused = await run([...tries.map(filled), reached].join('\n'));
	const expected = Object.values(TRIES).map(([, what]) => filled(what));
	expect(refused.toSorted()).toStrictEqual(expected.toSorted());
	expect([emulator.requests.length, other.requests.length]).toStrictEqual([1, 0]);
});
