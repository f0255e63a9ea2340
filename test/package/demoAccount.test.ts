import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { invitation } from '../../lab/demo/demoReport';
import { ROOT } from '../../lab/paths';

/** The account of n8n in a process of its own, as an `npm run demo` has it. */
function accountOf(env: NodeJS.ProcessEnv): { email: string; password: string } {
	const script = `console.log(JSON.stringify(require('./lab/n8n/owner').OWNER))`;
	const options = { cwd: ROOT, env, encoding: 'utf8' } as const;
	return JSON.parse(
		execFileSync(process.execPath, ['--require', 'tsx/cjs', '--eval', script], options),
	) as { email: string; password: string };
}

/** Without what this process has passed on. */
const fresh = () => {
	const { N8N_LAB_PASSWORD: _, ...env } = process.env;
	return env;
};

test('each demo has a password of its own, which n8n accepts', () => {
	const [one, other] = [accountOf(fresh()), accountOf(fresh())];
	expect(one.password).not.toBe(other.password);
	// n8n: 8 to 64 characters, with a digit and a capital letter. The random part has 72 bits.
	expect(one.password).toMatch(/^(?=.*\d)(?=.*[A-Z])[\w-]{12,64}$/);
	expect(one.password.length).toBeGreaterThanOrEqual(12 + 'Demo1-'.length);
});

test('processes that share an n8n have one password', () => {
	const env = { ...fresh(), N8N_LAB_PASSWORD: 'Demo1-given' };
	expect(accountOf(env).password).toBe('Demo1-given');
});

test('the demo prints its password', () => {
	const page = 'http://127.0.0.1:5678';
	const { OWNER } = jest.requireActual<{ OWNER: { password: string } }>('../../lab/n8n/owner');
	expect(invitation({ n8n: page, startHere: page, agentChat: page })).toMatch(
		new RegExp(`^  password  ${OWNER.password}$`, 'm'),
	);
});

test('the next demo in a folder has the same password, which another account cannot read', () => {
	const parent = mkdtempSync(join(tmpdir(), 'demo-folder-'));
	const folder = join(parent, 'demo');
	const script = `
		const { KeptDemo } = require('./lab/demo/keptDemo');
		const { OWNER } = require('./lab/n8n/owner');
		KeptDemo.open(${JSON.stringify(folder)}, {}).then(async (kept) => {
			console.log(OWNER.password);
			await kept.stop();
		});`;
	const options = { cwd: ROOT, env: fresh(), encoding: 'utf8' } as const;
	const open = () =>
		execFileSync(process.execPath, ['--require', 'tsx/cjs', '--eval', script], options).trim();
	try {
		const first = open();
		expect(first).toMatch(/^Demo1-/);
		expect(open()).toBe(first);
		expect(statSync(join(folder, 'demo.json')).mode & 0o777).toBe(0o600);
		expect(statSync(folder).mode & 0o777).toBe(0o700);
	} finally {
		rmSync(parent, { recursive: true });
	}
});
