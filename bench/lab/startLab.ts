import type { ITaskData } from 'n8n-workflow';

import { isFinal, failureOf, type Execution } from '../../lab/n8n/execution';
import { N8nClient } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { startN8n, type N8n } from '../../lab/n8n/startN8n';
import type { Workflow } from '../../lab/n8n/workflow';
import { credentialsFor } from './credentials';

/** A real n8n to measure in, set up as a production one where it costs time. */
export interface Lab {
	readonly pid: number;
	/** Address of the webhook of that path. */
	webhook(path: string): string;
	/** Saves the workflow and lets its webhook work; gives a function that calls it and waits for the end. */
	install(workflow: Workflow, path: string): Promise<(body: object) => Promise<Execution>>;
	stop(): Promise<void>;
}

/** n8n's own default; the lab's other users watch executions while they run. */
export const PRODUCTION = { EXECUTIONS_DATA_SAVE_ON_PROGRESS: 'false', N8N_PAYLOAD_SIZE_MAX: '64' };

/** The largest runs take minutes on a busy machine. */
const ANSWER_LIMIT_MS = 900_000;

/** Starts a fresh n8n whose credentials lead to the server. */
export async function startLab(serverUrl: string): Promise<Lab> {
	const n8n = await startN8n({ settings: PRODUCTION });
	try {
		return await labOf(n8n, serverUrl);
	} catch (error) {
		await n8n.stop();
		throw error;
	}
}

/** An n8n that runs already, as a lab: signed in, with credentials that lead to the server. */
export async function labOf({ url, pid, stop }: N8n, serverUrl: string): Promise<Lab> {
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
				await postWebhook(webhook(path), body, 'json', ANSWER_LIMIT_MS);
				const execution = await client.lastExecution(ref, { limitMs: ANSWER_LIMIT_MS });
				if (isFinal(execution) && execution.status === 'success') return execution;
				throw new Error(`${workflow.name}: ${failureOf(execution)}`);
			};
		},
		stop,
	};
}

/** Runs `work` in a fresh n8n and stops that n8n afterwards, whatever happened. */
export async function inLab<T>(serverUrl: string, work: (lab: Lab) => Promise<T>): Promise<T> {
	const lab = await startLab(serverUrl);
	try {
		return await work(lab);
	} finally {
		await lab.stop();
	}
}

/** Runs `work` in so many fresh n8n and stops them afterwards, whatever happened. */
export async function inLabs<T>(
	count: number,
	serverUrl: string,
	work: (labs: readonly Lab[]) => Promise<T>,
): Promise<T> {
	if (count === 0) return await work([]);
	return await inLab(
		serverUrl,
		async (lab) => await inLabs(count - 1, serverUrl, (others) => work([lab, ...others])),
	);
}

/** Milliseconds that a node took, of all its runs. */
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
