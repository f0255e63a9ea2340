import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { N8N_HOME, ROOT } from '../../lab/paths';

const run = promisify(execFile);

/** A community package, installed into an empty folder the way n8n installs it. */
export interface InstalledPackage {
	readonly folder: string;
	readonly version: string;
	/** Size of the tarball. */
	readonly packedBytes: number;
	/** Total size of all installed files. */
	readonly installedBytes: number;
	/** Number of packages installed with it. */
	readonly dependencies: number;
}

/**
 * Packs this project, or downloads a published package, and installs the tarball without peer dependencies, which n8n
 * provides.
 *
 * @param spec Package and version to download; without it, this project is packed.
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
	const packed = await npm(
		'pack',
		spec ?? ROOT,
		'--json',
		'--ignore-scripts',
		'--pack-destination=.',
	);
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

/** Loads the packages with n8n's loader, in this order in a fresh process; returns the milliseconds for each. */
export async function loadMs(packages: readonly InstalledPackage[]): Promise<readonly number[]> {
	const script = join(__dirname, 'loadPackages.ts');
	const folders = packages.map(({ folder }) => folder);
	const { stdout } = await run(process.execPath, [...process.execArgv, script, ...folders], {
		// n8n resolves peer dependencies of community packages from here.
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
