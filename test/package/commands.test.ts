// @seconds 10
/** What the commands of the checkout do before they run, with what they cannot use, and beside each other. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type * as DemoReport from '../../lab/demo/demoReport';
import type * as KeptDemo from '../../lab/demo/keptDemo';
import type * as Owner from '../../lab/n8n/owner';
import { ROOT } from '../../lab/paths';
import { freePort } from '../../lab/services/freePort';
import { startScriptedServer } from '../support/scriptedServer';
import { read } from './pages';

const LIMIT_MS = 60_000;

type Demo = typeof KeptDemo & typeof DemoReport & typeof Owner;

let folder: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'commands-'));
});
afterEach(() => {
	rmSync(folder, { recursive: true, force: true });
});

/** Runs a program of Node to its end. */
async function runProgram(args: readonly string[], cwd = ROOT, env = process.env) {
	const child = spawn(process.execPath, args, { cwd, env, timeout: LIMIT_MS - 5_000 });
	let said = '';
	for (const stream of [child.stdout, child.stderr])
		stream.on('data', (data: Buffer) => (said += data.toString()));
	const [code] = (await once(child, 'close')) as [number];
	return { code, said };
}

describe('ready.mjs', () => {
	/** A version of Node that nobody has. */
	const VERSION = '999.0.0';
	const NAME = 'node-of-nobody';
	const PLATFORM = `${process.platform}-${process.arch}`;
	/** The programs that are fetched, with their hashes. */
	const PROGRAMS = JSON.parse(read('lab/services/programs.json')) as Record<
		'node' | 'bun',
		{ version: string; packages: Record<string, { name: string; integrity: string }> }
	>;
	const FILES = [
		'scripts/ready.mjs',
		...['fetchProgram', 'installLocked', 'runNpm'].map((name) => `lab/services/${name}.js`),
	];
	/** This checkout has it unless npm has installed its packages. */
	const BUN = `.cache/bun-${PROGRAMS.bun.version}`;

	/** Packages whose `node` prints a text. */
	let good: Buffer;
	let evil: Buffer;
	/** What the registry has under the name, with the hash of what it serves. */
	let served: Buffer;
	const registry = createServer(({ url, headers }, response) => {
		if (url!.endsWith('.tgz')) {
			response.end(served);
			return;
		}
		const tarball = `http://${headers.host}/${NAME}/-/${NAME}-${VERSION}.tgz`;
		const dist = { tarball, integrity: hashOf(served) };
		const versions = { [VERSION]: { name: NAME, version: VERSION, dist } };
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify({ name: NAME, 'dist-tags': { latest: VERSION }, versions }));
	});
	let registryUrl: string;

	beforeAll(async () => {
		await once(registry.listen(0, '127.0.0.1'), 'listening');
		registryUrl = `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
		const packed = mkdtempSync(join(tmpdir(), 'packages-'));
		[good, evil] = ['good', 'evil'].map((text) => {
			const bin = join(packed, text, 'package', 'bin');
			mkdirSync(bin, { recursive: true });
			const manifest = JSON.stringify({ name: NAME, version: VERSION });
			writeFileSync(join(dirname(bin), 'package.json'), manifest);
			writeFileSync(join(bin, 'node'), `#!/bin/sh\necho ${text}\n`, { mode: 0o755 });
			return execFileSync('tar', ['-cz', '-C', join(packed, text), 'package']);
		}) as [Buffer, Buffer];
		served = good;
		rmSync(packed, { recursive: true });
	});
	afterAll(() => {
		registry.close();
		registry.closeAllConnections();
	});

	const hashOf = (content: Buffer) =>
		`sha512-${createHash('sha512').update(content).digest('base64')}`;

	/** What differs from a checkout of this version of Node whose manifest asks for the package. */
	interface Checkout {
		readonly node?: string;
		/** The kept hash of Node. */
		readonly integrity?: string;
		/** Whether Bun is fetched already; otherwise there is none for this platform. */
		readonly hasBun?: boolean;
		/** The packages of the lock file, below node_modules. */
		readonly locked?: Readonly<Record<string, object>>;
		/** Those of node_modules, as npm leaves it, and where that is a link to. */
		readonly installed?: Readonly<Record<string, object>>;
		readonly linkedTo?: string;
	}

	const LOCKED = () => ({ [NAME]: { version: VERSION, integrity: hashOf(good) } });

	/** Runs `node` through the ready.mjs of a checkout. */
	async function runNode(checkout: Checkout) {
		const { node = process.versions.node, integrity, locked = {}, installed } = checkout;
		const root = join(folder, 'checkout');
		const modules = checkout.linkedTo ?? join(root, 'node_modules');
		const below = (packages: object) =>
			Object.fromEntries(
				Object.entries(packages).map(([name, entry]) => [`node_modules/${name}`, entry]),
			);
		for (const file of FILES) cpSync(join(ROOT, file), join(root, file));
		if (checkout.hasBun) {
			mkdirSync(join(root, '.cache'), { recursive: true });
			symlinkSync(join(ROOT, BUN), join(root, BUN), 'junction');
		}
		const packagesOfNode = integrity && { [PLATFORM]: { name: NAME, integrity } };
		const programs = {
			node: { version: VERSION, packages: packagesOfNode ?? {} },
			bun: { ...PROGRAMS.bun, ...(!checkout.hasBun && { packages: {} }) },
		};
		const manifest = { name: 'checkout', version: '1.0.0', devDependencies: { [NAME]: '*' } };
		const packages = { '': manifest, ...below(locked) };
		const lock = { ...manifest, lockfileVersion: 3, requires: true, packages };
		for (const [file, content] of Object.entries({
			'.nvmrc': node,
			'lab/services/programs.json': JSON.stringify(programs),
			'package.json': JSON.stringify(manifest),
			'package-lock.json': JSON.stringify(lock),
		}))
			writeFileSync(join(root, file), content);
		if (installed !== undefined) {
			mkdirSync(join(modules, '.bin'), { recursive: true });
			const list = join(modules, '.package-lock.json');
			writeFileSync(list, JSON.stringify({ packages: below(installed) }));
			// Older than the lock file, as in a copy.
			utimesSync(list, 1, 1);
		}
		if (checkout.linkedTo !== undefined)
			symlinkSync(modules, join(root, 'node_modules'), 'junction');
		const env = {
			CI: 'true',
			PATH: process.env['PATH'],
			HOME: folder,
			npm_config_registry: registryUrl,
			npm_config_cache: join(folder, 'cache'),
		};
		const command = ['node', '--print', '`the command runs`'];
		return await runProgram([join(root, 'scripts', 'ready.mjs'), ...command], root, env);
	}

	/** A checkout that has its dependencies, and needs another Node. */
	const runOtherNode = async (integrity?: string) =>
		await runNode({
			node: VERSION,
			locked: LOCKED(),
			installed: LOCKED(),
			...(integrity !== undefined && { integrity }),
		});

	test(
		'Node with the kept hash is used; another one that the registry has under the version is not',
		async () => {
			expect(await runOtherNode(hashOf(good))).toMatchObject({
				code: 0,
				said: expect.stringContaining('good') as string,
			});
			rmSync(join(folder, 'checkout', '.cache'), { recursive: true });
			rmSync(join(folder, 'cache'), { recursive: true });
			served = evil;
			const { code, said } = await runOtherNode(hashOf(good));
			served = good;
			expect(code).not.toBe(0);
			expect(said).toContain('EINTEGRITY');
			expect(said).not.toMatch(/^evil/m);
		},
		LIMIT_MS,
	);

	test('without a kept hash no Node is fetched, and the error says what to do', async () => {
		const { code, said } = await runOtherNode();
		expect(code).toBe(1);
		expect(said).toContain(`Install Node ${VERSION}`);
		expect(said).not.toMatch(/^good/m);
	});

	test('node_modules with the packages of the lock file is kept, however old it is', async () => {
		const optional = { other: { version: '1.0.0', optional: true } };
		const locked = { ...LOCKED(), ...optional };
		const { code, said } = await runNode({ locked, installed: LOCKED() });
		expect(said).toContain('the command runs');
		expect(said).not.toContain('Installing');
		expect(code).toBe(0);
	});

	test('a linked node_modules with other packages is left as it is', async () => {
		const linkedTo = join(folder, 'elsewhere');
		const { code, said } = await runNode({ locked: LOCKED(), installed: {}, linkedTo });
		expect(said).toContain('node_modules is a link');
		expect(said).not.toContain('the command runs');
		expect(code).toBe(1);
		expect(readdirSync(linkedTo).sort()).toStrictEqual(['.bin', '.package-lock.json']);
	});

	test(
		'a package that the lock file does not have stops everything before it can run',
		async () => {
			const { code, said } = await runNode({});
			expect(said).toContain(`package-lock.json does not have ${NAME} ${VERSION}`);
			expect(said).not.toContain('the command runs');
			expect(code).toBe(1);
		},
		LIMIT_MS,
	);

	const testWithBun = existsSync(join(ROOT, BUN)) ? test : test.skip;

	testWithBun('Bun installs what the lock file names, once, and leaves nothing out', async () => {
		writeFileSync(join(folder, '.npmrc'), 'omit=dev\n');
		const checkout = { hasBun: true, locked: LOCKED() };
		expect(await runNode(checkout)).toMatchObject({ code: 0 });
		const modules = join(folder, 'checkout', 'node_modules');
		expect(existsSync(join(modules, NAME, 'bin', 'node'))).toBe(true);
		expect(existsSync(join(modules, '.package-lock.json'))).toBe(false);
		rmSync(join(folder, 'checkout', BUN));
		const { code, said } = await runNode(checkout);
		expect(said).toContain('the command runs');
		expect(said).not.toContain('Installing');
		expect(code).toBe(0);
	});

	testWithBun('a package with another hash is rejected by Bun, and by npm after it', async () => {
		served = evil;
		const { code, said } = await runNode({ hasBun: true, locked: LOCKED() });
		served = good;
		expect(code).toBe(1);
		expect(said).toContain('EINTEGRITY');
		expect(said).not.toContain('the command runs');
	});

	testWithBun('what Bun does not install, npm does', async () => {
		const { code, said } = await runNode({ hasBun: true });
		expect(said).toContain(`package-lock.json does not have ${NAME} ${VERSION}`);
		expect(code).toBe(1);
	});

	test('each program has hashes, and Node the version in .nvmrc', () => {
		expect(PROGRAMS.node.version).toBe(read('.nvmrc').trim());
		for (const { packages } of Object.values(PROGRAMS))
			for (const { integrity } of Object.values(packages))
				expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/);
	});
});

test(
	'the demo does not move to another port than the one that was asked for',
	async () => {
		const { port, stop } = await startScriptedServer(() => undefined);
		try {
			const tsx = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
			const args = ['lab/demo/demo.ts', '--once', '--port', String(port)];
			const { code, said } = await runProgram([tsx, ...args]);
			expect(said).toContain(`Port ${port} is already in use. Choose another port`);
			// Before it prepares anything.
			expect(said).not.toContain('Prepare n8n');
			expect(code).toBe(1);
			await expect(freePort(port)).rejects.toThrow('already in use');
		} finally {
			await stop();
		}
	},
	LIMIT_MS,
);

test('two builds of a checkout run one after the other', async () => {
	const script = `
		const { existsSync, rmSync, writeFileSync } = require('node:fs');
		const { setTimeout: wait } = require('node:timers/promises');
		const { withBuildLock } = require(${JSON.stringify(join(ROOT, 'lab/services/buildLock'))});
		const [mine, other] = process.argv.slice(1);
		writeFileSync(mine, '');
		void withBuildLock(async () => {
			writeFileSync('inside', '', { flag: 'wx' }); // Throws if the other one is inside.
			while (!existsSync(other)) await wait(10);
			await wait(300); // The other one has asked, and would be inside by now.
			rmSync('inside');
		});
	`;
	const build = (...names: string[]) => runProgram(['-e', script, ...names], folder);
	const done = { code: 0, said: '' };
	const builds = await Promise.all([build('a', 'b'), build('b', 'a')]);
	expect(builds).toStrictEqual([done, done]);
});

describe('the password of the demo', () => {
	const own = process.env;
	afterEach(() => {
		process.env = own;
	});

	/** The demo as a process of its own loads it, with the password that another one has given it. */
	function demoOf(given?: string): Demo {
		const { N8N_LAB_PASSWORD: _, ...env } = own;
		process.env = { ...env, ...(given !== undefined && { N8N_LAB_PASSWORD: given }) };
		const parts = {};
		jest.isolateModules(() => {
			for (const path of ['demo/keptDemo', 'demo/demoReport', 'n8n/owner'])
				Object.assign(parts, jest.requireActual<object>(`../../lab/${path}`));
		});
		return parts as Demo;
	}

	/** Opens the demo of a folder, and tells its password. */
	async function open(place: string): Promise<string> {
		const { KeptDemo, OWNER } = demoOf();
		const kept = await KeptDemo.open(place, {});
		await kept!.stop();
		return OWNER.password;
	}

	test('is random, and n8n accepts it', () => {
		const [one, other] = [demoOf().OWNER.password, demoOf().OWNER.password];
		expect(one).not.toBe(other);
		// n8n: 8 to 64 characters, with a digit and a capital letter. The random part has 72 bits.
		expect(one).toMatch(/^(?=.*\d)(?=.*[A-Z])[\w-]{12,64}$/);
		expect(one.length).toBeGreaterThanOrEqual(12 + 'Demo1-'.length);
	});

	test('is that of the process that has given one, and the demo prints it', () => {
		const { OWNER, invitation } = demoOf('Demo1-given');
		expect(OWNER.password).toBe('Demo1-given');
		const page = 'http://127.0.0.1:5678';
		expect(invitation({ n8n: page, startHere: page, agentChat: page })).toMatch(
			/^ {2}password {2}Demo1-given$/m,
		);
	});

	test('is the same for the next demo in a folder, where another account cannot read it', async () => {
		const place = join(folder, 'demo');
		const first = await open(place);
		expect(first).toMatch(/^Demo1-/);
		expect(await open(place)).toBe(first);
		expect(await open(join(folder, 'other'))).not.toBe(first);
		expect(statSync(join(place, 'demo.json')).mode & 0o777).toBe(0o600);
		expect(statSync(place).mode & 0o777).toBe(0o700);
	});
});
