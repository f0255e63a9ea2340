/** Installs the packages of n8n, with Node's own modules only: `.ci/run` does so while those of this project are installed. */
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const { runNpm } = require('../services/runNpm.js');

/** The steps of an installation that are done. */
const stampOf = (home) => join(home, 'node_modules', '.lab-installed.json');

/** A hash of what the packages depend on. */
function fingerprintOf(home) {
	const hash = createHash('sha256');
	const files = ['package.json', 'package-lock.json'].map((name) => join(home, name));
	for (const file of files.filter(existsSync)) hash.update(readFileSync(file));
	return hash.update(`${process.platform} ${process.arch}`).digest('hex');
}

function stepsDone(home) {
	if (!existsSync(stampOf(home))) return [];
	const stamp = JSON.parse(readFileSync(stampOf(home), 'utf8'));
	return stamp.fingerprint === fingerprintOf(home) ? stamp.done : [];
}

function keepSteps(home, done) {
	writeFileSync(stampOf(home), JSON.stringify({ fingerprint: fingerprintOf(home), done }));
}

/** `npm ci` would fetch optional packages of other platforms, which some registries do not have. */
async function installPackages(home) {
	const modules = join(home, 'node_modules');
	// An interrupted install leaves incomplete packages, which npm would accept as complete.
	rmSync(modules, { recursive: true, force: true });
	mkdirSync(modules);
	const args = ['install', '--legacy-peer-deps', '--ignore-scripts', '--no-save'];
	await runNpm(['--prefix', home, ...args], { cwd: home });
	keepSteps(home, ['packages']);
}

module.exports = { installPackages, keepSteps, stepsDone };

const pinned = join(__dirname, 'pinned');
if (require.main === module && stepsDone(pinned).length === 0)
	installPackages(pinned).catch(({ message }) => {
		process.stderr.write(`${message}\n`);
		process.exitCode = 1;
	});
