/** What the commands of the checkout do with what they cannot use, and beside each other. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { freePort } from '../../lab/services/freePort';

const TSX = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
const LIMIT_MS = 60_000;

/** Runs a script of the lab to its end. */
function runScript(...args: readonly string[]) {
	const { status, stdout, stderr } = spawnSync(process.execPath, [TSX, ...args], {
		cwd: ROOT,
		encoding: 'utf8',
	});
	return { status, said: stdout + stderr };
}

test(
	'the demo does not move to another port than the one that was asked for',
	async () => {
		const server = createServer().listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as AddressInfo;
		try {
			const { status, said } = runScript(
				'lab/demo/demo.ts',
				'--once',
				'--port',
				String(port),
			);
			expect(said).toContain(`Port ${port} is already in use. Choose another port`);
			// Before it prepares anything.
			expect(said).not.toContain('Prepare n8n');
			expect(status).toBe(1);
			await expect(freePort(port)).rejects.toThrow('already in use');
		} finally {
			server.close();
		}
	},
	LIMIT_MS,
);

test('two builds of a checkout run one after the other', async () => {
	const script = `
		const { withBuildLock } = require('./lab/services/buildLock');
		void withBuildLock(async () => {
			console.log('begin');
			await new Promise((resolve) => setTimeout(resolve, 200));
			console.log('end');
		});
	`;
	const said: string[] = [];
	const builds = Array.from({ length: 3 }, () => {
		const build = spawn(process.execPath, ['-e', script], { cwd: ROOT });
		build.stdout.on('data', (data: Buffer) => said.push(...data.toString().trim().split('\n')));
		return build;
	});
	await Promise.all(builds.map((build) => once(build, 'close')));
	expect(said).toStrictEqual(Array.from({ length: 3 }, () => ['begin', 'end']).flat());
});
