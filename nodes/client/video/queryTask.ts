import { InputError } from '../errors';
import { readJsonObject, send, unexpectedResponse } from '../http/request';
import type { JsonObject } from '../json';
import type { HttpPort } from '../ports';

/** State of a task by the service's status word (spec 3.1). */
export const TASK_STATES = {
	init: 'unfinished',
	queued: 'unfinished',
	processing: 'unfinished',
	completed: 'completed',
	failed: 'failed',
	// The specification says "retry the query later": the task may still complete.
	unknown: 'unfinished',
} as const;

export type TaskState = (typeof TASK_STATES)[keyof typeof TASK_STATES];

/** Response of a status poll (spec 2.10). */
export interface TaskReport {
	readonly task_id: string;
	readonly status: string;
	readonly model?: string;
	/** When completed: long-lived URL of the file, on another host than the service. */
	readonly video_url?: string;
	readonly thumbnail_url?: string;
	readonly enhanced_prompt?: string;
	/** When failed. */
	readonly error_message?: string;
}

/**
 * State of a task with this status. A word that the specification does not list counts as unfinished: polling has a
 * deadline anyway, and to stop early would lose a video that is paid for.
 */
export function taskState(status: string): TaskState {
	return Object.hasOwn(TASK_STATES, status)
		? TASK_STATES[status as keyof typeof TASK_STATES]
		: 'unfinished';
}

/**
 * Returns the task ID.
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
 * Queries the status of a task: `POST /v1/videos/tasks` (spec 2.10). Free of charge and idempotent.
 *
 * @param idleTimeoutMs Milliseconds without a byte after which the query fails.
 * @throws ServiceError `http` for an error status (spec 7.2), `network` when the connection fails, `protocol` when the
 *   response has no status.
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
