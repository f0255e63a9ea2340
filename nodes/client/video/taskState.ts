import { messageOf } from '../http/errorBody';
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

/** What a task does: its state, whatever the word for it. */
export type TaskState = 'completed' | 'failed' | 'unfinished';

// Services write it both ways. cspell:ignore cancelled
/** The states of the specification (3.1), and the words of other services for the final ones. Any other word is unfinished. */
const WORDS: Readonly<Record<TaskState, string>> = {
	completed: 'completed complete succeeded success finished done',
	failed: 'failed fail failure error cancelled canceled expired rejected',
	unfinished: 'init queued processing unknown',
};

const STATES = new Map(
	Object.entries(WORDS).flatMap(([state, words]) =>
		words.split(' ').map((word) => [word, state as TaskState]),
	),
);

/** The word of the table that a status is, in any case; undefined for another one. */
export function statusWord(status: string): string | undefined {
	const word = status.trim().toLowerCase();
	return STATES.has(word) ? word : undefined;
}

/**
 * State of a task by its status. With an unknown word it is unfinished, also with a URL: the task may still complete, polling
 * has a deadline anyway, and to stop early would lose a video that is paid for.
 */
export function taskState({ status }: Pick<TaskReport, 'status'>): TaskState {
	return STATES.get(statusWord(status) ?? '') ?? 'unfinished';
}

/** Whether a report has a URL from which the video can be downloaded. */
export function hasVideo({ video_url: url }: { readonly video_url?: unknown }): boolean {
	return typeof url === 'string' && /^\s*https?:\/\/[^\s/]/i.test(url);
}

/** Fields that gateways wrap the answer of a service into. */
const WRAPPERS = ['data', 'result', 'output'] as const;
/** Wrappers within one another. */
const MAX_WRAPPERS = 3;
/** Fields that name a task. With the first one the others are about something else, such as the request. */
export const TASK_IDS = ['task_id', 'taskId', 'id'] as const;

const has = (body: JsonObject, ...names: readonly string[]) =>
	names.some((name) => !isBlank(body[name]));

const objectsIn = (wrapper: JsonValue | undefined) => [wrapper].flat().filter(isJsonObject);

/**
 * The tasks that an answer is about. An object with a `task_id` (spec 2.9, 2.10) or a `video_url` is one, and its own fields
 * hold. Without both, the objects in its wrappers are the tasks, if they name one or it has no status itself.
 */
export function tasksIn(body: JsonObject, levels = MAX_WRAPPERS): readonly JsonObject[] {
	if (has(body, 'task_id', 'video_url')) return [filled(body, levels)];
	const { status, id, taskId, data, result, output, ...around } = body;
	const inner = (levels === 0 ? [] : WRAPPERS).flatMap((name) =>
		objectsIn(body[name]).flatMap((each) => tasksIn(each, levels - 1)),
	);
	const named = inner.filter((task) => has(task, ...TASK_IDS, 'video_url'));
	const found = named.length > 0 ? named : inner;
	if (has(body, 'status') && named.length === 0) return [filled(body, levels)];
	if (found.length !== 1) return found;
	return [{ ...around, ...found[0] }];
}

/** The object with what is missing there, from the one object in each of its wrappers. */
function filled(body: JsonObject, levels: number): JsonObject {
	if (levels === 0) return body;
	const inner = WRAPPERS.map((name) => objectsIn(body[name])).filter(
		({ length }) => length === 1,
	);
	const { id, taskId, ...deeper } = inner.reduceRight<JsonObject>(
		(fields, [only]) => ({ ...fields, ...filled(only!, levels - 1) }),
		{},
	);
	const given = Object.entries(body).filter(([, value]) => !isBlank(value));
	return { ...body, ...deeper, ...Object.fromEntries(given) };
}

/**
 * Why there is no video, in the words of the service. Of a completed task only fields count whose names say error or failure:
 * a `message` may say that all is well.
 */
export function reasonOf(report: TaskReport): string | undefined {
	const { error_message } = report;
	const isCompleted = taskState(report) === 'completed';
	const fields = Object.entries(report).filter(
		([name]) => !isCompleted || /err|fail/i.test(name),
	);
	const other = messageOf(Object.fromEntries(fields));
	const own = typeof error_message === 'string' ? messageOf({ error_message }) : undefined;
	return own ?? (other && `The service reports: ${other}`);
}
