import { isCanceled, isOutcomeUnknown, ServiceError } from '../errors';
import { readJsonObject, send, unexpectedResponse } from '../http/request';
import { asJson, fromJson, withoutUndefined } from '../json';
import type { HttpPort } from '../ports';

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

/** A task as the service accepted it (spec 2.9). */
export interface CreatedTask {
	readonly task_id: string;
	readonly status: string;
	/** Code of the model that the service used. */
	readonly model: string;
	readonly created_at: string | number | null;
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
		const response = await send(http, 'video', {
			method: 'POST',
			path: '/v1/videos/generations',
			body: asJson(withoutUndefined(request)),
			idleTimeoutMs,
		});
		const body = await readJsonObject(response);
		const { task_id: taskId } = body;
		if (typeof taskId !== 'string' || taskId === '')
			throw unexpectedResponse(JSON.stringify(body));
		return fromJson<CreatedTask>({ created_at: null, ...body });
	} catch (error) {
		throw mayHaveCreated(error) ? withOutcomeUnknown(error) : error;
	}
}

/** A canceled request may have reached the service, like one whose connection broke. */
function mayHaveCreated(error: unknown): error is ServiceError {
	return error instanceof ServiceError && (isCanceled(error) || isOutcomeUnknown(error));
}

function withOutcomeUnknown({ kind, message, hint, details }: ServiceError): ServiceError {
	return new ServiceError(
		kind,
		`${message}; the task may have been created`,
		`${hint}. First check whether the service has the task`,
		{ ...details, outcomeUnknown: true },
	);
}
