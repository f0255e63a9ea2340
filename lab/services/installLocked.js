/** Installs packages, with Node's own modules only: for `ready.mjs` nothing is installed yet. */
const { execFileSync, spawn } = require('node:child_process');
const { once } = require('node:events');
const { copyFileSync, rmSync } = require('node:fs');
const { devNull } = require('node:os');
const { join } = require('node:path');

const { fetchProgram, programFolder } = require('./fetchProgram.js');
const { runNpm } = require('./runNpm.js');

const LOCK = 'package-lock.json';
/** In node_modules, which npm then has not written: the lock file that its packages are of. */
const INSTALLED_LOCK = '.installed-lock.json';
/** Bun is given up after this time: what hangs with it may not with npm. */
const BUN_LIMIT_MS = 10 * 60_000;

/**
 * Installs exactly the packages of a package-lock.json, without their scripts. Bun does so in a tenth of the time of npm,
 * and checks the same hashes. Where it cannot, for example behind a proxy that only npm knows, npm does.
 *
 * @param folder Its node_modules is replaced.
 * @param npmArgs What npm is run with.
 * @param onProgress Gets what is done, or fetched.
 * @throws Error of npm if that fails, too.
 */
async function installLocked(folder, { npmArgs, onProgress = () => undefined }) {
	if (programFolder('bun') === undefined || !(await installWithBun(folder, onProgress)))
		await runNpm(npmArgs, { cwd: folder, onProgress });
}

/** Returns whether Bun could. If not, node_modules is as it was, or gone: npm would accept incomplete packages as complete. */
async function installWithBun(folder, onProgress) {
	const modules = join(folder, 'node_modules');
	const clear = () => rmSync(modules, { recursive: true, force: true });
	try {
		await fetchProgram('bun', onProgress);
	} catch (error) {
		// npm would try for as long, in vain.
		if (error.isUnreachable) throw error;
		// A registry may not have it.
		return false;
	}
	try {
		clear();
		await runBun(folder);
		copyFileSync(join(folder, LOCK), join(modules, INSTALLED_LOCK));
		return true;
	} catch ({ message }) {
		onProgress(`with npm, as Bun failed: ${message}`);
		clear();
		return false;
	}
}

/** @throws Error with Bun's output if it fails, for example because the lock file does not have all that is asked for. */
async function runBun(folder) {
	const shell = process.platform === 'win32';
	const registry = execFileSync('npm', ['config', 'get', 'registry'], { cwd: folder, shell });
	const args = ['install', '--frozen-lockfile', '--ignore-scripts', '--linker=hoisted'];
	const child = spawn(join(programFolder('bun'), 'bun'), [...args, '--no-progress'], {
		cwd: folder,
		env: {
			...process.env,
			BUN_CONFIG_REGISTRY: registry.toString().trim(),
			// What a person's settings leave out, such as `omit=dev`, is needed here. Without a login that they have, npm installs.
			NPM_CONFIG_USERCONFIG: devNull,
			// Beside the packages: Bun links files of its cache into node_modules.
			BUN_INSTALL_CACHE_DIR: join(__dirname, '..', '..', '.cache', 'bun-packages'),
		},
		stdio: ['ignore', 'pipe', 'pipe'],
		timeout: BUN_LIMIT_MS,
	});
	let said = '';
	for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data));
	// Ctrl+C reaches both processes, but if only this one ends, Bun must end, too.
	const kill = () => child.kill();
	process.once('exit', kill);
	const [status] = await once(child, 'close');
	process.off('exit', kill);
	if (status !== 0) throw new Error(/^error: .*$/m.exec(said)?.[0] ?? `it ended with ${status}`);
}

module.exports = { INSTALLED_LOCK, installLocked };
