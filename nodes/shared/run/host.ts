import {
	sleep,
	type ICredentialsDecrypted,
	type IHttpRequestOptions,
	type IN8nHttpFullResponse,
} from 'n8n-workflow';

import { normalizeBaseUrl } from '../../client/http/baseUrl';
import type { Clock, HttpPort } from '../../client/ports';
import { isPrivateUrl } from '../../client/http/publicUrl';
import { canceledError } from '../../client/http/transportError';
import { CREDENTIAL } from './nodeContext';
import type { NodeContext } from './nodeContext';

/** The `sleep` of an older n8n cannot be interrupted, so a sleep is cut into slices of this length. */
const SLEEP_SLICE_MS = 1_000;
/** Tolerance: the idle timer of the socket starts slightly before our last read. */
const IDLE_TOLERANCE = 0.95;

/** The service behind the credential. */
export interface Service {
	readonly http: HttpPort;
	/** Whether it is on a private network, so that private addresses are allowed in what it is sent. */
	readonly isPrivate: boolean;
}

/** One service per node context, that is per run of a node. */
const services = new WeakMap<NodeContext, Promise<Service>>();

/**
 * The service behind the credential, shared by all items of a run. The credential is read once per run, because n8n
 * would load and decrypt it for every request. Its expressions are evaluated for the first item.
 *
 * @throws InputError when the credential's base URL is missing or malformed.
 */
export async function n8nService(context: NodeContext): Promise<Service> {
	const known = services.get(context);
	if (known !== undefined) return await known;

	const service = readService(context);
	services.set(context, service);
	return await service;
}

async function readService(context: NodeContext): Promise<Service> {
	const data = await context.getCredentials<{ baseUrl?: string }>(CREDENTIAL, 0);
	const baseUrl = normalizeBaseUrl(data.baseUrl);
	const credential = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
	return { http: n8nHttp(context, baseUrl, credential), isPrivate: isPrivateUrl(baseUrl) };
}

/**
 * The client's HTTP port over n8n's own request helper, which adds the credential's key.
 *
 * n8n's helper applies the proxy, TLS and SSRF settings of the instance, and stops with the execution. Every status
 * resolves and every body is a stream, because n8n otherwise drops error bodies and Retry-After.
 */
function n8nHttp(
	context: NodeContext,
	baseURL: string,
	credentialsDecrypted: ICredentialsDecrypted,
): HttpPort {
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
			// On a stream this is an idle timeout, not a limit on the whole call.
			timeout: idleTimeoutMs,
			// n8n's default sends the key to any host that the service redirects to.
			sendCredentialsOnCrossOriginRedirect: false,
		};
		const response = (await context.helpers.httpRequestWithAuthentication.call(
			context,
			CREDENTIAL,
			options,
			{ credentialsDecrypted },
		)) as IN8nHttpFullResponse;
		return {
			status: response.statusCode,
			headers: response.headers as Record<string, string | undefined>,
			body: withIdleTimeout(
				// `encoding: 'stream'` makes it a stream; n8n's type does not follow the option.
				response.body as unknown as AsyncIterable<Uint8Array>,
				idleTimeoutMs,
			),
		};
	};
}

/** n8n reports an idle timeout as a lost connection; only the elapsed time tells them apart. */
async function* withIdleTimeout(
	body: AsyncIterable<Uint8Array>,
	idleTimeoutMs: number,
): AsyncGenerator<Uint8Array> {
	let lastReadAtMs = performance.now();
	try {
		for await (const chunk of body) {
			lastReadAtMs = performance.now();
			yield chunk;
		}
	} catch (error) {
		const isIdleTimeout = performance.now() - lastReadAtMs >= idleTimeoutMs * IDLE_TOLERANCE;
		throw isIdleTimeout ? idleTimeoutError(error) : error;
	}
}

function idleTimeoutError(cause: unknown): Error {
	return Object.assign(new Error('Idle timeout', { cause }), { code: 'ETIMEDOUT' });
}

/**
 * The client's clock: real time, with a sleep that rejects when the execution is canceled. It is monotonic: it starts at
 * the wall-clock time and then ignores adjustments of the wall clock, which would end or prolong a wait.
 */
export function n8nClock(context: NodeContext): Clock {
	const signal = context.getExecutionCancelSignal();
	const startMs = Date.now() - performance.now();

	return {
		now: () => Math.round(startMs + performance.now()),
		random: Math.random,
		async sleep(ms) {
			const endMs = performance.now() + ms;
			for (let leftMs = ms; leftMs > 0; leftMs = Math.ceil(endMs - performance.now())) {
				await sleep(Math.min(leftMs, SLEEP_SLICE_MS), signal).catch(() => undefined);
				if (signal?.aborted) throw canceledError();
			}
		},
	};
}
