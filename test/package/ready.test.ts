// @seconds 14
import { spawn, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	readdirSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { generate } from 'selfsigned';

import { ROOT } from '../../lab/paths';

const VERSION = '999.0.0';
const NAME = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const LIMIT_MS = 60_000;

let folder: string;
let registry: Server;

/** A package whose `node` prints a text. */
function packageThatSays(text: string): Buffer {
	const source = join(folder, 'source', text);
	mkdirSync(join(source, 'package', 'bin'), { recursive: true });
	writeFileSync(
		join(source, 'package', 'package.json'),
		JSON.stringify({ name: NAME, version: VERSION }),
	);
	writeFileSync(join(source, 'package', 'bin', 'node'), `#!/bin/sh\necho ${text}\n`, {
		mode: 0o755,
	});
	// The same bytes each time: the time of the files is in them.
	execFileSync('tar', [
		'--mtime=@0',
		'-czf',
		join(source, 'package.tgz'),
		'-C',
		source,
		'package',
	]);
	return readFileSync(join(source, 'package.tgz'));
}
const hashOf = (content: Buffer) =>
	`sha512-${createHash('sha512').update(content).digest('base64')}`;

/** Starts a registry on the loopback address that has this package, with the hash of what it serves. */
async function serve(content: Buffer): Promise<string> {
	registry = createServer(({ url, headers }, response) => {
		if (url!.endsWith('.tgz')) {
			response.end(content);
			return;
		}
		const dist = {
			tarball: `http://${headers.host}/${NAME}/-/${NAME}-${VERSION}.tgz`,
			integrity: hashOf(content),
		};
		const versions = { [VERSION]: { name: NAME, version: VERSION, dist } };
		response.setHeader('content-type', 'application/json');
		response.end(JSON.stringify({ name: NAME, 'dist-tags': { latest: VERSION }, versions }));
	}).listen(0, '127.0.0.1');
	await once(registry, 'listening');
	return `http://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
}

function copyScripts(root: string): void {
	for (const file of ['scripts/ready.mjs', 'lab/services/runNpm.js'])
		cpSync(join(ROOT, file), join(root, file));
}

/** Runs `node` through ready.mjs in a checkout that needs the served version and knows these hashes. */
async function runNode(registryUrl: string, hashes: Record<string, string>) {
	const root = join(folder, 'checkout');
	copyScripts(root);
	writeFileSync(join(root, 'scripts', 'nodeHashes.json'), JSON.stringify(hashes));
	writeFileSync(join(root, '.nvmrc'), `${VERSION}\n`);
	cpSync(join(ROOT, 'package.json'), join(root, 'package.json'));
	cpSync(join(ROOT, 'package-lock.json'), join(root, 'package-lock.json'));
	// The dependencies count as installed.
	mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
	cpSync(join(ROOT, 'package-lock.json'), join(root, 'node_modules', '.package-lock.json'));
	return await runReady(root, registryUrl, ['node']);
}

/** Runs a command through the ready.mjs of a checkout. */
async function runReady(root: string, registryUrl: string, command: readonly string[]) {
	const env = {
		CI: 'true',
		PATH: process.env['PATH'],
		HOME: folder,
		npm_config_registry: registryUrl,
		npm_config_cache: join(folder, 'cache'),
	};
	const child = spawn(process.execPath, [join(root, 'scripts', 'ready.mjs'), ...command], {
		cwd: root,
		env,
	});
	let said = '';
	child.stdout.on('data', (data: Buffer) => (said += data.toString()));
	child.stderr.on('data', (data: Buffer) => (said += data.toString()));
	const [code] = (await once(child, 'close')) as [number];
	return { code, said };
}

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'fetched-node-'));
});
afterEach(() => {
	registry.close();
	registry.closeAllConnections();
	rmSync(folder, { recursive: true, force: true });
});

test(
	'Node with the kept hash is used',
	async () => {
		const content = packageThatSays('good');
		const { code, said } = await runNode(await serve(content), { [NAME]: hashOf(content) });
		expect(said).toContain('good');
		expect(code).toBe(0);
	},
	LIMIT_MS,
);

test(
	'another Node that the registry serves under the same version is refused',
	async () => {
		const hash = hashOf(packageThatSays('good'));
		const { code, said } = await runNode(await serve(packageThatSays('evil')), {
			[NAME]: hash,
		});
		expect(code).not.toBe(0);
		expect(said).toContain('EINTEGRITY');
		expect(said).not.toMatch(/^evil/m);
	},
	LIMIT_MS,
);

test(
	'without a kept hash nothing is fetched, and the error says what to do',
	async () => {
		const { code, said } = await runNode(await serve(packageThatSays('any')), {});
		expect(code).toBe(1);
		expect(said).toContain(`Install Node ${VERSION}`);
		expect(said).not.toMatch(/^any/m);
	},
	LIMIT_MS,
);

describe('the lock file', () => {
	/**
	 * Runs a command in a checkout whose manifest asks for a library that the lock file may have.
	 *
	 * @param prepare Changes the checkout before.
	 */
	async function runWith(
		locked: Record<string, object>,
		prepare: (root: string) => void = () => undefined,
		registryUrl?: string,
	) {
		const root = join(folder, 'locked');
		const manifest = { name: 'checkout', version: '1.0.0', devDependencies: { [NAME]: '*' } };
		const packages = { '': manifest, ...locked };
		copyScripts(root);
		writeFileSync(join(root, '.nvmrc'), process.versions.node);
		writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
		writeFileSync(
			join(root, 'package-lock.json'),
			JSON.stringify({ ...manifest, lockfileVersion: 3, requires: true, packages }),
		);
		prepare(root);
		return await runReady(root, registryUrl ?? (await serve(packageThatSays('library'))), [
			'node',
			'--print',
			'`the command runs`',
		]);
	}

	test(
		'decides what is installed',
		async () => {
			const integrity = hashOf(packageThatSays('library'));
			const entry = { version: VERSION, integrity };
			const { code, said } = await runWith({ [`node_modules/${NAME}`]: entry });
			expect(said).toContain('the command runs');
			expect(code).toBe(0);
		},
		LIMIT_MS,
	);

	const entryOf = () => ({ version: VERSION, integrity: hashOf(packageThatSays('library')) });
	/** Writes node_modules as npm leaves it, with these packages in its list and nothing else. */
	const writeInstalled = (modules: string, packages: object) => {
		mkdirSync(join(modules, '.bin'), { recursive: true });
		writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ packages }));
		// Older than the lock file, as in a copy.
		utimesSync(join(modules, '.package-lock.json'), 1, 1);
	};

	test(
		'node_modules with the same packages is kept, however old it is',
		async () => {
			const locked = { [`node_modules/${NAME}`]: entryOf() };
			const optional = { 'node_modules/other': { version: '1.0.0', optional: true } };
			const { code, said } = await runWith({ ...locked, ...optional }, (root) => {
				writeInstalled(join(root, 'node_modules'), locked);
			});
			expect(said).toContain('the command runs');
			expect(said).not.toContain('Installing');
			expect(code).toBe(0);
		},
		LIMIT_MS,
	);

	test(
		'a linked node_modules with other packages is left as it is',
		async () => {
			const elsewhere = join(folder, 'elsewhere');
			const { code, said } = await runWith(
				{ [`node_modules/${NAME}`]: entryOf() },
				(root) => {
					writeInstalled(elsewhere, {});
					symlinkSync(elsewhere, join(root, 'node_modules'), 'junction');
				},
			);
			expect(said).toContain('node_modules is a link');
			expect(said).not.toContain('the command runs');
			expect(code).toBe(1);
			expect(readdirSync(elsewhere).sort()).toStrictEqual(['.bin', '.package-lock.json']);
		},
		LIMIT_MS,
	);

	const missing = () => ({ [`node_modules/${NAME}`]: entryOf() });

	test(
		'a registry with a certificate that nobody knows is named at once, with what to set and to delete',
		async () => {
			const { private: key, cert } = await generate([
				{ name: 'commonName', value: 'localhost' },
			]);
			registry = createTlsServer({ key, cert }).listen(0, '127.0.0.1');
			await once(registry, 'listening');
			const url = `https://127.0.0.1:${(registry.address() as AddressInfo).port}/`;
			const { code, said } = await runWith(missing(), undefined, url);
			expect(said).toContain(`npm cannot reach ${url}${NAME} (DEPTH_ZERO_SELF_SIGNED_CERT)`);
			expect(said).toContain('NODE_EXTRA_CA_CERTS');
			expect(said).toContain('Delete node_modules, then run this again');
			expect(said).not.toContain('ENOENT');
			expect(said).not.toContain('the command runs');
			expect(code).toBe(1);
		},
		LIMIT_MS,
	);

	test(
		'a package that it does not have stops everything before it can run',
		async () => {
			const { code, said } = await runWith({});
			expect(said).toContain(`package-lock.json does not have ${NAME} ${VERSION}`);
			expect(said).not.toContain('the command runs');
			expect(code).toBe(1);
		},
		LIMIT_MS,
	);
});

test('the kept hashes are those of the version in .nvmrc', () => {
	const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
	const { version, ...hashes } = JSON.parse(read('scripts/nodeHashes.json')) as {
		version: string;
	} & Record<string, string>;
	expect(version).toBe(read('.nvmrc').trim());
	for (const hash of Object.values(hashes)) expect(hash).toMatch(/^sha512-[\w+/]{86}==$/);
});
