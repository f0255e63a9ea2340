/**
 * Prepares the checkout, then runs a command in it: `node scripts/ready.mjs <command> [arguments]`.
 *
 * It needs only Node 20 and npm. It installs the dependencies when package-lock.json is newer than the installed ones,
 * and puts the Node version that n8n runs on (.nvmrc) and the local binaries first in PATH.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const nodeVersion = readFileSync(join(root, '.nvmrc'), 'utf8').trim();

function say(text) {
	process.stderr.write(`${text}\n`);
}

const options = { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' };

function must(command, args) {
	const { status, error } = spawnSync(command, args, options);
	if (error) say(`${command}: ${error.message}`);
	if (status !== 0) process.exit(status ?? 1);
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

function installDependencies() {
	const lock = join(root, 'package-lock.json');
	const installed = join(root, 'node_modules', '.package-lock.json');
	if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;

	say('Installing the dependencies, about a minute …');
	// Installs what the lock file says; `npm ci` would delete and download everything at each change.
	must('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']);
	utimesSync(installed, new Date(), new Date());
}

/** The folder of the `node` binary: that of this process if its major version matches, else a private copy. */
function nodeFolder() {
	const [major] = nodeVersion.split('.');
	if (process.versions.node.split('.')[0] === major) return dirname(process.execPath);

	const home = join(root, '.cache', `node-${nodeVersion}`);
	const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
	const bin = join(home, 'node_modules', name, 'bin');
	if (!existsSync(bin)) {
		say(`Downloading Node ${nodeVersion}, which n8n runs on …`);
		mkdirSync(home, { recursive: true });
		must('npm', [
			'install',
			'--no-save',
			'--no-audit',
			'--no-fund',
			'--loglevel=error',
			'--prefix',
			home,
			`${name}@${nodeVersion}`,
		]);
	}
	return bin;
}

const [command, ...args] = process.argv.slice(2);
installDependencies();
const path = [nodeFolder(), join(root, 'node_modules', '.bin'), process.env.PATH].join(delimiter);
run(command, args, { ...process.env, PATH: path });
