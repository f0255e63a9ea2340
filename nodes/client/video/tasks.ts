import { isCanceled, requestError, ServiceError } from '../errors';
import { bodyError, readJsonObject, send } from '../http/request';
import {
	asJson,
	bounded,
	fromJson,
	shorten,
	withoutUndefined,
	type JsonObject,
	type JsonValue,
} from '../json';
import type { HttpPort } from '../ports';
import type { VideoRequest } from './fields';
import { hasVideo, unwrapped, type TaskReport } from './taskState';

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
 *   response has no task ID; with `outcomeUnknown` where the task may have been created.
 */
export async function createVideo(
	http: HttpPort,
	request: VideoRequest,
	idleTimeoutMs: number,
): Promise<CreatedTask> {
	try {
		const path = '/v1/videos/generations';
		return await postVideo(http, path, asJson(request), idleTimeoutMs, (body) => {
			// A number in place of the text that the specification promises identifies the video as well. Wait for Video trims the
			// ID of its item, and then looks for the row of the task with it.
			const taskId = idText(body['task_id']);
			if (taskId === '' || taskId.length > MAX_ID) {
				throw bodyError('video', body);
			}
			const createdAt = body['created_at'] ?? undefined;
			return fromJson<CreatedTask>(
				withoutUndefined({ ...ofService(body), task_id: taskId, created_at: createdAt }),
			);
		});
	} catch (thrown) {
		const error = requestError(thrown);
		// A canceled request may have reached the service, like one whose connection broke.
		if (error.details.outcomeUnknown !== true && !isCanceled(error)) throw error;
		const message = `${error.message}; the task may have been created`;
		const advice = [...error.advice, 'checkTask'] as const;
		throw error.with({ outcomeUnknown: true }, { message, advice });
	}
}

/** Maximum length of a status word: every change of it is kept. */
const MAX_STATUS = 100;

/** The fields of a task that come first in what is kept (spec 2.9, 2.10). */
const TASK_FIELDS = ['task_id', 'status', 'video_url', 'thumbnail_url', 'error_message'];

/** The fields of an answer. Two names are ours: `reason` marks a failed task, and a host may treat an item with `error` as failed. */
export function ofService<T extends object>(answer: T): T {
	const { reason, error, ...others } = answer as JsonObject;
	return fromJson<T>(
		withoutUndefined({ ...others, service_reason: reason, service_error: error }),
	);
}

/** An ID or a status as text; empty for what is none. */
function idText(id: JsonValue | undefined): string {
	return ['string', 'number'].includes(typeof id) ? String(id).trim() : '';
}

/** Whether an answer is about a task: it names the same one, or none. */
function isAbout(taskId: string, named: JsonValue | undefined): boolean {
	const id = idText(named).toLowerCase();
	return id === '' || id === taskId.trim().toLowerCase();
}

/**
 * Queries the status of a task: `POST /v1/videos/tasks` (spec 2.10). Free of charge and idempotent.
 *
 * @param idleTimeoutMs Milliseconds without a byte after which the query fails.
 * @throws ServiceError `http` for an error status (spec 7.2), `network` when the connection fails, `protocol` when the
 *   response has neither a status nor a URL nor an error, or is about another task.
 */
export async function queryTask(
	http: HttpPort,
	taskId: string,
	idleTimeoutMs: number,
): Promise<TaskReport> {
	const path = '/v1/videos/tasks';
	const read = (body: JsonObject): TaskReport => {
		const status = idText(body['status']);
		if (status === '' && !hasVideo(body)) throw bodyError('video', body);
		if (!isAbout(taskId, body['task_id'])) {
			throw new ServiceError(
				'protocol',
				'The service answered about another task',
				'findMixingProxy',
				{ serviceMessage: JSON.stringify(body), isServiceForm: true },
			);
		}
		return { ...body, task_id: taskId, status: shorten(status || 'completed', MAX_STATUS) };
	};
	return await postVideo(http, path, { task_id: taskId }, idleTimeoutMs, read).catch(
		(error: unknown) => {
			const isLate = error instanceof ServiceError && error.kind === 'deadline';
			// No option limits it.
			const message = 'The service took too long to answer a status poll';
			throw isLate ? error.with({}, { message, advice: ['tryLaterOrContact'] }) : error;
		},
	);
}

/**
 * Sends a request about a video and returns what `read` makes of the body of its response, without wrappers and within bounds.
 *
 * @throws ServiceError As `send` and `readJsonObject`.
 */
async function postVideo<T>(
	http: HttpPort,
	path: string,
	body: JsonObject,
	idleTimeoutMs: number,
	read: (answer: JsonObject) => T,
): Promise<T> {
	const response = await send(http, 'video', { method: 'POST', path, body, idleTimeoutMs });
	return await readJsonObject(response, (sent) =>
		read(bounded(unwrapped(sent, TASK_FIELDS), TASK_FIELDS)),
	);
}
