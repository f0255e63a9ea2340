// @seconds 185
import type { Browser } from 'playwright-core';

import { startBrowser } from '../../lab/browser/startBrowser';
import { failureOf, type Execution } from '../../lab/n8n/execution';
import { N8nClient, type WorkflowRef } from '../../lab/n8n/N8nClient';
import { startQueue, type Queue, type Worker } from '../../lab/n8n/startQueue';
import { freePort } from '../../lab/services/freePort';
import { Running } from '../../lab/services/Running';
import { startEmulator } from '../../emulator/startEmulator';
import { node, workflow } from '../e2e/support/buildWorkflow';
import {
	MARK,
	onCommunityNodes,
	PACKAGE,
	packTwoVersions,
	type TwoVersions,
} from '../e2e/support/communityNodes';
import { BROWSER_LIMIT_MS } from '../e2e/support/inPage';
import { until } from '../e2e/support/ledger';
import { startPackageRegistry, type PackageRegistry } from '../e2e/support/packageRegistry';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, showProgress } from '../e2e/support/session';

/** The hint of an error about an empty prompt, which the second version has with a mark: it tells which code a worker runs. */
const MESSAGE = 'Enter a text, or an expression that returns one for every item';
const MISSING_NODE = /Unrecognized node type: n8n-nodes-agent-video\.createVideo/;
const INSTALLED = 'Community package installed: n8n-nodes-agent-video';

const running = new Running();
let versions: TwoVersions;
let registry: PackageRegistry;
let queue: Queue;
let client: N8nClient;
let browser: Browser;
/** Creates a video. */
let videos: WorkflowRef;
/** Has no prompt, so it fails with a message of the package. */
let empty: WorkflowRef;

beforeAll(async () => {
	versions = running.keep(packTwoVersions([MESSAGE]));
	const emulator = running.keep(await startEmulator({ videoSeconds: 4 }));
	registry = running.keep(await startPackageRegistry());
	registry.publish(versions.first);
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
	browser = await startBrowser(showProgress);
	running.keep({ stop: () => browser.close() });

	await onPage('install', (settings) => settings.install(versions.first));
	const credential = 'Emulator';
	await client.createCredential({
		name: credential,
		type: 'agentVideoApi',
		data: { baseUrl: emulator.url, apiKey: 'demo-key' },
	});
	const create = (name: string, prompt: string) =>
		workflow(name, [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Create', `${PACKAGE}.createVideo`, 1, { parameters: { prompt }, credential }),
		]);
	videos = await client.importWorkflow(create('Video', 'A lighthouse at dawn'));
	empty = await client.importWorkflow(create('Empty', "={{ '' }}"));
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

async function onPage(name: string, work: Parameters<typeof onCommunityNodes>[3]): Promise<void> {
	await onCommunityNodes(browser, queue.main.url, `queue-${name}`, work);
}

const currentWorker = () => queue.workers.at(-1)!;

/** Longer than n8n takes to see that a busy worker has lost an execution, and to run it again. */
const LOST_LIMIT_MS = 2 * RUN_LIMIT_MS;

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
