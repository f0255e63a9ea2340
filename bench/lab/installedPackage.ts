import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { N8N_HOME, ROOT } from '../../lab/paths';

const run = promisify(execFile);

/** A package of nodes, installed by itself as n8n installs it. */
export interface InstalledPackage {
	/** Folder of the package. */
	readonly folder: string;
	readonly version: string;
	/** Bytes of the packed file. */
	readonly packedBytes: number;
	/** Bytes of all files that the installation brings. */
	readonly installedBytes: number;
	/** Packages that come along. */
	readonly dependencies: number;
}

/**
 * Packs a package, or gets the packed one from npm, and installs that without its peer dependencies, which n8n brings.
 *
 * @param spec Of a published package; the project itself without it.
 */
export async function installAlone(
	home: string,
	name: string,
	spec?: string,
): Promise<InstalledPackage> {
	await rm(home, { recursive: true, force: true });
	await mkdir(home, { recursive: true });
	const npm = async (...args: readonly string[]) =>
		(await run('npm', [...args], { cwd: home, maxBuffer: 2 ** 26 })).stdout;
	const packed = await npm('pack', spec ?? ROOT, '--json', '--ignore-scripts');
	const [{ filename, size, version }] = JSON.parse(packed.slice(packed.indexOf('['))) as [
		{ filename: string; size: number; version: string },
	];
	await npm(
		'install',
		`./${filename}`,
		'--prefix=.',
		'--ignore-scripts',
		'--legacy-peer-deps',
		'--no-audit',
		'--no-fund',
	);
	const modules = join(home, 'node_modules');
	const lock = await readFile(join(modules, '.package-lock.json'), 'utf8');
	const { packages } = JSON.parse(lock) as { packages: object };
	return {
		folder: join(modules, name),
		version,
		packedBytes: size,
		installedBytes: await bytesBelow(modules),
		dependencies: Object.keys(packages).length - 1,
	};
}

/**
 * Milliseconds that n8n takes to load the nodes of each package, in a process of its own, one package after another in
 * this order.
 */
export async function loadMs(packages: readonly InstalledPackage[]): Promise<readonly number[]> {
	const script = join(__dirname, 'loadPackages.ts');
	const folders = packages.map(({ folder }) => folder);
	const { stdout } = await run(process.execPath, [...process.execArgv, script, ...folders], {
		// Where n8n leads the packages to for what they have as peers.
		env: { ...process.env, NODE_PATH: join(N8N_HOME, 'node_modules') },
	});
	return JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]') as number[];
}

async function bytesBelow(folder: string): Promise<number> {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const files = entries.filter((entry) => entry.isFile() && entry.name !== '.package-lock.json');
	const sizes = files.map(
		async ({ parentPath, name }) => (await stat(join(parentPath, name))).size,
	);
	return (await Promise.all(sizes)).reduce((sum, each) => sum + each, 0);
}
