import type { N8nClient } from '../../../lab/n8n/N8nClient';
import { LEDGER } from './ledger';

/** Makes these tasks of the task ledger old enough to be collected; a run that was killed has taken them before. */
export async function makeTasksOld(client: N8nClient, taskIds: readonly string[]): Promise<void> {
	const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
	for (const id of taskIds)
		await client.updateDataTableRows(LEDGER, ['task_id', id], {
			...{ sent_at: anHourAgo, collected_at: anHourAgo },
		});
}
