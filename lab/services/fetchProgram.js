/** Fetches programs that npm has as packages, with Node's own modules only: for `ready.mjs` nothing is installed yet. */
const { existsSync, mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const PROGRAMS = require('./programs.json');
const { runNpm } = require('./runNpm.js');

const CACHE = join(__dirname, '..', '..', '.cache');

/** Where the package of a program lies, or undefined if programs.json has none for this platform. */
function packageOf(program) {
	const { version, packages } = PROGRAMS[program];
	const found = packages[`${process.platform}-${process.arch}`];
	if (found === undefined) return undefined;
	const home = join(CACHE, `${program}-${version}`);
	return { ...found, version, home, folder: join(home, 'node_modules', found.name, 'bin') };
}

/** The folder with a program of programs.json, once it is fetched; undefined if there is none for this platform. */
function programFolder(program) {
	return packageOf(program)?.folder;
}

/**
 * Fetches a program, unless it is there. Its hash in programs.json is its lock, so that npm rejects any other content.
 *
 * @param onProgress Gets what npm does, see runNpm.
 * @throws Error of npm if it cannot be fetched.
 */
async function fetchProgram(program, onProgress) {
	const { name, version, integrity, home, folder } = packageOf(program);
	if (existsSync(folder)) return;
	const manifest = { name: 'program', version: '1.0.0', dependencies: { [name]: version } };
	const locked = { '': manifest, [`node_modules/${name}`]: { version, integrity } };
	const lock = { ...manifest, lockfileVersion: 3, requires: true, packages: locked };
	mkdirSync(home, { recursive: true });
	writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
	writeFileSync(join(home, 'package-lock.json'), JSON.stringify(lock));
	await runNpm(['ci', '--ignore-scripts', '--prefix', home], { cwd: home, onProgress });
}

module.exports = { fetchProgram, programFolder };
