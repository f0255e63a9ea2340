import type {
	BinaryHelperFunctions,
	IBinaryData,
	IExecuteFunctions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';

import { ServiceError } from '../client/errors';
import { transportError } from '../client/transportError';

type Readable = Exclude<Parameters<BinaryHelperFunctions['prepareBinaryData']>[0], Buffer>;

/** Milliseconds without a byte after which a download is given up. */
const IDLE_TIMEOUT_MS = 60_000;

export interface Download {
	readonly url: string;
	readonly fileName: string;
	/** Media type where the host declares none. */
	readonly mimeType: string;
	/** What an error must name, so that it is not lost: the task id, the address. */
	readonly subject: Readonly<Record<string, string>>;
}

/**
 * Streams a finished file into n8n's binary store. The file lies on another host than the service: the key stays here.
 *
 * @throws ServiceError when the file cannot be had, with `subject` in its details.
 */
export async function downloadFile(
	context: IExecuteFunctions,
	{ url, fileName, mimeType, subject }: Download,
): Promise<IBinaryData> {
	try {
		const { statusCode, headers, body } = (await context.helpers.httpRequest({
			method: 'GET',
			url,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			timeout: IDLE_TIMEOUT_MS,
		})) as IN8nHttpFullResponse;
		const stream = body as unknown as Readable;
		if (statusCode !== 200) {
			stream.destroy();
			throw notThere(statusCode);
		}
		const declared = String(headers['content-type'] ?? '')
			.split(';')[0]!
			.trim();
		return await context.helpers.prepareBinaryData(stream, fileName, declared || mimeType);
	} catch (error) {
		throw toDownloadError(error).with({ subject });
	}
}

function notThere(status: number): ServiceError {
	return new ServiceError(
		'refused',
		'The finished file could not be downloaded',
		'The video exists: open its URL, or run this node again with the same task ID',
		{ status, transient: status === 429 || status >= 500 },
	);
}

function toDownloadError(error: unknown): ServiceError {
	const { details, kind } = transportError(error);
	if (error instanceof ServiceError) return error;
	return new ServiceError(
		kind,
		'The download of the finished file broke off',
		'The video exists: open its URL, or run this node again with the same task ID',
		details,
	);
}
