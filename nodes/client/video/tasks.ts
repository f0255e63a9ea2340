import { isCanceled, requestError, ServiceError, type AdviceCode } from '../errors';
import { isDataUrl } from '../fileTypes';
import { bodyError, readJsonObject, send } from '../http/request';
import {
	asJson,
	bounded,
	fromJson,
	isJsonObject,
	mapValues,
	shorten,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import type { HttpPort } from '../ports';
import { isBlank, shown } from '../values';
import type { VideoRequest } from './models';

/** What would pay a second time where the task has been created. */
const TRY_AGAIN: ReadonlySet<string> = new Set<AdviceCode>([
	'checkConnection',
	'findProxy',
	'raiseTimeout',
	'tryLater',
]);

/** A longer task ID is none: it would not fit into a line of a table or of an error. */
const MAX_ID = 1_000;

/** A task as the service accepted it (spec 2.9). */
export interface CreatedTask {
	readonly task_id: string;
	readonly status: string;
	/** Code of the model that the service used. */
	readonly model: string;
	/** Omitted where the service sends null, as it may (spec 2.9). */
	readonly created_at?: string | number;
}

/**
 * Creates a generation task: `POST /v1/videos/generations` (spec 2.8, 2.9, 4). Creation is billed, so it is sent once.
 *
 * @param idleTimeoutMs Milliseconds without a byte after which the call fails; the task may have been created.
 * @throws ServiceError `http` for an error status (spec 7.2), `network` when the connection fails, `protocol` when the
 *   response has no task ID, a rounded one, or several tasks; with `outcomeUnknown` where the task may have been created.
 */
export async function createVideo(
	http: HttpPort,
	request: VideoRequest,
	idleTimeoutMs: number,
): Promise<CreatedTask> {
	const path = '/v1/videos/generations';
	try {
		return readCreated(await postVideo(http, path, asJson(request), idleTimeoutMs));
	} catch (thrown) {
		const error = requestError(thrown);
		// A canceled request may have reached the service, like one whose connection broke.
		if (error.details.outcomeUnknown !== true && !isCanceled(error)) throw error;
		const message = `${error.message}; the task may have been created`;
		const advice = [
			...error.advice.filter((each) => !TRY_AGAIN.has(each)),
			'checkTask',
		] as const;
		throw error.with({ outcomeUnknown: true }, { message, advice });
	}
}

/** Reads what the service says about the one task that it has created. */
function readCreated(answer: JsonObject): CreatedTask {
	const body = taskIn(answer);
	// Wait for Video trims the ID of its item, and then looks for the row of the task with it.
	const task_id = taskIdText(body['task_id']);
	if (task_id === '' || task_id.length > MAX_ID)
		throw bodyError('video', bounded(answer, TASK_FIELDS));
	const created_at = body['created_at'] ?? undefined;
	return fromJson<CreatedTask>(withoutUndefined({ ...ofService(body), task_id, created_at }));
}

/** Maximum length of a status word: every change of it is kept. */
const MAX_STATUS = 100;
/** Maximum length of the list of IDs in an error. */
const MAX_IDS = 1_000;

/** The fields of a task that come first in what is kept (spec 2.9, 2.10). */
const TASK_FIELDS = ['task_id', 'status', 'video_url', 'thumbnail_url', 'error_message'];

/** Names of our fields in the output. A host may treat an item with `error` as failed. */
const OURS: ReadonlySet<string> = new Set([
	...['reason', 'explanation', 'error', 'history', 'waited_seconds', 'file', 'missing_files'],
	...['ledger', 'request', 'adjustments', 'estimated_cost', 'reused', 'output', 'attempt'],
	'delivered_at',
]);

/** The fields of an answer. One with the name of a field of ours has another name, so that neither takes the place of the other. */
export function ofService<T extends object>(answer: T): T {
	const entries = Object.entries(answer).map(([name, value]: [string, unknown]) => [
		OURS.has(name) ? `service_${name}` : name,
		value,
	]);
	return Object.fromEntries(entries) as T;
}

/** An ID or a status as text; empty for what is none. */
const fieldText = (value: JsonValue | undefined) =>
	['string', 'number'].includes(typeof value) ? String(value).trim() : '';

/** @throws ServiceError for a number that JSON has rounded: it is the ID of something else. */
function taskIdText(id: JsonValue | undefined): string {
	if (typeof id !== 'number' || Number.isSafeInteger(id)) return fieldText(id);
	const message = `The service sent the task ID as the number ${id}, of which the last digits are lost. It has to be a text`;
	const details = { outcomeUnknown: true, isServiceForm: true };
	throw new ServiceError('protocol', message, [], details);
}

/** What names a task, as the specification does or else as other services do. */
const idOf = (task: JsonObject) =>
	TASK_IDS.map((name) => task[name]).find((value) => !isBlank(value));

/**
 * The one task that an answer is about.
 *
 * @param asked The task that was asked for; none for a creation.
 * @throws ServiceError `protocol` for several tasks or another one, which names them all.
 */
function taskIn(answer: JsonObject, asked?: string): JsonObject {
	const tasks = tasksIn(answer);
	const isOne = tasks.length === 1;
	const id = isOne ? taskIdText(idOf(tasks[0]!)).toLowerCase() : '';
	if (isOne && (asked === undefined || id === '' || id === asked.trim().toLowerCase()))
		return boundedTask(tasks[0]!);
	const what = isOne ? 'another task' : `${tasks.length} tasks`;
	const ids = shorten(tasks.map((task) => shown(idOf(task) ?? 'no ID')).join(', '), MAX_IDS);
	const place = asked === undefined ? '' : ` in place of ${asked}`;
	throw new ServiceError('protocol', `The service answered about ${what}`, 'findProxy', {
		serviceMessage: `${ids}${place}`,
		isServiceForm: true,
		outcomeUnknown: asked === undefined,
	});
}

/**
 * Queries the status of a task: `POST /v1/videos/tasks` (spec 2.10). Free of charge and idempotent.
 *
 * @param idleTimeoutMs Milliseconds without a byte after which the query fails.
 * @throws ServiceError `http` for an error status (spec 7.2), `network` when the connection fails, `protocol` when the
 *   response has neither a status nor a URL nor an error, or is about another task or about several.
 */
export async function queryTask(
	http: HttpPort,
	taskId: string,
	idleTimeoutMs: number,
): Promise<TaskReport> {
	const path = '/v1/videos/tasks';
	const sent = postVideo(http, path, { task_id: taskId }, idleTimeoutMs);
	const answer = await sent.catch((error: unknown) => {
		const isLate = error instanceof ServiceError && error.kind === 'deadline';
		// No option limits it.
		const message = 'The service took too long to answer a status poll';
		throw isLate ? error.with({}, { message, advice: ['tryLater'] }) : error;
	});
	return readReport(answer, taskId);
}

/** Reads what the service says about the task that it was asked for. */
function readReport(answer: JsonObject, taskId: string): TaskReport {
	const body = taskIn(answer, taskId);
	const status = fieldText(body['status']);
	if (status === '' && !hasVideo(body)) throw bodyError('video', bounded(answer, TASK_FIELDS));
	return { ...body, task_id: taskId, status: shorten(status || 'completed', MAX_STATUS) };
}

/** The fields of a task within bounds. A data: URL is as long as its file. */
function boundedTask(task: JsonObject): JsonObject {
	const read = mapValues(task, (value, name) => (FILES.includes(name) ? urlIn(value) : value));
	const isFile = (name: string) => isDataUrl(String(read[name]));
	return mapValues(bounded(read, TASK_FIELDS), (value, name) =>
		FILES.includes(name) && isFile(name) ? read[name] : value,
	);
}

/**
 * Sends a request about a video, and reads its response.
 *
 * @throws ServiceError As `send` and `readJsonObject`.
 */
async function postVideo(
	http: HttpPort,
	path: string,
	body: JsonObject,
	idleTimeoutMs: number,
): Promise<JsonObject> {
	const response = await send(http, 'video', { method: 'POST', path, body, idleTimeoutMs });
	return await readJsonObject(response);
}

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
function urlIn(value: JsonValue | undefined): JsonValue | undefined {
	if (Array.isArray(value)) return value.length === 1 ? urlIn(value[0]) : value;
	return isJsonObject(value) && typeof value['url'] === 'string' ? value['url'] : value;
}

/** Fields that gateways wrap the answer of a service into. */
const WRAPPERS = ['data', 'result', 'output'] as const;
/** Wrappers within one another. */
const MAX_WRAPPERS = 3;
/** Fields that name a task. With the first one the others are about something else, such as the request. */
const TASK_IDS = ['task_id', 'taskId', 'id'] as const;

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
