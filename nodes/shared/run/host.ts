import {
	sleep,
	type ICredentialsDecrypted,
	type IHttpRequestOptions,
	type IN8nHttpFullResponse,
} from 'n8n-workflow';

import { normalizeBaseUrl } from '../../client/http/baseUrl';
import type { Clock, HttpPort } from '../../client/ports';
import { isPrivateUrl } from '../../client/http/publicUrl';
import { cancelledError } from '../../client/http/transportError';
import { CREDENTIAL } from './nodeContext';
import type { NodeContext } from './nodeContext';

/** Older n8n has a `sleep` that cannot be interrupted: no nap is longer than this. */
const SLEEP_SLICE_MS = 1_000;
/** Silence begins a little earlier on the connection than where its last bytes are read. */
const IDLE_TOLERANCE = 0.95;

/** The service that an item talks to. */
export interface Service {
	readonly http: HttpPort;
	/** Whether it is on a private network, and so reaches what else is there. */
	readonly isPrivate: boolean;
}

/** By what n8n hands to a node for one run of it. */
const services = new WeakMap<NodeContext, Promise<Service>>();

/**
 * The service behind the credential, the same for all items of a run. The credential is read once: n8n would get it from
 * its database and decrypt it anew for every request. An expression in it sees the first item.
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
 * n8n's helper brings the instance's proxy, TLS and address rules, and stops with the execution. Every
 * status resolves and every body is a stream, because n8n otherwise drops error bodies and Retry-After.
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
			// On a stream n8n counts idleTimeoutError, not the whole time.
			timeout: idleTimeoutMs,
			// n8n's default would carry the key to any host that the service redirects to.
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
				response.body as unknown as AsyncIterable<Uint8Array>,
				idleTimeoutMs,
			),
		};
	};
}

/** n8n ends a silent connection with the error of a broken one: only the time tells them apart. */
async function* withIdleTimeout(
	body: AsyncIterable<Uint8Array>,
	idleTimeoutMs: number,
): AsyncGenerator<Uint8Array> {
	let heardAtMs = performance.now();
	try {
		for await (const chunk of body) {
			heardAtMs = performance.now();
			yield chunk;
		}
	} catch (error) {
		const isSilence = performance.now() - heardAtMs >= idleTimeoutMs * IDLE_TOLERANCE;
		throw isSilence ? idleTimeoutError(error) : error;
	}
}

function idleTimeoutError(cause: unknown): Error {
	return Object.assign(new Error('Silence', { cause }), { code: 'ETIMEDOUT' });
}

/**
 * The client's clock: real time, and naps that end when the execution is cancelled. It starts with the clock on the wall
 * and goes on by itself, so that setting that one, by a person or over the network, neither ends nor prolongs a wait.
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
				if (signal?.aborted) throw cancelledError();
			}
		},
	};
}
