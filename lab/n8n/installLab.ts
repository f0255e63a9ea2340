import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { N8N_HOME, OTHER_N8N, PINNED_HOME } from '../paths';
import { runCommand } from '../services/runCommand';

const MODULES = join(N8N_HOME, 'node_modules');
const STAMP = join(MODULES, '.lab-stamp.json');

/** Where the newest that an n8n allows cannot be had, or does not fit. */
const OTHER_OVERRIDES = {
	// n8n 1.x takes it from a host of its own. npm's last version reads spreadsheets, too.
	xlsx: '0.18.5',
	// Later ones need a newer @langchain/core than n8n 1.x has.
	'@langchain/langgraph-checkpoint': '1.0.0',
} as const;

/** n8n 2.20 needs it and leaves its version to chance. n8n 1.x does not. */
const OTHER_DEPENDENCIES = { '@opentelemetry/core': '2.6.0' } as const;

interface Step {
	readonly name: string;
	readonly announcement: string;
	readonly run: () => Promise<void>;
}

/** What it takes to have n8n, in order. A step that is done is not done again for the same lock. */
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
 * Installs the n8n that lab/n8n/pinned/package-lock.json pins, or the one that LAB_N8N_VERSION names, unless it is there
 * already. Goes on after the last finished step when it was interrupted.
 *
 * @param onProgress Told what begins, one line at a time.
 * @returns Whether anything had to be done.
 * @throws Error with the end of npm's output when a step fails.
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
 * Another n8n stands alone, as what is beside the pinned one would bring that one's n8n-workflow. It has no lock: its
 * dependencies are the newest that it allows.
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

/** The lock decides what is installed, the Node version what the driver is built for. */
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

/** `npm ci` would ask for optional packages of other platforms, which not every registry keeps. */
async function installPackages(): Promise<void> {
	// An interrupted install leaves half-written packages that npm takes for whole ones.
	await rm(MODULES, { recursive: true, force: true });
	await mkdir(MODULES);
	await npm('install', '--legacy-peer-deps', '--ignore-scripts', '--no-save');
}

/** The one package that needs its install script. */
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

/** Where this Node's own header files are: without them the build downloads them from the internet. */
function headersOfThisNode(): NodeJS.ProcessEnv {
	const home = dirname(dirname(process.execPath));
	return existsSync(join(home, 'include', 'node', 'node.h')) ? { npm_config_nodedir: home } : {};
}
