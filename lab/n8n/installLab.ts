import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { N8N_HOME, OTHER_N8N, PINNED_HOME } from '../paths';
import { installLocked } from '../services/installLocked';
import { runNpm } from '../services/runNpm';

const MODULES = join(N8N_HOME, 'node_modules');
/** The steps of the installation that are done. */
const STAMP = join(MODULES, '.lab-installed.json');

/** Fixed versions where the newest version that n8n allows is not available or not compatible. */
const OTHER_OVERRIDES = {
	// n8n 1.x downloads it from a vendor's host. The last version on npm reads spreadsheets, too.
	xlsx: '0.18.5',
	// Later versions need a newer @langchain/core than n8n 1.x has.
	'@langchain/langgraph-checkpoint': '1.0.0',
} as const;

/** n8n 2.x needs these packages but does not declare a version; n8n 1.x does not need them. */
const OTHER_DEPENDENCIES = { '@opentelemetry/core': '2.6.0', 'date-fns': '2.30.0' } as const;

interface Step {
	readonly name: string;
	readonly announcement: string;
	readonly run: () => Promise<void>;
}

/** The steps of the installation, in order. A finished step is not repeated for the same lock file. */
const STEPS: readonly Step[] = [
	{
		name: 'packages',
		announcement: 'Installing n8n from npm: up to three minutes, 2.2 GB',
		run: installPackages,
	},
	{
		// It is built for the binary interface of this Node.
		name: `sqlite3 ${process.versions.modules}`,
		announcement: 'Building its database driver: one to six minutes',
		run: buildDatabaseDriver,
	},
];

/**
 * Installs the n8n version of lab/n8n/pinned/package-lock.json, or the one in LAB_N8N_VERSION, unless it is installed
 * already. After an interruption, it continues after the last finished step.
 *
 * @param onProgress Called with one line when a step starts.
 * @returns Whether anything was installed.
 * @throws Error with the end of npm's output if a step fails.
 */
export async function installLab({
	onProgress = () => undefined,
}: { readonly onProgress?: (text: string) => void } = {}): Promise<boolean> {
	if (OTHER_N8N !== undefined) await describeOther(OTHER_N8N);
	const fingerprint = await lockFingerprint();
	const done = await readStamp(fingerprint);
	const missing = STEPS.filter(({ name }) => !done.includes(name));

	for (const { name, announcement, run } of missing) {
		onProgress(announcement);
		await run();
		done.push(name);
		await writeFile(STAMP, JSON.stringify({ fingerprint, done }));
	}
	return missing.length > 0;
}

/**
 * Writes the manifest of another n8n version. It has a folder of its own: next to the pinned n8n it would resolve the
 * n8n-workflow of that version. Without a lock file it gets the newest dependencies that it allows.
 */
async function describeOther(version: string): Promise<void> {
	const pinned = JSON.parse(await readFile(join(PINNED_HOME, 'package.json'), 'utf8')) as {
		readonly overrides: object;
	};
	const manifest = {
		private: true,
		dependencies: { n8n: version, ...(version.startsWith('1.') ? {} : OTHER_DEPENDENCIES) },
		overrides: { ...pinned.overrides, ...OTHER_OVERRIDES },
	};
	await mkdir(N8N_HOME, { recursive: true });
	await writeFile(join(N8N_HOME, 'package.json'), JSON.stringify(manifest, null, 2));
}

/** A hash of what the packages depend on. */
async function lockFingerprint(): Promise<string> {
	const hash = createHash('sha256');
	const files =
		OTHER_N8N === undefined ? ['package.json', 'package-lock.json'] : ['package.json'];
	for (const file of files) hash.update(await readFile(join(N8N_HOME, file)));
	return hash.update(`${process.platform} ${process.arch}`).digest('hex');
}

async function readStamp(fingerprint: string): Promise<string[]> {
	if (!existsSync(STAMP)) return [];
	const stamp = JSON.parse(await readFile(STAMP, 'utf8')) as {
		fingerprint: string;
		done: string[];
	};
	return stamp.fingerprint === fingerprint ? stamp.done : [];
}

/** `npm ci` would fetch optional packages of other platforms, which some registries do not have. */
async function installPackages(): Promise<void> {
	// An interrupted install leaves incomplete packages, which npm would accept as complete.
	await rm(MODULES, { recursive: true, force: true });
	const npmArgs = ['install', '--legacy-peer-deps', '--ignore-scripts', '--no-save'];
	// Another version has no lock file.
	if (OTHER_N8N === undefined) await installLocked(N8N_HOME, { npmArgs });
	else await npm(N8N_HOME, npmArgs);
}

/** Added to the flags of the compiler: with those of the package alone, it works twice as long. */
const FAST_COMPILATION = { CFLAGS: '-O1', CXXFLAGS: '-O1' } as const;

/**
 * Runs the install script of sqlite3, the only package that needs its own: it downloads the driver, or compiles it.
 *
 * It runs in a copy of the package in the folder for temporary files, because make cannot compile in a path with a space.
 *
 * @throws Error that says what to install if there is no driver afterwards.
 */
async function buildDatabaseDriver(): Promise<void> {
	const folder = await mkdtemp(join(tmpdir(), 'sqlite3-'));
	// Ctrl+C ends this process before `finally`.
	const removeFolder = () => {
		// A compiler that ends at the same time may still write.
		rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
	};
	process.once('exit', removeFolder);
	try {
		for (const path of packagesFor('sqlite3'))
			await cp(join(MODULES, path), join(folder, 'node_modules', path), { recursive: true });
		await writeFile(
			join(folder, 'package.json'),
			JSON.stringify({ dependencies: { sqlite3: '*' } }),
		);
		const env = { ...FAST_COMPILATION, ...(await headersOfThisNode(folder)) };
		await npm(folder, ['rebuild', 'sqlite3', '--no-ignore-scripts'], env);
		const built = join('sqlite3', 'build');
		await rm(join(MODULES, built), { recursive: true, force: true });
		await cp(join(folder, 'node_modules', built), join(MODULES, built), { recursive: true });
	} catch (error) {
		throw new Error(
			"n8n's database driver could not be downloaded, and not compiled either. Compiling needs a C++ compiler, make " +
				'and Python 3; on Debian: apt-get install build-essential python3. Then run this again. ' +
				`The end of the output:\n${(error as Error).message}`,
			{ cause: error },
		);
	} finally {
		process.off('exit', removeFolder);
		removeFolder();
	}
}

/** The folders of a package and of all that it depends on, relative to node_modules. */
function packagesFor(name: string, found = new Set<string>()): ReadonlySet<string> {
	const folder = join(MODULES, name);
	if (found.has(name) || !existsSync(folder)) return found;
	found.add(name);
	// A package may have others in a folder of its own, which depend on those beside it.
	const manifests = globSync('{,**/node_modules/{*,@*/*}/}package.json', { cwd: folder });
	for (const manifest of manifests) {
		const { dependencies = {} } = JSON.parse(readFileSync(join(folder, manifest), 'utf8')) as {
			dependencies?: Readonly<Record<string, string>>;
		};
		for (const each of Object.keys(dependencies)) packagesFor(each, found);
	}
	return found;
}

async function npm(
	folder: string,
	args: readonly string[],
	env: NodeJS.ProcessEnv = {},
): Promise<void> {
	await runNpm(['--prefix', folder, ...args], { cwd: folder, env: { ...process.env, ...env } });
}

/** Points node-gyp to the header files of this Node, if it has them; otherwise node-gyp downloads them. */
async function headersOfThisNode(folder: string): Promise<NodeJS.ProcessEnv> {
	const home = dirname(dirname(process.execPath));
	if (!existsSync(join(home, 'include', 'node', 'node.h'))) return {};
	// Node's own path may have a space, too.
	const link = join(folder, 'node');
	await symlink(home, link);
	return { npm_config_nodedir: link };
}
