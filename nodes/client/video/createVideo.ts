import { isCanceled, isOutcomeUnknown, ServiceError } from '../errors';
import { bodyError } from '../http/request';
import { asJson, fromJson, withoutUndefined } from '../json';
import type { HttpPort } from '../ports';
import { ofService, postVideo } from './queryTask';

/** Body of a creation request (spec 2.8). */
export interface VideoRequest {
	readonly prompt: string;
	readonly model: string;
	/** Public URLs; in `first_last_frame` mode first the first frame, then the last. */
	readonly images?: readonly string[];
	readonly videos?: readonly string[];
	readonly audios?: readonly string[];
	readonly size?: string;
	readonly aspect_ratio?: string;
	/** Seconds. */
	readonly duration?: number;
	readonly mode?: string;
	readonly image_mode?: string;
	readonly generate_audio?: boolean;
	readonly watermark?: boolean;
}

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
		const body = await postVideo(http, path, asJson(request), idleTimeoutMs);
		const { task_id: id } = body;
		// A number in place of the text that the specification promises identifies the video as well. Wait for Video trims the
		// ID of its item, and then looks for the row of the task with it.
		const taskId = ['string', 'number'].includes(typeof id) ? String(id).trim() : '';
		if (taskId === '' || taskId.length > MAX_ID) {
			const error = bodyError('video', body);
			// One that names no status does not say whether there is a task.
			throw error.details.status === undefined ? error.with({ outcomeUnknown: true }) : error;
		}
		const createdAt = body['created_at'] ?? undefined;
		return fromJson<CreatedTask>(
			withoutUndefined({ ...ofService(body), task_id: taskId, created_at: createdAt }),
		);
	} catch (error) {
		// A canceled request may have reached the service, like one whose connection broke.
		const mayHaveCreated = isCanceled(error) || isOutcomeUnknown(error);
		throw mayHaveCreated ? withOutcomeUnknown(error as ServiceError) : error;
	}
}

function withOutcomeUnknown({ kind, message, advice, details }: ServiceError): ServiceError {
	return new ServiceError(
		kind,
		`${message}; the task may have been created`,
		[...advice, 'checkTask'],
		{ ...details, outcomeUnknown: true },
	);
}
