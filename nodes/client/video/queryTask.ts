import { InputError } from '../errors';
import { readJsonObject, send, unexpectedResponse } from '../http/request';
import type { JsonObject } from '../json';
import type { HttpPort } from '../ports';

/** How a task stands, by the status word of the service (spec 3.1). */
export const TASK_STATES = {
	init: 'unfinished',
	queued: 'unfinished',
	processing: 'unfinished',
	completed: 'completed',
	failed: 'failed',
	// "Retry the query later": the task may well be alive.
	unknown: 'unfinished',
} as const;

export type TaskState = (typeof TASK_STATES)[keyof typeof TASK_STATES];

/** What a query tells about a task (spec 2.10). */
export interface TaskReport {
	readonly task_id: string;
	readonly status: string;
	readonly model?: string;
	/** When completed: the address of the file, long-lived, not on the service's own host. */
	readonly video_url?: string;
	readonly thumbnail_url?: string;
	readonly enhanced_prompt?: string;
	/** When failed. */
	readonly error_message?: string;
}

/**
 * How a task with this status stands. A word that the specification does not list counts as unfinished:
 * the wait is limited anyway, and giving up on a task that is paid for would lose its video.
 */
export function taskState(status: string): TaskState {
	return Object.hasOwn(TASK_STATES, status)
		? TASK_STATES[status as keyof typeof TASK_STATES]
		: 'unfinished';
}

/**
 * The task id, as it is.
 *
 * @throws InputError when it is empty.
 */
export function checkTaskId(taskId: string): string {
	if (taskId !== '') return taskId;
	throw new InputError(
		'Task ID',
		'is empty',
		'Connect Create Video to this node, or enter the ID of a task',
	);
}

/**
 * Asks how a task stands: `POST /v1/videos/tasks` (spec 2.10). Free of charge and safe to repeat.
 *
 * @param idleTimeoutMs Milliseconds without a byte after which the query is given up.
 * @throws ServiceError `refused` for an error status (spec 7.2), `network` when the connection fails, `protocol`
 *   when the answer has no status.
 */
export async function queryTask(
	http: HttpPort,
	taskId: string,
	idleTimeoutMs: number,
): Promise<TaskReport> {
	const response = await send(http, 'video', {
		method: 'POST',
		path: '/v1/videos/tasks',
		body: { task_id: taskId },
		idleTimeoutMs,
	});
	const body = await readJsonObject(response);
	if (typeof body['status'] !== 'string') throw unexpectedResponse(JSON.stringify(body));
	return { ...(body as JsonObject & { status: string }), task_id: taskId };
}
