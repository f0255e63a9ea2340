// @seconds 190
import type { Browser } from 'playwright-core';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { startBrowser } from '../../lab/browser/startBrowser';
import { failureOf, outputItems } from '../../lab/n8n/execution';
import { N8nClient, type WorkflowRef } from '../../lab/n8n/N8nClient';
import { startN8n, type N8n } from '../../lab/n8n/startN8n';
import { Running } from '../../lab/services/Running';
import { node, workflow } from '../e2e/support/buildWorkflow';
import {
	MARK,
	onCommunityNodes,
	PACKAGE,
	packTwoVersions,
	type TwoVersions,
} from '../e2e/support/communityNodes';
import { BROWSER_LIMIT_MS } from '../e2e/support/inPage';
import { startPackageRegistry, type PackageRegistry } from '../e2e/support/packageRegistry';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS, showProgress } from '../e2e/support/session';

/** A text of the first version that the second one has with a mark: it tells which code n8n runs. */
const TEXT = 'Ask a model, an application or a workflow';

const running = new Running();
let versions: TwoVersions;
let registry: PackageRegistry;
let emulator: Emulator;
let n8n: N8n;
let client: N8nClient;
let browser: Browser;

beforeAll(async () => {
	versions = running.keep(packTwoVersions([TEXT]));
	emulator = running.keep(await startEmulator({ videoSeconds: 4 }));
	registry = running.keep(await startPackageRegistry());
	registry.publish(versions.first);
	n8n = running.keep(await startN8n({ withPackage: false, settings: registry.settings }));
	client = await N8nClient.signIn(n8n.url);
	browser = await startBrowser(showProgress);
	running.keep({ stop: () => browser.close() });
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	await running.stop();
}, RUN_LIMIT_MS);

const CREDENTIAL = 'Emulator';

const video = (parameters: object, prompt = 'A lighthouse at dawn') =>
	workflow('Video', [
		node('Start', 'n8n-nodes-base.manualTrigger', 1),
		node('Create', `${PACKAGE}.createVideo`, 1, {
			parameters: { prompt },
			credential: CREDENTIAL,
		}),
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
		await client.createCredential({
			name: CREDENTIAL,
			type: 'agentVideoApi',
			data: { baseUrl: emulator.url, apiKey: 'demo-key' },
		});
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
		const short = await client.importWorkflow(video({ options: { maximumWait: 1 } }));
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
