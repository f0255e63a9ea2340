import type { N8nClient } from '../../../lab/n8n/N8nClient';
import { failureOf } from '../../../lab/n8n/execution';
import { node, workflow } from './buildWorkflow';
import { LEDGER } from './ledger';

/** Makes these tasks of the task ledger old enough to be collected; a run that was killed has taken them before. */
export async function makeTasksOld(client: N8nClient, taskIds: readonly string[]): Promise<void> {
	const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
	const ref = await client.importWorkflow(
		workflow('Make Tasks Old', [
			node('Start', 'n8n-nodes-base.manualTrigger', 1),
			node('Update', 'n8n-nodes-base.dataTable', 1.1, {
				parameters: {
					operation: 'update',
					dataTableId: { __rl: true, mode: 'name', value: LEDGER },
					matchType: 'anyCondition',
					filters: {
						conditions: taskIds.map((keyValue) => ({ keyName: 'task_id', keyValue })),
					},
					columns: {
						mappingMode: 'defineBelow',
						value: { sent_at: anHourAgo, collected_at: anHourAgo },
					},
				},
			}),
		]),
	);
	const execution = await client.waitForExecution(await client.run(ref, 'Start'));
	if (failureOf(execution) !== '') throw new Error(failureOf(execution));
}
