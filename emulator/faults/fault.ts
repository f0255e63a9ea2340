/** Which requests a fault meets. What is left out matches everything. */
export interface FaultMatch {
	/** The beginning of the path, for example `/v1/videos/tasks` or `/cdn/`. */
	readonly path?: string;
	readonly method?: string;
	/** A text somewhere in the body's JSON. */
	readonly contains?: string;
}

interface Timing extends FaultMatch {
	/** How many matching requests pass unharmed first. Default 0. */
	readonly skip?: number;
	/** How many matching requests it meets. Default 1. */
	readonly count?: number;
}

/** Where in an answer a fault strikes: after so many events of a stream, or after so many bytes. */
export interface Place {
	readonly afterEvents?: number;
	readonly afterBytes?: number;
}

/** What goes wrong instead of an answer, or before it. */
export type AnswerFault =
	/** Waits and then answers as usual. */
	| { readonly kind: 'delay'; readonly ms: number }
	/** Another status; the body is JSON, or text when it is a string. */
	| {
			readonly kind: 'status';
			readonly status: number;
			readonly body?: unknown;
			readonly headers?: Readonly<Record<string, string>>;
	  }
	/** 429 with Retry-After in seconds, or as the HTTP date that many seconds ahead. */
	| { readonly kind: 'rateLimit'; readonly retryAfterSeconds: number; readonly asDate?: boolean }
	/** The HTML error page of a gateway, 502 unless told otherwise. */
	| { readonly kind: 'html'; readonly status?: number }
	/** 302, or another status, to another address. */
	| { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
	/** The connection is reset before any header is sent. */
	| { readonly kind: 'reset' }
	/** Nothing is ever sent, and the connection stays open. */
	| { readonly kind: 'stall' };

/** What goes wrong in the body of an answer that is otherwise as usual. */
export type BodyFault =
	/** The headers go out, then the connection is reset; later with a place. */
	| ({ readonly kind: 'resetBody' } & Place)
	/** The connection is closed in the middle. */
	| ({ readonly kind: 'cut' } & Place)
	/** The connection stays open, and nothing more is sent. */
	| ({ readonly kind: 'stallBody' } & Place)
	/** The body goes out in pieces of so many bytes, one by one. */
	| { readonly kind: 'split'; readonly bytes?: number }
	/** Bytes that are no text stand in the body. */
	| ({ readonly kind: 'garbage' } & Place)
	/** Any text stands in the body: a comment, an event of one's own. */
	| ({ readonly kind: 'insert'; readonly text: string } & Place)
	/** The stream ends with an event that holds the service's error body. */
	| ({ readonly kind: 'errorEvent'; readonly message?: string } & Place)
	/** The stream ends without `[DONE]`. */
	| { readonly kind: 'missingDone' }
	/** The event of this number, from 1, is sent twice. */
	| { readonly kind: 'duplicate'; readonly event?: number }
	/** Fields of a JSON body get other values: `{ status: 'paused' }`. */
	| { readonly kind: 'set'; readonly fields: Readonly<Record<string, unknown>> }
	/** The body says it is something else. */
	| { readonly kind: 'contentType'; readonly type: string };

/** Something that goes wrong on demand. */
export type Fault = Timing & (AnswerFault | BodyFault);
