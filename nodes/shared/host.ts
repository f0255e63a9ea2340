import { sleep, type IHttpRequestOptions, type IN8nHttpFullResponse } from 'n8n-workflow';

import { normalizeBaseUrl } from '../client/baseUrl';
import type { Clock, HttpPort } from '../client/ports';
import { isPrivateUrl } from '../client/publicUrl';
import { cancelledError } from '../client/transportError';
import { CREDENTIAL } from './names';
import type { NodeContext } from './nodeContext';

/** Older n8n has a `sleep` that cannot be interrupted: no nap is longer than this. */
const NAP_MS = 1_000;
/** Silence begins a little earlier on the connection than where its last bytes are read. */
const NEARLY = 0.95;

/** The service that an item talks to. */
export interface Service {
	readonly http: HttpPort;
	/** Whether it is on a private network, and so reaches what else is there. */
	readonly isPrivate: boolean;
}

/** n8n reads a credential from its database and decrypts it each time, which costs more than all else that an item needs. */
const services = new WeakMap<NodeContext, Promise<Service>>();

/**
 * The service behind the credential, the same for all items of an execution. An expression in the credential sees the
 * first item: n8n's request helper reads the key so, and a key must not go to another item's address.
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
	const { baseUrl } = await context.getCredentials<{ baseUrl?: string }>(CREDENTIAL, 0);
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
			body: untilSilence(
				response.body as unknown as AsyncIterable<Uint8Array>,
				idleTimeoutMs,
			),
		};
	};
}

/** n8n ends a silent connection with the error of a broken one: only the time tells them apart. */
async function* untilSilence(
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
		const isSilence = performance.now() - heardAtMs >= idleTimeoutMs * NEARLY;
		throw isSilence ? silence(error) : error;
	}
}

function silence(cause: unknown): Error {
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
				await sleep(Math.min(leftMs, NAP_MS), signal).catch(() => undefined);
				if (signal?.aborted) throw cancelledError();
			}
		},
	};
}
