// @seconds 150
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { openEditor } from '../../lab/browser/openEditor';
import { startBrowser } from '../../lab/browser/startBrowser';
import { listExamples, START_HERE } from '../../lab/demo/startHere';
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { N8nClient, type WorkflowRef } from '../../lab/n8n/N8nClient';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import { ROOT } from '../../lab/paths';
import { node, workflow } from '../e2e/support/buildWorkflow';
import { createCredential, showProgress } from '../e2e/support/session';

const LIMIT_MS = 5 * 60_000;
const READY = 'Press Ctrl+C';

let folder: string;
const started: ChildProcess[] = [];

beforeAll(async () => {
	folder = await mkdtemp(join(tmpdir(), 'kept-demo-'));
});
afterAll(async () => {
	for (const child of started) await stop(child);
	await rm(folder, { recursive: true, force: true });
}, LIMIT_MS);

interface Demo {
	readonly child: ChildProcess;
	/** What it printed until it was ready. */
	readonly text: string;
	readonly url: string;
	readonly password: string;
	/** Signed in with the printed password. */
	readonly client: N8nClient;
}

/** Starts the demo as its command does, and waits until it invites to its editor. */
async function start(...options: readonly string[]): Promise<Demo> {
	// Without the password of this process: a terminal does not have it.
	const { N8N_LAB_PASSWORD: _, ...env } = process.env;
	const script = ['--import', 'tsx', join('lab', 'demo', 'demo.ts'), '--folder', folder];
	const child = spawn(process.execPath, [...script, ...options], {
		cwd: ROOT,
		env,
		stdio: ['ignore', 'pipe', 'inherit'],
	});
	started.push(child);
	let text = '';
	await new Promise<void>((resolve) => {
		child.once('exit', resolve);
		child.stdout.on('data', (chunk: Buffer) => {
			text += chunk.toString();
			if (text.includes(READY)) resolve();
		});
	});
	const found = (pattern: RegExp) => pattern.exec(text)?.[1] ?? `nothing in: ${text}`;
	const [url, password] = [found(/running at (\S+)/), found(/password {2}(\S+)/)];
	process.env['N8N_LAB_PASSWORD'] = password;
	return { child, text, url, password, client: await N8nClient.signIn(url) };
}

/** Presses Ctrl+C. */
async function stop(child: ChildProcess): Promise<void> {
	if (child.exitCode !== null || child.signalCode !== null) return;
	child.kill('SIGINT');
	await once(child, 'exit');
}

const idsByName = async (client: N8nClient) =>
	new Map((await client.workflows()).map(({ name, id }) => [name, id]));

/** The red values of a video's picture at a time, as the browser shows it; runs in the page of the video. */
const pictureAt = (page: Page, seconds: number) =>
	page.evaluate<readonly number[]>(`(async () => {
		const video = document.querySelector('video');
		const sought = new Promise((resolve) => video.addEventListener('seeked', resolve));
		video.currentTime = ${seconds};
		await sought;
		const canvas = document.createElement('canvas');
		[canvas.width, canvas.height] = [64, 36];
		const context = canvas.getContext('2d');
		context.drawImage(video, 0, 0, 64, 36);
		const { data } = context.getImageData(0, 0, 64, 36);
		return [...data].filter((_value, index) => index % 4 === 0);
	})()`);

let mine: WorkflowRef;
let first: Demo;

it(
	'Start Here has a first video, and its links lead to all examples',
	async () => {
		first = await start();
		expect(first.text).not.toMatch(/Continuing|over:/);
		const examples = await listExamples();
		const ids = await idsByName(first.client);
		const startHere = ids.get(START_HERE)!;
		expect(first.text).toContain(`${first.url}/workflow/${startHere}`);

		const browser = await startBrowser(showProgress);
		try {
			const { page, goTo } = await openEditor(browser, first.url);
			await goTo(`/workflow/${startHere}`);
			await page.getByRole('heading', { name: 'Start here' }).waitFor();
			for (const { name } of examples) {
				const opened = page.waitForEvent('popup');
				await page.getByRole('link', { name, exact: true }).click();
				const popup = await opened;
				// Not until it has loaded: fifteen editors take minutes.
				await popup.waitForURL(`${first.url}/workflow/${ids.get(name)}`, {
					waitUntil: 'commit',
				});
				await popup.close();
			}
			const [ref] = (await first.client.workflows()).filter(({ id }) => id === startHere);
			const execution = await first.client.waitForExecution(
				await first.client.run(ref!, 'Start'),
			);
			expect(failureOf(execution)).toBe('');
			const [video] = outputItems(execution, 'Create Video');
			const url = String(video!.json['video_url']);
			await page.goto(url);
			const [early, late] = [await pictureAt(page, 0.5), await pictureAt(page, 3.5)];
			const changed = early.filter((value, index) => Math.abs(value - late[index]!) > 50);
			expect(changed.length).toBeGreaterThan(10);
		} finally {
			await browser.close();
		}
	},
	LIMIT_MS,
);

it(
	'what was built is there after Ctrl+C and a new start',
	async () => {
		const { client } = first;
		const baseUrl = (await client.credentialAddress(EXAMPLE_CREDENTIAL))!;
		await createCredential(client, 'My account', baseUrl);
		mine = await client.importWorkflow(
			workflow('Mine', [
				node('Run Now', 'n8n-nodes-base.manualTrigger', 1),
				node('Ask', 'n8n-nodes-agent-video.chatCompletion', 1, {
					parameters: {
						prompt: 'Hello',
						model: { __rl: true, mode: 'id', value: 'chat-m1' },
					},
					credential: 'My account',
				}),
			]),
		);
		const runOf = async (by: N8nClient) =>
			await by.waitForExecution(await by.run(mine, 'Run Now'));
		const before = await runOf(client);
		expect(failureOf(before)).toBe('');
		const removed = (await idsByName(client)).get('Collect Videos')!;
		await client.archive(removed);
		const known = await idsByName(client);
		await stop(first.child);
		expect(first.child.exitCode).toBe(0);

		const again = await start();
		expect(again.text).toContain('Continuing with what you built');
		expect([again.url, again.password]).toStrictEqual([first.url, first.password]);
		expect(await idsByName(again.client)).toStrictEqual(known);
		expect((await again.client.readExecution(before.id)).status).toBe('success');
		expect(failureOf(await runOf(again.client))).toBe('');
		expect(await again.client.credentialAddress('My account')).toBe(baseUrl);
		await stop(again.child);
	},
	LIMIT_MS,
);

it(
	'--fresh starts over, and says so',
	async () => {
		const fresh = await start('--fresh');
		expect(fresh.text).toMatch(/^Starting over: .* was emptied\.$/m);
		expect(fresh.password).not.toBe(first.password);
		const names = [...(await idsByName(fresh.client)).keys()];
		expect(names).not.toContain('Mine');
		expect(names).toContain('Collect Videos');
		await stop(fresh.child);
	},
	LIMIT_MS,
);
