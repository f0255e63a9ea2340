import type { JsonObject } from './json';

/** A request to the service. */
export interface HttpRequest {
	readonly method: 'POST';
	/** Path of the endpoint: `/v1/chat/completions`. The base URL may have another version than `/v1`, which then counts. */
	readonly path: string;
	readonly body: JsonObject;
	/** Idle timeout: milliseconds without a byte, before or within the response, until the request is aborted. */
	readonly idleTimeoutMs: number;
	/** Total timeout of the call that the request belongs to. The port aborts the request, or the reading of its response. */
	readonly deadline?: Deadline;
}

/** Total timeout of a call, which may send several requests. */
export interface Deadline {
	/** How long the call may take, in milliseconds. */
	readonly limitMs: number;
	/** How much of that is left, in milliseconds. */
	leftMs(): number;
}

/** A response of any status, its body unread. */
export interface HttpResponse {
	readonly status: number;
	/** By lower-case name. */
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends one authenticated request to the service.
 *
 * Resolves for every status, with the body unread. Rejects when no response arrives. Reading the body rejects when the
 * connection breaks. Returning early from reading the body closes the connection.
 */
export type HttpPort = (request: HttpRequest) => Promise<HttpResponse>;

/** Time and randomness, injected so that tests run in virtual time. */
export interface Clock {
	/** Milliseconds on a clock that nobody sets: for durations. What is stored has times of the wall clock. */
	now(): number;
	/** Rejects when the execution is canceled. Resolves early when `end` is aborted. */
	sleep(ms: number, end?: AbortSignal): Promise<void>;
	/** At least 0, less than 1. */
	random(): number;
}
