import type { IHttpRequestOptions } from 'n8n-workflow';

import { InputError, ServiceError } from '../../client/errors';
import type { HttpPort, HttpRequest } from '../../client/ports';
import { isPrivateUrl, knownHosts } from '../../client/http/publicUrl';
import { nodeOf, sleepSlice } from '../engine/context';
import { requestWithCredential, ssrfErrorName, streamOf } from '../engine/request';
import { workflowOf } from '../engine/workflow';
import { accountOf, readCredential } from './credential';
import { isToolTooLate, stopOnError } from '../engine/runs';
import { checkNames } from './names';
import { CREDENTIAL, type NodeContext } from './nodeContext';
import { unevaluatedText } from './parameters';
import { deadlineError } from '../../client/http/failures';

/** The service behind the credential. */
export type Service = ReturnType<typeof serviceOf>;

/** The error about a tool whose result its agent would not get. */
const LEGACY_ORDER = [
	'Execution Logic',
	'is v0 (legacy), in which n8n gives the agent no result of a tool',
	'Nothing was sent. Open the Settings in the menu of the workflow, and set Execution Logic (in older versions Execution Order) to v1',
] as const;

/**
 * Reads the node: the names of its parameters, and its credential, whose expressions are evaluated for the first item.
 *
 * @returns `mistake`: a text that was meant as an expression, see `unevaluatedText`.
 * @throws InputError when a name is unknown, or the credential has a missing or malformed value, see `readCredential`; or for
 *   a tool whose result nobody would get.
 */
export async function readNode(context: NodeContext) {
	if (isToolTooLate(context)) {
		// n8n passes over the errors of tools.
		stopOnError(context);
		throw new InputError(...LEGACY_ORDER);
	}
	const { name, parameters } = nodeOf(context);
	const properties = workflowOf(context).descriptionOf(name)?.properties ?? [];
	checkNames(parameters, properties);
	const data = await context.getCredentials(CREDENTIAL, 0);
	return {
		data,
		credential: readCredential(data),
		mistake: unevaluatedText(parameters, properties),
	};
}

/** What was read of a node. It has the API key: keep it in memory alone. */
export type Reading = Awaited<ReturnType<typeof readNode>>;

/** The service behind a credential, shared by all items of a run. */
export function serviceOf(http: HttpPort, { credential }: Reading) {
	const { baseUrl, hasApp, fileHosts, mask, keys } = credential;
	return {
		http,
		baseUrl,
		/** Whether it is on a private network, so that private addresses are allowed in what it is sent. */
		get isPrivate() {
			return isPrivateUrl(baseUrl);
		},
		/** Whether a URL is one of the service, or of a host that the credential names. */
		isKnown: knownHosts(baseUrl, fileHosts),
		/** Whether the key ends with the app code of every chat (spec 4). */
		hasApp,
		/** Hides secrets in errors, hints and logs. */
		mask,
		/** The API key, and everything that may be one in it, the longest first: no visitor reads them. */
		keys,
		/** The name of the account, see `accountOf`. */
		get account() {
			return accountOf(credential);
		},
	};
}

/**
 * The client's HTTP port over n8n's own request helper, which adds the credential's key. The extra headers are
 * added here: in other nodes, which can use the credential for any URL, they stay out.
 *
 * n8n's helper applies the proxy, TLS and SSRF settings of the instance, and stops with the execution. Every status
 * resolves and every body is a stream, because n8n otherwise drops error bodies and Retry-After.
 */
export function n8nHttp(context: NodeContext, { data, credential }: Reading): HttpPort {
	const { baseUrl: baseURL, headers: extraHeaders } = credential;
	const decrypted = { type: CREDENTIAL, data };
	const canceled = context.getExecutionCancelSignal();
	return async (request) => {
		const { method, path, body, idleTimeoutMs } = request;
		const watch = watchRequest(request, canceled);

		const options = {
			method,
			baseURL,
			url: path.replace('/v1', ''),
			headers: { ...extraHeaders },
			body,
			json: true,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			timeout: idleTimeoutMs,
			abortSignal: watch.signal,
			// A redirect would take the body, and within a domain the key, to another host.
			disableFollowRedirect: true,
		} satisfies IHttpRequestOptions;
		try {
			const response = await requestWithCredential(context, decrypted, options);
			watch.touch();
			return {
				status: response.statusCode,
				headers: response.headers as Record<string, string | undefined>,
				body: watch.read(streamOf(response)),
			};
		} catch (error) {
			watch.end();
			throw blocked(error) ?? watch.explain(error);
		}
	};
}

/** The error for an address that n8n's rules forbid (SSRF protection). */
export function blocked(error: unknown): ServiceError | undefined {
	const code = ssrfErrorName(error);
	if (code === undefined) return undefined;
	const details = { code, retryable: false, outcomeUnknown: false, cause: error };
	const advice = 'Check the Base URL, or allow the host in N8N_SSRF_ALLOWED_HOSTNAMES of n8n';
	return new ServiceError('network', 'n8n does not open this address', advice, details);
}

/** Idle time that is this much shorter than its limit still counts as such: by default both limits are equal. */
const TIE_MS = 500;

/**
 * Ends a request when the execution is canceled, at its deadline, or after the idle timeout. That of axios ends with the
 * headers, as no redirect is followed.
 *
 * @param canceled The signal of the execution.
 */
export function watchRequest(
	{ idleTimeoutMs, deadline }: Pick<HttpRequest, 'idleTimeoutMs' | 'deadline'>,
	canceled: AbortSignal | undefined,
) {
	const request = new AbortController();
	const done = new AbortController();
	let lastReadAtMs = performance.now();

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
	canceled?.addEventListener('abort', cancel, { signal: done.signal });
	if (canceled?.aborted) cancel();

	// Without a reason an error with a stack trace would be made for each request.
	const end = () => {
		done.abort('done');
	};
	const watched = {
		/** Aborted when the request has to end. */
		signal: request.signal,
		/** Restarts the idle timeout: data has arrived. */
		touch() {
			lastReadAtMs = performance.now();
		},
		/** The error to report for one of the request: it may have been ended by this watch. */
		explain(error: unknown): unknown {
			if (canceled?.aborted || !request.signal.aborted) return error;
			const idleMs = performance.now() - lastReadAtMs;
			if (deadline && idleMs < idleTimeoutMs - TIE_MS) return deadlineError(deadline);
			return Object.assign(new Error('Idle timeout', { cause: error }), {
				code: 'ETIMEDOUT',
			});
		},
		/** Ends the watch. Call it however the request ends. */
		end,
		/** Ends the request, too. */
		close() {
			end();
			cancel();
		},
		/** The bytes of a body. The watch ends with them: what stores them may take its time after that. */
		async *read(body: unknown): AsyncGenerator<Uint8Array> {
			try {
				for await (const chunk of body as AsyncIterable<Uint8Array>) {
					yield chunk;
					watched.touch();
				}
			} catch (error) {
				throw watched.explain(error);
			} finally {
				end();
			}
		},
	};
	return watched;
}
