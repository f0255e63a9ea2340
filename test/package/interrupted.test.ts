/** What the lab leaves when it is interrupted. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';

const TSX = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
/** Ends the script, as Ctrl+C does, as soon as a temporary folder whose name begins so has a file. */
const END_AT = `
	import { existsSync, readdirSync } from 'node:fs';
	import { tmpdir } from 'node:os';
	import { join } from 'node:path';
	function endAt(prefix, file) {
		const folder = readdirSync(tmpdir()).find((name) => name.startsWith(prefix));
		if (folder === undefined || !existsSync(join(tmpdir(), folder, file))) return void setTimeout(endAt, 10, prefix, file);
		console.log(folder);
		process.exit(130);
	}
`;
/** Ends while the package is copied into n8n's folder: the lock keeps the copy from going on. */
const STARTING = `${END_AT}
	import { withBuildLock } from '${ROOT}/lab/services/buildLock';
	import { startN8n } from '${ROOT}/lab/n8n/startN8n';
	void withBuildLock(async () => {
		void startN8n();
		endAt('n8n-lab-', '.n8n');
	});
`;

/** Ends while npm compiles the database driver. */
const INSTALLING = `${END_AT}
	import { installLab } from '${ROOT}/lab/n8n/installLab';
	void installLab();
	endAt('sqlite3-', 'compiling');
`;
/** In place of npm: installs nothing, and compiles without end. */
const NPM = `#!/bin/sh
if [ "$3" = rebuild ]; then touch compiling; exec sleep 60; fi
`;

let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'interrupted-'));
});
afterEach(() => {
	rmSync(folder, { recursive: true, force: true });
});

/**
 * Runs a script that ends itself with 130, with the test's folder for temporary files.
 *
 * @returns What it prints, and which of its temporary folders are left.
 */
async function interrupt(script: string, prefix: string, env: NodeJS.ProcessEnv = {}) {
	const child = spawn(process.execPath, [TSX, '--eval', script], {
		cwd: ROOT,
		env: { ...process.env, TMPDIR: folder, ...env },
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	let said = '';
	child.stdout.on('data', (data: Buffer) => (said += data.toString()));
	const [code] = (await once(child, 'close')) as [number];
	return { said, code, left: readdirSync(folder).filter((name) => name.startsWith(prefix)) };
}

test('a start of n8n that is interrupted before n8n runs leaves no folder', async () => {
	const { said, code, left } = await interrupt(STARTING, 'n8n-lab-');
	expect(said).toMatch(/^n8n-lab-/);
	expect({ code, left }).toStrictEqual({ code: 130, left: [] });
}, 60_000);

test('an installation that is interrupted while the database driver is compiled leaves no folder', async () => {
	const bin = join(folder, 'bin');
	mkdirSync(bin);
	writeFileSync(join(bin, 'npm'), NPM, { mode: 0o755 });
	const version = `0.0.${process.pid}`;
	try {
		const { said, code, left } = await interrupt(INSTALLING, 'sqlite3-', {
			LAB_N8N_VERSION: version,
			PATH: `${bin}:${process.env['PATH']}`,
		});
		expect(said).toMatch(/^sqlite3-/);
		expect({ code, left }).toStrictEqual({ code: 130, left: [] });
	} finally {
		rmSync(join(ROOT, '.cache', `n8n-${version}`), { recursive: true, force: true });
	}
}, 60_000);

/** Is interrupted in the middle of a step, and needs a moment to stop. */
const IN_A_STEP = `
	import { setTimeout } from 'node:timers/promises';
	import { Running } from '${ROOT}/lab/services/Running';
	import { step, stopOnSignals } from '${ROOT}/lab/services/step';
	const running = new Running();
	running.keep({ stop: () => setTimeout(1_500) });
	stopOnSignals(running, () => 130);
	void step('Work', async (showProgress) => {
		showProgress('busy');
		process.kill(process.pid, 'SIGINT');
		await setTimeout(60_000);
	});
`;

test('Ctrl+C in the middle of a step shows in a terminal that the program stops', () => {
	const command = [process.execPath, TSX, '--eval', IN_A_STEP].map(
		(part) => `'${part.replaceAll("'", String.raw`'\''`)}'`,
	);
	const line = `stty rows 40 columns 120; exec ${command.join(' ')}`;
	const { stdout, status } = spawnSync(
		'script',
		['--quiet', '--return', '--flush', '--command', line, '/dev/null'],
		{
			cwd: ROOT,
			encoding: 'utf8',
			input: '',
		},
	);
	expect(stdout).toMatch(/› Stopping … · \d s/);
	expect(status).toBe(130);
}, 60_000);
