import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { packEmulator } from '../../scripts/packEmulator';

const LIMIT_MS = 120_000;
const MAX_BYTES = 5 * 2 ** 20;

const packed = mkdtempSync(join(tmpdir(), 'packed-'));
const empty = mkdtempSync(join(tmpdir(), 'empty-'));
afterAll(() => {
	for (const folder of [packed, empty]) rmSync(folder, { recursive: true });
});

test(
	'the packed emulator is small, and works by npx in an empty folder',
	async () => {
		const file = await packEmulator(packed);
		expect(statSync(file).size).toBeLessThan(MAX_BYTES);

		copyFileSync(file, join(empty, 'file.tgz'));
		const cache = { npm_config_cache: join(empty, 'cache'), npm_config_offline: 'true' };
		const args = ['--yes', './file.tgz', '--port', '0', '--script', 'ollama'];
		const child = spawn('npx', args, {
			cwd: empty,
			env: { ...process.env, ...cache },
			detached: true,
		});
		try {
			let said = '';
			const url = await new Promise<string>((resolve, reject) => {
				for (const stream of [child.stdout, child.stderr]) {
					stream.on('data', (data: Buffer) => {
						said += data.toString();
						const [, address] = /Listening on (\S+)\n/.exec(said) ?? [];
						if (address !== undefined) resolve(address);
					});
				}
				child.on('close', () => {
					reject(new Error(said));
				});
			});
			const answer = await fetch(`${url}/v1/chat/completions`, {
				method: 'POST',
				headers: { 'content-type': 'application/json' },
				body: JSON.stringify({ messages: [{ role: 'user', content: 'What is 2 + 2?' }] }),
			});
			expect(await answer.text()).toContain('"content":"2 + 2 = 4"');
			for (const path of ['thumbnails/a.jpg', 'videos/t_480P_16x9_4s_Hi.mp4']) {
				expect((await fetch(`${url}/cdn/${path}`)).status).toBe(200);
			}
		} finally {
			// The whole group: npx starts the emulator as a process of its own.
			process.kill(-child.pid!, 'SIGKILL');
		}
	},
	LIMIT_MS,
);
