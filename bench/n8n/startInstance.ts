import type { ITaskData } from 'n8n-workflow';

import { isFinal, failureOf, type Execution } from '../../lab/n8n/execution';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startN8n, type N8n } from '../../lab/n8n/startN8n';
import type { Workflow } from '../../lab/n8n/workflow';
import { credentialsFor } from './credentials';

/** A real n8n instance with default settings, except that it takes large requests. */
export interface N8nInstance {
	readonly pid: number;
	/** URL of the production webhook with this path. */
	webhook(path: string): string;
	/** Imports and activates a workflow; returns a function that calls its webhook and waits for the execution to finish. */
	install(workflow: Workflow, path: string): Promise<(body: object) => Promise<Execution>>;
	stop(): Promise<void>;
}

/** A webhook of n8n takes 16 MB by default; the largest runs send more. */
export const LARGE_PAYLOADS = { N8N_PAYLOAD_SIZE_MAX: '64' };

/** The largest runs take minutes on a busy machine. */
const RESPONSE_TIMEOUT_MS = 900_000;

/**
 * Starts a new n8n instance with credentials for the server.
 *
 * @param profiles Folder for a CPU profile, which Node.js writes when n8n ends.
 */
export async function startInstance(serverUrl: string, profiles?: string): Promise<N8nInstance> {
	const n8n = await startN8n({
		settings: {
			...LARGE_PAYLOADS,
			...(profiles && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir="${profiles}"` }),
		},
	});
	try {
		return await connectInstance(n8n, serverUrl);
	} catch (error) {
		await n8n.stop();
		throw error;
	}
}

/** Signs in to a running n8n and creates credentials for the server. */
export async function connectInstance(
	{ url, pid, stop }: N8n,
	serverUrl: string,
): Promise<N8nInstance> {
	const client = await N8nClient.signIn(url);
	for (const credential of credentialsFor(serverUrl)) await client.createCredential(credential);
	const webhook = (path: string) => `${url}/webhook/${path}`;
	return {
		pid,
		webhook,
		install: async (workflow, path) => {
			const ref = await client.importWorkflow(workflow);
			await client.activate(ref);
			return async (body) => {
				await postWebhook(webhook(path), body, 'json', RESPONSE_TIMEOUT_MS);
				const execution = await client.lastExecution(ref, { limitMs: RESPONSE_TIMEOUT_MS });
				if (isFinal(execution) && execution.status === 'success') return execution;
				throw new Error(`${workflow.name}: ${failureOf(execution)}`);
			};
		},
		stop,
	};
}

/** Runs `work` with a new n8n instance, which is stopped afterwards, even on failure. */
export async function withInstance<T>(
	serverUrl: string,
	work: (n8n: N8nInstance) => Promise<T>,
): Promise<T> {
	const n8n = await startInstance(serverUrl);
	try {
		return await work(n8n);
	} finally {
		await n8n.stop();
	}
}

/** Runs `work` with several new n8n instances, which are stopped afterwards, even on failure. */
export async function withInstances<T>(
	count: number,
	serverUrl: string,
	work: (instances: readonly N8nInstance[]) => Promise<T>,
): Promise<T> {
	if (count === 0) return await work([]);
	return await withInstance(
		serverUrl,
		async (n8n) =>
			await withInstances(count - 1, serverUrl, (others) => work([n8n, ...others])),
	);
}

/** Execution time of a node over all its runs, in milliseconds. */
export function nodeMs({ data }: Execution, node: string): number {
	const runs = data.resultData.runData[node] ?? [];
	return runs.reduce((sum, { executionTime }) => sum + executionTime, 0);
}

/** Milliseconds from the end of the trigger to the end of the execution's last node. */
export function spanMs({ data }: Execution, trigger: string): number {
	const { runData } = data.resultData;
	const ends = (runs: ITaskData[]) =>
		Math.max(...runs.map(({ startTime, executionTime }) => startTime + executionTime));
	return ends(Object.values(runData).flat()) - ends(runData[trigger]!);
}
