import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { chatTable, executionTable, videoTable } from '../../lab/demo/demoReport';
import { KeptDemo } from '../../lab/demo/keptDemo';
import { describeMail } from '../../lab/demo/showMails';
import { listExamples, startHere } from '../../lab/demo/startHere';
import type { Execution } from '../../lab/n8n/execution';
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

	test('a password in the environment variable comes first', async () => {
		await passwordOf();
		expect(await passwordOf({ N8N_LAB_PASSWORD: 'Demo1-given' })).toBe('Demo1-given');
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

test('Start Here links to every example once, and its notes are beside each other', async () => {
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

	const boxes = nodes.map(({ name, position: [left, top], parameters, type }) => {
		const isNote = type.endsWith('stickyNote');
		const [width, height] = isNote ? [parameters['width'], parameters['height']] : [96, 150];
		return { name, left, top, right: left + Number(width), bottom: top + Number(height) };
	});
	const overlaps = boxes.flatMap((a, index) =>
		boxes
			.slice(index + 1)
			.filter((b) => a.left < b.right && b.left < a.right)
			.filter((b) => a.top < b.bottom && b.top < a.bottom)
			.map((b) => [a.name, b.name]),
	);
	expect(overlaps).toStrictEqual([]);
});

test('the tables of the demo fit a terminal of 80 columns', () => {
	const long = 'A very long text that nobody has expected to be in a table '.repeat(3);
	const node = [{ startTime: 0, executionTime: 123_456, data: { main: [[{ json: {} }]] } }];
	const execution = {
		id: '123456',
		status: 'success',
		data: { resultData: { runData: { [long]: node } } },
	} as unknown as Execution;
	const chunk = { type: 'item', content: 'Hi', arrivedMs: 12_345 } as const;
	const usage = { prompt_tokens: 12_345, completion_tokens: 12_345, total_tokens: 24_690 };
	const tables = [
		executionTable(execution),
		videoTable([
			{
				...{ topic: long, model: 'video-m1', codec: 'h264', bytes: 123_456, seconds: 15 },
				...{ width: 1920, height: 1080, file: `${long.replaceAll(' ', '-')}.mp4` },
			},
		]),
		chatTable({ question: long, output: long, usage, chunks: [chunk, chunk] }),
	];
	for (const line of tables.join('\n').split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('a mail is shown with its subject and what its buttons open', () => {
	const raw = [
		'Subject: Delete clip-2?\r',
		'\r',
		'<a href=3D"http://127.0.0.1:5678/webhook-waiting/7/x?approved=3Dtrue" style=3D"a=\r\nb">Approve</a>',
		'<a href=3D"https://n8n.io/?utm=3D1">n8n</a>',
	].join('\n');
	expect(describeMail(raw)).toBe(
		'Mail: Delete clip-2?\n  Approve: http://127.0.0.1:5678/webhook-waiting/7/x?approved=true',
	);
});
