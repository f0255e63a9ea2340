import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KeptDemo } from '../../lab/demo/keptDemo';
import { listExamples, startHere } from '../../lab/demo/startHere';
import { exampleFiles } from '../../lab/n8n/readExample';
import { ROOT } from '../../lab/paths';

let folder: string;
beforeEach(async () => {
	folder = join(await mkdtemp(join(tmpdir(), 'demo-folder-')), 'demo');
});
afterEach(async () => {
	await rm(join(folder, '..'), { recursive: true, force: true });
});

/** The password of a demo in a process of its own. */
async function passwordOf(more: NodeJS.ProcessEnv = {}): Promise<string> {
	const { N8N_LAB_PASSWORD: _, ...env } = process.env;
	const script = `
		const { KeptDemo } = require('./lab/demo/keptDemo');
		const { OWNER } = require('./lab/n8n/owner');
		KeptDemo.open(${JSON.stringify(folder)}, {}).then(async (kept) => {
			console.log(OWNER.password);
			await kept.stop();
		});`;
	const { stdout } = await promisify(execFile)(
		process.execPath,
		['--require', 'tsx/cjs', '--eval', script],
		{ cwd: ROOT, env: { ...env, ...more } },
	);
	return stdout.trim();
}

describe('the folder of the demo', () => {
	test('the next demo has the same password, another account cannot read it', async () => {
		const first = await passwordOf();
		expect(first).toMatch(/^Demo1-/);
		expect(await passwordOf()).toBe(first);
		expect((await stat(join(folder, 'demo.json'))).mode & 0o777).toBe(0o600);
		expect((await stat(folder)).mode & 0o777).toBe(0o700);
	});

	test('a demo that is running keeps others out, until it stops', async () => {
		const demo = spawn('sleep', ['60'], { argv0: 'demo.ts' });
		await KeptDemo.open(folder, {});
		await writeFile(join(folder, 'running.pid'), String(demo.pid));
		expect(await KeptDemo.open(folder, { fresh: true })).toBeUndefined();
		demo.kill();
		await once(demo, 'exit');
		const kept = await KeptDemo.open(folder, {});
		expect(kept?.isContinued).toBe(true);
		await kept!.stop();
		expect(await readdir(folder)).toStrictEqual(['demo.json']);
	});

	test('fresh deletes what is in it', async () => {
		const old = await KeptDemo.open(folder, {});
		await old!.remember({ workflows: { 'a.json': '1' } });
		await writeFile(join(folder, 'something'), '');
		const kept = await KeptDemo.open(folder, { fresh: true });
		expect(kept!.isContinued).toBe(false);
		expect(kept!.memory.workflows).toStrictEqual({});
		expect((await readdir(folder)).sort()).toStrictEqual(['demo.json', 'running.pid']);
	});
});

test('Start Here links to every example once', async () => {
	const examples = await listExamples();
	const files = await exampleFiles();
	expect(examples.map(({ file }) => file).sort()).toStrictEqual(files);
	const ids = Object.fromEntries(files.map((file, index) => [file, `id${index}`]));
	const { nodes } = startHere(examples, ids);
	const notes = nodes.filter(({ type }) => type.endsWith('stickyNote'));
	const links = notes.flatMap(({ parameters }) => [
		...String(parameters['content']).matchAll(/\(\/workflow\/(\w+)\)/g),
	]);
	expect(links.map(([, id]) => id).sort()).toStrictEqual(Object.values(ids).sort());
});
