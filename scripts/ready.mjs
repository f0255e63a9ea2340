/**
 * Prepares the checkout, then runs a command in it: `node scripts/ready.mjs <command> [arguments]`.
 *
 * It needs only Node 20 and npm. It installs the dependencies unless the installed ones are those of package-lock.json,
 * and puts the Node version that n8n runs on (.nvmrc) and the local binaries first in PATH.
 */
import { spawn } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';

import { fetchProgram, programFolder } from '../lab/services/fetchProgram.js';
import { INSTALLED_LOCK, installLocked } from '../lab/services/installLocked.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const nodeVersion = readFileSync(join(root, '.nvmrc'), 'utf8').trim();

function say(text) {
	process.stderr.write(`${text}\n`);
}

const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };

/** Interval of progress lines in milliseconds. A log file gets fewer than a terminal. */
const PROGRESS_MS = process.stderr.isTTY ? 1_000 : 15_000;

/**
 * Shows that a piece of work lives: the elapsed time, and what was fetched last or cannot be reached. Ends this process if
 * it fails.
 *
 * @param work Gets a function that takes the news.
 * @param folder What may be left incomplete: the next try would fail there.
 */
async function watch(title, work, folder) {
	say(`${title} …`);
	const startMs = Date.now();
	let news = '';
	const timer = setInterval(() => {
		const seconds = `${Math.round((Date.now() - startMs) / 1000)} s`;
		const line = [title, seconds, news].filter(Boolean).join(' · ');
		process.stderr.write(process.stderr.isTTY ? `\r${line.slice(0, 79)}\x1B[K` : `${line}\n`);
	}, PROGRESS_MS);
	const stop = () => process.exit(143);
	process.once('SIGTERM', stop);
	try {
		return await work((text) => {
			news = text;
		});
	} catch ({ message }) {
		say(`\n${message}\nDelete ${folder}, then run this again`);
		process.exit(1);
	} finally {
		clearInterval(timer);
		process.off('SIGTERM', stop);
		if (process.stderr.isTTY) process.stderr.write('\r\x1B[K');
	}
}

/** Runs the command and forwards signals to it, so that it can clean up. */
function run(command, args, env) {
	const child = spawn(command, args, { ...options, env });
	// A terminal sends Ctrl+C to both processes; this one must wait for the command.
	process.on('SIGINT', () => undefined);
	process.on('SIGTERM', () => child.kill('SIGTERM'));
	child.on('error', (error) => {
		say(`${command}: ${error.message}`);
		process.exitCode = 1;
	});
	child.on('exit', (status, signal) => {
		process.exitCode = status ?? (signal === 'SIGINT' ? 130 : 1);
	});
}

async function installDependencies() {
	const lock = join(root, 'package-lock.json');
	const modules = join(root, 'node_modules');
	// npm and Bun write these last, so an installation that was interrupted is not taken for a complete one.
	const lists = ['.package-lock.json', INSTALLED_LOCK].map((name) => join(modules, name));
	const installed = () => lists.find((list) => existsSync(list));
	if (isInstalled(lock, installed())) return;
	if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
		say(
			'node_modules is a link to a folder that does not have what package-lock.json names. Remove the link, or install there',
		);
		process.exit(1);
	}

	// `npm ci` asks for optional packages of all platforms, which some registries do not have.
	// Everything is needed to develop, whatever NODE_ENV and npm's settings leave out.
	const all = ['--include=dev', '--include=optional', '--include=peer'];
	const npmArgs = ['install', ...all, '--no-save'];
	await watch(
		'Installing the dependencies, up to a minute',
		(onProgress) => installLocked(root, { npmArgs, onProgress }),
		'node_modules',
	);
	if (installed() === undefined) {
		say(
			'npm has not installed the dependencies, and names no reason. Delete node_modules, then run this again',
		);
		process.exit(1);
	}
	checkInstalled(lock, installed());
}

const packagesOf = (file) => JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
const isSame = (one, other) =>
	one?.version === other?.version && one?.integrity === other?.integrity;

/** Whether the installed packages are those of the lock file; optional ones may be of another platform. */
function isInstalled(lock, installed) {
	if (installed === undefined) return false;
	const [locked, found] = [packagesOf(lock), packagesOf(installed)];
	const paths = Object.keys({ ...locked, ...found }).filter((path) => path !== '');
	return paths.every(
		(path) =>
			isSame(locked[path], found[path]) || (!found[path] && locked[path].optional === true),
	);
}

/** Stops if npm has installed what the lock file does not have; no script of a package has run so far (.npmrc). */
function checkInstalled(lock, installed) {
	const locked = packagesOf(lock);
	const others = Object.entries(packagesOf(installed)).filter(
		([path, entry]) => !isSame(locked[path], entry),
	);
	if (others.length === 0) return;
	const names = others.map(
		([path, { version }]) => `${path.split('node_modules/').pop()} ${version}`,
	);
	say(
		`package-lock.json does not have ${names.join(', ')}. Run npm install, and commit its changes`,
	);
	// A developer's machine may be of a platform for which the lock file has no optional packages.
	if (!process.env.CI) return;
	rmSync(installed);
	process.exit(1);
}

/** The folder of the `node` binary: that of this process if its major version matches, else a private copy. */
async function nodeFolder() {
	const [major] = nodeVersion.split('.');
	if (process.versions.node.split('.')[0] === major) return dirname(process.execPath);

	const name = `Node ${nodeVersion}, which n8n runs on`;
	const folder = programFolder('node');
	if (folder === undefined) {
		say(
			`Install ${name}: there is no checked download for ${process.platform} ${process.arch}`,
		);
		process.exit(1);
	}
	if (!existsSync(folder))
		await watch(
			`Downloading ${name}`,
			(onProgress) => fetchProgram('node', onProgress),
			dirname(dirname(folder)),
		);
	return folder;
}

const [command, ...args] = process.argv.slice(2);
await installDependencies();
const path = [await nodeFolder(), join(root, 'node_modules', '.bin'), process.env.PATH].join(
	delimiter,
);
// With `production`, libraries behave as if nobody developed or tested with them.
const environment = { ...process.env, PATH: path };
delete environment.NODE_ENV;
run(command, args, environment);
