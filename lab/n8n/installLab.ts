import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { N8N_HOME, OTHER_N8N, PINNED_HOME } from '../paths';
import { runCommand } from '../services/runCommand';

const MODULES = join(N8N_HOME, 'node_modules');
const STAMP = join(MODULES, '.lab-stamp.json');

/** Fixed versions where the newest version that n8n allows is not available or not compatible. */
const OTHER_OVERRIDES = {
	// n8n 1.x downloads it from a vendor's host. The last version on npm reads spreadsheets, too.
	xlsx: '0.18.5',
	// Later versions need a newer @langchain/core than n8n 1.x has.
	'@langchain/langgraph-checkpoint': '1.0.0',
} as const;

/** n8n 2.20 needs this package but does not declare a version; n8n 1.x does not need it. */
const OTHER_DEPENDENCIES = { '@opentelemetry/core': '2.6.0' } as const;

interface Step {
	readonly name: string;
	readonly announcement: string;
	readonly run: () => Promise<void>;
}

/** The steps of the installation, in order. A finished step is not repeated for the same lock file. */
const STEPS: readonly Step[] = [
	{
		name: 'packages',
		announcement: 'Installing n8n from npm: one to three minutes, 2.4 GB',
		run: installPackages,
	},
	{
		name: 'sqlite3',
		announcement: 'Building its database driver: up to two minutes',
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

/** A hash of what the installation depends on: the lock file, and the Node version that the database driver is built for. */
async function lockFingerprint(): Promise<string> {
	const hash = createHash('sha256');
	const files =
		OTHER_N8N === undefined ? ['package.json', 'package-lock.json'] : ['package.json'];
	for (const file of files) hash.update(await readFile(join(N8N_HOME, file)));
	return hash.update(`${process.version} ${process.platform} ${process.arch}`).digest('hex');
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
	await mkdir(MODULES);
	await npm('install', '--legacy-peer-deps', '--ignore-scripts', '--no-save');
}

/** sqlite3 is the only package that needs its install script. */
async function buildDatabaseDriver(): Promise<void> {
	await npm('rebuild', 'sqlite3', '--no-ignore-scripts');
}

async function npm(...args: string[]): Promise<void> {
	const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
	await runCommand('npm', ['--prefix', N8N_HOME, ...args, ...quiet], {
		cwd: N8N_HOME,
		env: { ...process.env, ...headersOfThisNode() },
	});
}

/** Points node-gyp to the header files of this Node, if it has them; otherwise node-gyp downloads them. */
function headersOfThisNode(): NodeJS.ProcessEnv {
	const home = dirname(dirname(process.execPath));
	return existsSync(join(home, 'include', 'node', 'node.h')) ? { npm_config_nodedir: home } : {};
}
