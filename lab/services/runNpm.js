/** Runs npm, with Node's own modules only: for `ready.mjs` nothing is installed yet. */
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');

/** A package file that npm has fetched, in its log. */
const FETCHED = /http fetch GET 200 \S+\/-\/(\S+)\.tgz/;
/** A request of npm that failed, in its log. npm tries each address three times. */
const FAILED = /http fetch GET (\S+) attempt (\d+) failed with (\w+)/;
const LAST_ATTEMPT = 3;
/** Codes that no further attempt changes: a certificate that Node does not know. */
const CERTIFICATE = /CERT|SELF_SIGNED|ISSUER/;
/** A line of npm's log that is no error. */
const ROUTINE = /^npm (?:http|warn|notice|info)\b/i;
const KEPT_LINES = 30;

const cannotReach = (address, code) =>
	`npm cannot reach ${address} (${code}). Behind a proxy, set HTTPS_PROXY, and NODE_EXTRA_CA_CERTS to the file with its certificate`;

/**
 * Runs npm. Ends it once an address certainly cannot be reached: with hundreds of packages npm itself would try for minutes.
 *
 * @param onProgress Gets the package that was fetched last, or the host that npm asks once more.
 * @throws Error that says what could not be reached (`isUnreachable`), or has the end of npm's errors.
 */
async function runNpm(args, { cwd, env = process.env, onProgress = () => undefined }) {
	const all = [...args, '--no-audit', '--no-fund', '--loglevel=http'];
	const shell = process.platform === 'win32';
	const child = spawn('npm', all, { cwd, env, shell, stdio: ['ignore', 'pipe', 'pipe'] });
	let unreachable;
	const errors = [];
	const keep = (line) => {
		errors.push(line);
		if (errors.length > KEPT_LINES) errors.shift();
	};
	const read = (line) => {
		const [, name] = FETCHED.exec(line) ?? [];
		const [, address, attempt, code] = FAILED.exec(line) ?? [];
		if (name !== undefined) onProgress(name);
		else if (address !== undefined) {
			if (Number(attempt) < LAST_ATTEMPT && !CERTIFICATE.test(code)) {
				onProgress(`${new URL(address).host}, once more after ${code}`);
				return;
			}
			unreachable ??= cannotReach(address, code);
			child.kill();
		} else if (!ROUTINE.test(line)) keep(line);
	};
	createInterface(child.stdout).on('line', keep);
	createInterface(child.stderr).on('line', read);
	// Ctrl+C reaches both processes, but if only this one ends, npm must end, too.
	const kill = () => child.kill();
	process.once('exit', kill);
	const status = await new Promise((resolve) => {
		child.on('error', ({ message }) => {
			keep(message);
			resolve(1);
		});
		child.on('close', resolve);
	});
	process.off('exit', kill);
	if (unreachable !== undefined)
		throw Object.assign(new Error(unreachable), { isUnreachable: true });
	if (status !== 0) throw new Error(`npm ${args[0]} failed:\n${errors.join('\n')}`);
}

module.exports = { runNpm };
