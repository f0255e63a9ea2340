// @seconds 375
import type { Browser } from 'playwright-core';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { startBrowser } from '../../lab/browser/startBrowser';
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import { N8nClient, type WorkflowRef } from '../../lab/n8n/N8nClient';
import { startN8n, type N8n } from '../../lab/n8n/startN8n';
import { startQueue, type Queue, type Worker } from '../../lab/n8n/startQueue';
import { freePort } from '../../lab/services/freePort';
import { Running } from '../../lab/services/Running';
import { node, workflow } from '../e2e/support/buildWorkflow';
import {
	MARK,
	onCommunityNodes,
	PACKAGE,
	packTwoVersions,
	type TwoVersions,
} from '../e2e/support/communityNodes';
import { start } from '../e2e/support/drawAgent';
import { BROWSER_LIMIT_MS } from '../e2e/support/inPage';
import { until } from '../e2e/support/ledger';
import { startPackageRegistry, type PackageRegistry } from '../e2e/support/packageRegistry';
import {
	createCredential,
	RUN_LIMIT_MS,
	SET_UP_LIMIT_MS,
	showProgress,
} from '../e2e/support/session';

/** Texts of the first version that the second one has with a mark: they tell which code n8n or a worker runs. */
const TEXT = 'Ask a model, an application or a workflow';
/** The hint of an error about an empty prompt. */
const MESSAGE = 'Enter a text, or an expression that returns one for every item';
const CREDENTIAL = 'Emulator';

const running = new Running();
let versions: TwoVersions;
let emulator: Emulator;
let browser: Browser;

beforeAll(async () => {
	versions = running.keep(packTwoVersions([TEXT, MESSAGE]));
	emulator = running.keep(await startEmulator({ videoSeconds: 4 }));
	browser = await startBrowser(showProgress);
	running.keep({ stop: () => browser.close() });
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

/** A registry that has the first version only. */
async function startRegistry(): Promise<PackageRegistry> {
	const registry = running.keep(await startPackageRegistry());
	registry.publish(versions.first);
	return registry;
}

const create = (prompt: string) =>
	node('Create', `${PACKAGE}.createVideo`, 1, { parameters: { prompt }, credential: CREDENTIAL });

describe('one n8n', () => {
	let registry: PackageRegistry;
	let n8n: N8n;
	let client: N8nClient;

	beforeAll(async () => {
		registry = await startRegistry();
		n8n = running.keep(await startN8n({ withPackage: false, settings: registry.settings }));
		client = await N8nClient.signIn(n8n.url);
	}, SET_UP_LIMIT_MS);

	const video = (parameters: object) =>
		workflow('Video', [
			start,
			create('A lighthouse at dawn'),
			node('Wait', `${PACKAGE}.waitForVideo`, 1, { credential: CREDENTIAL, parameters }),
		]);

	let ref: WorkflowRef;
	/** The same workflow with a wait that suspends its execution. */
	let sleeping: WorkflowRef;

	async function runVideo(): Promise<string> {
		return await client.run(ref, 'Start');
	}

	async function expectVideo(executionId: string): Promise<void> {
		const execution = await client.waitForExecution(executionId);
		expect(failureOf(execution)).toBe('');
		expect(outputItems(execution, 'Wait')).toEqual([
			expect.objectContaining({
				json: expect.objectContaining({ status: 'completed' }) as object,
			}),
		]);
	}

	test(
		'the package is installed from the page Community nodes, and its nodes run without a restart',
		async () => {
			await onCommunityNodes(browser, n8n.url, 'install', async (settings) => {
				await settings.install(versions.first);
				expect(await settings.descriptions()).toContain(TEXT);
			});
			await createCredential(client, CREDENTIAL, emulator.url);
			ref = await client.importWorkflow(video({}));
			sleeping = await client.importWorkflow(video({ waitMode: 'suspend' }));
			await expectVideo(await runVideo());
		},
		BROWSER_LIMIT_MS,
	);

	test(
		'an update from the page lets a running and a suspended execution finish, and workflows of the first version run on',
		async () => {
			registry.publish(versions.second);
			await onCommunityNodes(browser, n8n.url, 'update', async (settings) => {
				await settings.updateOffered();
				const suspended = await client.run(sleeping, 'Start');
				await client.waitForExecution(suspended, { orWaiting: true });
				const waiting = await runVideo();
				await settings.update(versions.second);
				expect(await settings.descriptions()).toContain(MARK);
				await expectVideo(waiting);
				await expectVideo(suspended);
			});
			await expectVideo(await runVideo());
		},
		BROWSER_LIMIT_MS,
	);

	test(
		'after an uninstallation from the page, workflows say which nodes are missing; what waits goes on after another installation',
		async () => {
			const short = await client.importWorkflow(video({ options: { maximumWait: 2 } }));
			const suspended = await client.run(sleeping, 'Start');
			await client.waitForExecution(suspended, { orWaiting: true });
			emulator.faults.add({ kind: 'holdBody', path: '/v1/videos/tasks', count: 99 });
			const waiting = await runVideo();
			const ending = await client.run(short, 'Start');
			await onCommunityNodes(browser, n8n.url, 'uninstall', async (settings) => {
				await settings.uninstall();
				expect(await settings.descriptions()).not.toContain(TEXT);
			});
			await expect(runVideo()).rejects.toThrow(/createVideo/);
			const ended = await client.waitForExecution(ending);
			await onCommunityNodes(browser, n8n.url, 'install-again', async (settings) => {
				await settings.install(versions.second);
			});
			emulator.faults.clear();
			await expectVideo(waiting);
			await expectVideo(suspended);
			expect(failureOf(ended)).toMatch(/Unrecognized node type: n8n-nodes-agent-video/);
		},
		BROWSER_LIMIT_MS,
	);
});

describe('workers', () => {
	const MISSING_NODE = /Unrecognized node type: n8n-nodes-agent-video\.createVideo/;
	const INSTALLED = 'Community package installed: n8n-nodes-agent-video';
	/** Longer than n8n takes to see that a busy worker has lost an execution, and to run it again. */
	const LOST_LIMIT_MS = 2 * RUN_LIMIT_MS;

	let registry: PackageRegistry;
	let queue: Queue;
	let client: N8nClient;
	/** Creates a video. */
	let videos: WorkflowRef;
	/** Has no prompt, so it fails with a message of the package. */
	let empty: WorkflowRef;

	beforeAll(async () => {
		registry = await startRegistry();
		// One worker at a time, each with a user folder of its own, so that it is known which one runs an execution.
		queue = running.keep(
			await startQueue({
				workers: 1,
				withPackage: false,
				settings: { ...registry.settings, OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true' },
				onProgress: showProgress,
			}),
		);
		client = await N8nClient.signIn(queue.main.url);
		await onPage('install', (settings) => settings.install(versions.first));
		await createCredential(client, CREDENTIAL, emulator.url);
		const drawn = (name: string, prompt: string) => workflow(name, [start, create(prompt)]);
		videos = await client.importWorkflow(drawn('Video', 'A lighthouse at dawn'));
		empty = await client.importWorkflow(drawn('Empty', "={{ '' }}"));
	}, SET_UP_LIMIT_MS);

	async function onPage(
		name: string,
		work: Parameters<typeof onCommunityNodes>[3],
	): Promise<void> {
		await onCommunityNodes(browser, queue.main.url, `queue-${name}`, work);
	}

	const currentWorker = () => queue.workers.at(-1)!;

	/** Runs a workflow on the current worker. */
	async function run(ref: WorkflowRef): Promise<Execution> {
		const id = await client.run(ref, 'Start');
		const execution = await client.waitForExecution(id, { limitMs: LOST_LIMIT_MS });
		expect(currentWorker().executions()).toContain(id);
		return execution;
	}

	/** Stops the current worker and starts another one, whose user folder is empty. */
	async function replaceWorker(settings: Readonly<Record<string, string>>): Promise<Worker> {
		await currentWorker().stop();
		return await queue.addWorker(settings);
	}

	const count = (text: string, part: string) => text.split(part).length - 1;

	test(
		'an installation from the page reaches a running worker, which needs no restart',
		async () => {
			await until(() => currentWorker().log().includes(INSTALLED));
			expect(failureOf(await run(videos))).toBe('');
			expect(failureOf(await run(empty))).not.toContain(MARK);
		},
		BROWSER_LIMIT_MS,
	);

	test(
		'an update from the page reaches it, too',
		async () => {
			registry.publish(versions.second);
			await onPage('update', async (settings) => {
				await settings.updateOffered();
				await settings.update(versions.second);
			});
			await until(() => count(currentWorker().log(), INSTALLED) === 2);
			expect(failureOf(await run(videos))).toBe('');
			expect(failureOf(await run(empty))).toContain(MARK);
		},
		BROWSER_LIMIT_MS,
	);

	test(
		'a worker that starts later with an empty folder does not have the nodes',
		async () => {
			const worker = await replaceWorker({});
			expect(failureOf(await run(videos))).toMatch(MISSING_NODE);
			expect(worker.log()).toContain('some packages are missing');
		},
		RUN_LIMIT_MS,
	);

	test(
		'with N8N_REINSTALL_MISSING_PACKAGES it installs the version of the page before it takes executions',
		async () => {
			await replaceWorker({ N8N_REINSTALL_MISSING_PACKAGES: 'true' });
			expect(failureOf(await run(videos))).toBe('');
			expect(failureOf(await run(empty))).toContain(MARK);
		},
		RUN_LIMIT_MS,
	);

	test(
		'an uninstallation from the page reaches a running worker',
		async () => {
			await onPage('uninstall', (settings) => settings.uninstall());
			await until(() => currentWorker().log().includes('Community package uninstalled'));
			await expect(client.run(videos, 'Start')).rejects.toThrow(/createVideo/);
		},
		BROWSER_LIMIT_MS,
	);

	test(
		'a worker that does not reach the registry has no nodes, although the page shows the package as installed',
		async () => {
			const nothing = `http://127.0.0.1:${await freePort()}`;
			const worker = await replaceWorker({
				HTTPS_PROXY: nothing,
				// Otherwise npm tries again for more than a minute.
				npm_config_fetch_retries: '0',
			});
			await onPage('install-again', (settings) => settings.install(versions.second));
			await until(() => worker.log().includes('installing community package'));
			expect(failureOf(await run(videos))).toMatch(MISSING_NODE);
		},
		BROWSER_LIMIT_MS + LOST_LIMIT_MS,
	);
});
