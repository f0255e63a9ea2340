import { sleep, type IHttpRequestOptions, type IN8nHttpFullResponse } from 'n8n-workflow';

import { normalizeBaseUrl } from '../client/baseUrl';
import type { Clock, HttpPort } from '../client/ports';
import { isPrivateUrl } from '../client/publicUrl';
import { cancelledError } from '../client/transportError';
import { CREDENTIAL } from './names';
import type { NodeContext } from './nodeContext';

/** Older n8n has a `sleep` that cannot be interrupted: no nap is longer than this. */
const NAP_MS = 1_000;

/** The service that an item talks to. */
export interface Service {
	readonly http: HttpPort;
	/** Whether it is on a private network, and so reaches what else is there. */
	readonly isPrivate: boolean;
}

/**
 * The service behind the item's credential.
 *
 * @throws InputError when the credential's base URL is missing or malformed.
 */
export async function n8nService(context: NodeContext, itemIndex: number): Promise<Service> {
	const { baseUrl } = await context.getCredentials<{ baseUrl?: string }>(CREDENTIAL, itemIndex);
	const normalized = normalizeBaseUrl(baseUrl);
	return { http: n8nHttp(context, normalized), isPrivate: isPrivateUrl(normalized) };
}

/**
 * The client's HTTP port over n8n's own request helper, which adds the credential's key.
 *
 * n8n's helper brings the instance's proxy, TLS and address rules, and stops with the execution. Every
 * status resolves and every body is a stream, because n8n otherwise drops error bodies and Retry-After.
 */
function n8nHttp(context: NodeContext, baseURL: string): HttpPort {
	return async ({ method, path, body, idleTimeoutMs }) => {
		const options: IHttpRequestOptions = {
			method,
			baseURL,
			url: path,
			body,
			json: true,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			// On a stream n8n counts silence, not the whole time.
			timeout: idleTimeoutMs,
			// n8n's default would carry the key to any host that the service redirects to.
			sendCredentialsOnCrossOriginRedirect: false,
		};
		const response = (await context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			options,
		)) as IN8nHttpFullResponse;
		return {
			status: response.statusCode,
			headers: response.headers as Record<string, string | undefined>,
			body: response.body as unknown as AsyncIterable<Uint8Array>,
		};
	};
}

/** The client's clock: real time, and naps that end when the execution is cancelled. */
export function n8nClock(context: NodeContext): Clock {
	const signal = context.getExecutionCancelSignal();

	return {
		now: Date.now,
		random: Math.random,
		async sleep(ms) {
			const endMs = Date.now() + ms;
			for (let leftMs = ms; leftMs > 0; leftMs = endMs - Date.now()) {
				await sleep(Math.min(leftMs, NAP_MS), signal).catch(() => undefined);
				if (signal?.aborted) throw cancelledError();
			}
		},
	};
}
