import {
	startEmulator,
	type Emulator,
	type EmulatorOptions,
} from '../../../emulator/startEmulator';
import { N8nClient, type WorkflowRef } from '../../../lab/n8n/N8nClient';
import { startN8n } from '../../../lab/n8n/startN8n';
import type { Workflow } from '../../../lab/n8n/workflow';
import type { Running } from '../../../lab/services/Running';
import { sharedN8nUrl } from './sharedN8n';

/** Milliseconds to start n8n and what a test file needs beside it, on a busy machine. */
export const SET_UP_LIMIT_MS = 8 * 60_000;
/** Milliseconds for a workflow to run. */
export const RUN_LIMIT_MS = 2 * 60_000;

/** Prints what a long preparation is doing. It bypasses jest, which prints nothing before the tests have run. */
export function showProgress(text: string): void {
	process.stderr.write(`${text}\n`);
}

/** A real n8n with the package installed, and an emulator of its own for this test file. */
export interface Session {
	readonly emulator: Emulator;
	readonly n8n: { readonly url: string };
	readonly client: N8nClient;
}

/**
 * Starts an emulator and signs in to n8n.
 *
 * @param running Keeps what is started.
 * @param settings Environment variables for an n8n of its own. Without them the session uses the n8n that is shared by
 * the test files of this jest worker, and archives its workflows at the end: another file may use the same webhooks.
 */
export async function startSession(
	running: Running,
	options: EmulatorOptions = {},
	settings?: Readonly<Record<string, string>>,
): Promise<Session> {
	const emulator = running.keep(await startEmulator(options));
	const n8n = settings
		? running.keep(await startN8n({ settings }))
		: { url: await sharedN8nUrl() };
	const client = await N8nClient.signIn(n8n.url);
	if (!settings) running.keep({ stop: () => client.archiveWorkflows() });
	return { emulator, n8n, client };
}

/** Creates a credential for a server. */
export async function createCredential(
	client: N8nClient,
	name: string,
	baseUrl: string,
	apiKey = 'demo-key',
): Promise<void> {
	const data = { baseUrl, apiKey };
	await client.createCredential({ name, type: 'agentVideoApi', data });
}

/** Saves a workflow and publishes it. */
export async function publish(client: N8nClient, workflow: Workflow): Promise<WorkflowRef> {
	const ref = await client.importWorkflow(workflow);
	await client.activate(ref);
	return ref;
}
