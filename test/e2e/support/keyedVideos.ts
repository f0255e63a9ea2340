import type { IDataObject } from 'n8n-workflow';

import type { Emulator } from '../../../emulator/startEmulator';
import type { N8nClient, WorkflowRef } from '../../../lab/n8n/N8nClient';
import { postWebhook } from '../../../lab/n8n/postWebhook';
import { EXAMPLE_CREDENTIAL } from '../../../lab/n8n/readExample';
import type { Workflow } from '../../../lab/n8n/workflow';
import { node, webhook, workflow } from './buildWorkflow';
import { CREATIONS, until } from './ledger';

/** A workflow that creates the video of the key in the body of its webhook. Every prompt differs, as where a model writes it. */
export function keyedWorkflow(path: string): Workflow {
	return workflow(path, [
		webhook(path, 'lastNode'),
		node('Create Video', 'n8n-nodes-agent-video.createVideo', 1, {
			parameters: {
				prompt: '={{ $json.body.key }} {{ Math.random() }}',
				options: { idempotencyKey: '={{ $json.body.key }}', useExistingVideo: true },
			},
			credential: EXAMPLE_CREDENTIAL,
		}),
	]);
}

/**
 * Starts executions for one key at the same moment. The service has created the video but withholds its answer until all
 * executions exist.
 *
 * @returns The outputs of Create Video.
 */
export async function createAtOnce(
	{ client, emulator }: { readonly client: N8nClient; readonly emulator: Emulator },
	ref: WorkflowRef,
	url: string,
	{ key, count }: { readonly key: string; readonly count: number },
): Promise<readonly IDataObject[]> {
	emulator.journal.clear();
	emulator.faults.add({ kind: 'holdBody', path: CREATIONS, contains: key, count });
	const outputs = Promise.all(
		Array.from({ length: count }, () => postWebhook<IDataObject>(url, { key })),
	);
	const begun = until(
		async () =>
			emulator.journal.of(CREATIONS).length > 0 &&
			(await client.executions(ref)).length === count,
	);
	// A webhook that fails ends the wait.
	await Promise.race([begun, outputs]);
	emulator.faults.clear();
	return (await outputs).map(({ data }) => data);
}
