import type { JsonObject } from './json';

export interface HttpRequest {
	readonly method: 'POST';
	/** Path below the base URL, with a leading slash: `/v1/chat/completions`. */
	readonly path: string;
	readonly body: JsonObject;
	/** Milliseconds without a byte, before or within the response, after which the request is given up. */
	readonly idleTimeoutMs: number;
}

export interface HttpResponse {
	readonly status: number;
	/** Names in lower case. */
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Sends one authenticated request to the service.
 *
 * Resolves for every status, with the body unread. Rejects when no response arrived. Reading the body
 * rejects when the connection breaks. Leaving the body early closes the connection.
 */
export type HttpPort = (request: HttpRequest) => Promise<HttpResponse>;

/** Time and chance, injected so that tests run in virtual time. */
export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Rejects when the execution is cancelled. */
	sleep(ms: number): Promise<void>;
	/** At least 0, below 1. */
	random(): number;
}
