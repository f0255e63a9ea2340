import { isJsonObject, type JsonObject, type JsonValue } from '../json';
import { isBlank } from '../values';

/** Response of a status poll (spec 2.10), within bounds. */
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
 * How a task ended. `timeout`: not finished at the deadline. `refused`: the service rejects its status polls. All but
 * `completed` are a `reason` in the output.
 */
export type TaskOutcome = 'completed' | 'failed' | 'timeout' | 'refused';

// Services write it both ways. cspell:ignore cancelled
/** The final states of the specification (3.1), and the words of other services for them. */
const WORDS = {
	completed: ['completed', 'complete', 'succeeded', 'success', 'finished', 'done'],
	failed: [
		...['failed', 'fail', 'failure', 'error'],
		...['cancelled', 'canceled', 'expired', 'rejected'],
	],
} satisfies Partial<Record<TaskOutcome, readonly string[]>>;

/**
 * How a task ended, by its status. With any other word it is still generating, also with a URL: polling has a deadline anyway,
 * and to stop early would lose a video that is paid for.
 */
export function taskState({ status }: Pick<TaskReport, 'status'>): TaskOutcome | undefined {
	const word = status.trim().toLowerCase();
	if (WORDS.completed.includes(word)) return 'completed';
	return WORDS.failed.includes(word) ? 'failed' : undefined;
}

/** Whether a report has a URL from which the video can be downloaded, or which contains it. */
export function hasVideo({ video_url: url }: { readonly video_url?: unknown }): boolean {
	return typeof url === 'string' && /^\s*(https?:\/\/[^\s/]|data:video\/[^,]*,.)/i.test(url);
}

/** Fields with the URL of a file. */
export const FILES: readonly string[] = ['video_url', 'thumbnail_url'];

/** The URL of a file: a text, an object with a `url`, or a list of one. Anything else as it is. */
export function urlIn(value: JsonValue | undefined): JsonValue | undefined {
	if (Array.isArray(value)) return value.length === 1 ? urlIn(value[0]) : value;
	return isJsonObject(value) && typeof value['url'] === 'string' ? value['url'] : value;
}

/** Fields that gateways wrap the answer of a service into. */
const WRAPPERS = ['data', 'result', 'output'] as const;
/** Wrappers within one another. */
const MAX_WRAPPERS = 3;
/** Fields that name a task. With the first one the others are about something else, such as the request. */
export const TASK_IDS = ['task_id', 'taskId', 'id'] as const;

const has = (body: JsonObject, ...names: readonly string[]) =>
	names.some((name) => !isBlank(body[name]));

/**
 * The tasks that an answer is about. An object with a `task_id` (spec 2.9, 2.10) or a `video_url` is one; without both, the
 * objects in its wrappers are the tasks, if they name one. The one object within a task fills what is missing there.
 */
export function tasksIn(body: JsonObject, levels = MAX_WRAPPERS): readonly JsonObject[] {
	const wrapped = levels === 0 ? [] : WRAPPERS.flatMap((name) => [body[name]].flat());
	const inner = wrapped.filter(isJsonObject).flatMap((each) => tasksIn(each, levels - 1));
	const named = inner.filter((task) => has(task, ...TASK_IDS, 'video_url'));
	if (named.length > 0 && !has(body, 'task_id', 'video_url')) return named;
	if (inner.length !== 1) return [body];
	const { id, taskId, ...missing } = inner[0]!;
	const given = Object.entries(body).filter(([, value]) => !isBlank(value));
	return [{ ...body, ...missing, ...Object.fromEntries(given) }];
}
