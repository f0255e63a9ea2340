import type { TableSchema } from './dataTable';
import { CALLER_COLUMNS, STATUS_COLUMNS } from './callKind';

/**
 * The task ledger: every video that was asked for in a project, in one table that a person can open. A row with status
 * `sent` and no task ID is a request without an answer: the task may exist. `finished_at` is empty until the node
 * that waits has the final result.
 */
export const TASK_TABLE = {
	name: 'agent_video_tasks',
	columns: {
		task_id: 'string',
		...STATUS_COLUMNS,
		prompt: 'string',
		video_url: 'string',
		error: 'string',
		finished_at: 'date',
		file_name: 'string',
		model: 'string',
		duration: 'number',
		size: 'string',
		audio: 'boolean',
		adjustments: 'string',
		estimated_cost: 'number',
		idempotency_key: 'string',
		collected_at: 'date',
		...CALLER_COLUMNS,
	},
} as const satisfies TableSchema;
