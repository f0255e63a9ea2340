/** What the lab leaves when it is interrupted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';

const TSX = join(ROOT, 'node_modules', 'tsx', 'dist', 'cli.mjs');
/** Ends, as after Ctrl+C, while the package is copied into n8n's folder: the lock keeps the copy from going on. */
const SCRIPT = `
	import { existsSync, readdirSync } from 'node:fs';
	import { tmpdir } from 'node:os';
	import { join } from 'node:path';
	import { withBuildLock } from '${ROOT}/lab/services/buildLock';
	import { startN8n } from '${ROOT}/lab/n8n/startN8n';
	void withBuildLock(async () => {
		void startN8n();
		const look = () => {
			const folder = readdirSync(tmpdir()).find((name) => name.startsWith('n8n-lab-'));
			if (folder === undefined || !existsSync(join(tmpdir(), folder, '.n8n'))) return void setTimeout(look, 10);
			console.log(folder);
			process.exit(130);
		};
		look();
	});
`;

let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), 'interrupted-'));
});
afterEach(() => {
	rmSync(folder, { recursive: true, force: true });
});

test('a start of n8n that is interrupted before n8n runs leaves no folder', async () => {
	const child = spawn(process.execPath, [TSX, '--eval', SCRIPT], {
		cwd: ROOT,
		env: { ...process.env, TMPDIR: folder },
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	let said = '';
	child.stdout.on('data', (data: Buffer) => (said += data.toString()));
	const [code] = (await once(child, 'close')) as [number];
	expect(said).toMatch(/^n8n-lab-/);
	expect(code).toBe(130);
	expect(readdirSync(folder).filter((name) => name.startsWith('n8n-lab-'))).toStrictEqual([]);
}, 60_000);
