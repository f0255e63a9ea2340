import {
	sleep,
	type ICredentialDataDecryptedObject,
	type IHttpRequestOptions,
	type IN8nHttpFullResponse,
} from 'n8n-workflow';

import type { Clock, HttpPort } from '../../client/ports';
import { isPrivateUrl } from '../../client/http/publicUrl';
import { canceledError, deadlineError } from '../../client/http/transportError';
import { readCredential } from './credential';
import { CREDENTIAL } from './nodeContext';
import type { NodeContext } from './nodeContext';

/** The `sleep` of an older n8n cannot be interrupted, so a sleep is cut into slices of this length. */
const SLEEP_SLICE_MS = 1_000;

/** Idle time that is this much shorter than its limit still counts as such: by default both limits are equal. */
const TIE_MS = 500;

/** The service behind the credential. */
export interface Service {
	readonly http: HttpPort;
	/** Whether it is on a private network, so that private addresses are allowed in what it is sent. */
	readonly isPrivate: boolean;
	/** Whether the key ends with the app code of every chat (spec 4). */
	readonly hasApp: boolean;
}

/** One service per node context, that is per run of a node. */
const services = new WeakMap<NodeContext, Promise<Service>>();

/**
 * The service behind the credential, shared by all items of a run. The credential is read once per run, because n8n
 * would load and decrypt it for every request. Its expressions are evaluated for the first item.
 *
 * @throws InputError when the credential has a missing or malformed value, see `readCredential`.
 */
export async function n8nService(context: NodeContext): Promise<Service> {
	const service = services.get(context) ?? readService(context);
	services.set(context, service);
	return await service;
}

async function readService(context: NodeContext): Promise<Service> {
	const data = await context.getCredentials(CREDENTIAL, 0);
	const { baseUrl, hasApp } = readCredential(data);
	return { http: n8nHttp(context, data), isPrivate: isPrivateUrl(baseUrl), hasApp };
}

/**
 * The client's HTTP port over n8n's own request helper, which adds the credential's key. The extra headers are
 * added here: in other nodes, which can use the credential for any URL, they stay out.
 *
 * n8n's helper applies the proxy, TLS and SSRF settings of the instance, and stops with the execution. Every status
 * resolves and every body is a stream, because n8n otherwise drops error bodies and Retry-After.
 */
function n8nHttp(context: NodeContext, data: ICredentialDataDecryptedObject): HttpPort {
	const { baseUrl: baseURL, headers: extraHeaders, mask } = readCredential(data);
	const credentialsDecrypted = { id: '', name: CREDENTIAL, type: CREDENTIAL, data };
	const canceled = context.getExecutionCancelSignal();
	return async ({ method, path, body, idleTimeoutMs, deadline }) => {
		const request = new AbortController();
		const done = new AbortController();
		let lastReadAtMs = performance.now();

		/** Aborts the request at its deadline or after the idle timeout. That of axios ends with the headers, as no redirect is followed. */
		async function watch(): Promise<void> {
			for (;;) {
				const idleMs = idleTimeoutMs - (performance.now() - lastReadAtMs);
				const leftMs = Math.min(idleMs, deadline?.leftMs() ?? Infinity);
				if (done.signal.aborted) return;
				if (leftMs <= 0) break;
				await sleepSlice(leftMs, done.signal);
			}
			request.abort();
		}
		void watch();

		// Not `AbortSignal.any`: of 10,000 combined signals most memory stays in use until n8n's is collected.
		const cancel = () => {
			request.abort();
		};
		canceled?.addEventListener('abort', cancel);
		if (canceled?.aborted) cancel();

		function end(): void {
			canceled?.removeEventListener('abort', cancel);
			// Without a reason an error with a stack trace would be made for each request.
			done.abort('done');
		}

		function explain(error: unknown): unknown {
			if (canceled?.aborted || !request.signal.aborted) return error;
			const idleMs = performance.now() - lastReadAtMs;
			if (deadline && idleMs < idleTimeoutMs - TIE_MS) return deadlineError(deadline);
			return Object.assign(new Error('Idle timeout', { cause: error }), {
				code: 'ETIMEDOUT',
			});
		}

		async function* read(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
			const masked = mask.body();
			try {
				for await (const chunk of chunks) {
					yield masked.feed(chunk);
					lastReadAtMs = performance.now();
				}
				yield masked.end();
			} catch (error) {
				const explained = explain(error);
				yield masked.end();
				throw explained;
			} finally {
				end();
			}
		}

		const options: IHttpRequestOptions = {
			method,
			baseURL,
			url: path,
			headers: { ...extraHeaders },
			body,
			json: true,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			timeout: idleTimeoutMs,
			abortSignal: request.signal,
			// A redirect would take the body, and within a domain the key, to another host.
			disableFollowRedirect: true,
		};
		try {
			const response = (await context.helpers.httpRequestWithAuthentication.call(
				// n8n replaces the signal of the options with the one of the context.
				Object.create(context, {
					getExecutionCancelSignal: { value: () => request.signal },
				}) as NodeContext,
				CREDENTIAL,
				options,
				{ credentialsDecrypted },
			)) as IN8nHttpFullResponse;
			lastReadAtMs = performance.now();
			const headers = response.headers as Record<string, string | undefined>;
			const { location } = headers;
			return {
				status: response.statusCode,
				headers: { ...headers, ...(location && { location: mask.text(location) }) },
				// `encoding: 'stream'` makes it a stream; n8n's type does not follow the option.
				body: read(response.body as unknown as AsyncIterable<Uint8Array>),
			};
		} catch (error) {
			end();
			throw explain(error);
		}
	};
}

/** Sleeps for a time, at most for the length of a slice. Ends early when the signal is aborted. */
async function sleepSlice(ms: number, end?: AbortSignal): Promise<void> {
	await sleep(Math.min(Math.ceil(ms), SLEEP_SLICE_MS), end).catch(() => undefined);
}

/** One turn of the event loop, see `mapConcurrent`: requests leave and responses are received. */
export async function eventLoopTurn(): Promise<void> {
	await sleep(0);
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
		async sleep(ms, end) {
			const both = end && signal ? AbortSignal.any([end, signal]) : (end ?? signal);
			const endMs = performance.now() + ms;
			for (let leftMs = ms; leftMs > 0; leftMs = endMs - performance.now()) {
				await sleepSlice(leftMs, both);
				if (signal?.aborted) throw canceledError();
				if (end?.aborted) return;
			}
		},
	};
}
