/** Request matcher of a fault. An omitted field matches every request. */
export interface FaultMatch {
	/** Prefix of the path, for example `/v1/videos/tasks` or `/cdn/`. */
	readonly path?: string;
	readonly method?: string;
	/** Substring of the JSON body. */
	readonly contains?: string;
}

interface FaultSchedule extends FaultMatch {
	/** Number of matching requests that are left alone first. Default 0. */
	readonly skip?: number;
	/** Number of matching requests that get the fault. Default 1. */
	readonly count?: number;
}

/** Position in a response body: after a number of stream events, or of bytes. Default: the beginning. */
export interface BodyPosition {
	readonly afterEvents?: number;
	readonly afterBytes?: number;
}

/** Fault that replaces or delays the whole response. */
export type ResponseFault =
	/** Normal response after a delay. */
	| { readonly kind: 'delay'; readonly ms: number }
	/** Normal response, but the request waits until the faults are cleared; also after its client has gone. */
	| { readonly kind: 'hold' }
	/** Another status. A string `body` is sent as text, any other as JSON; default: the error body. */
	| {
			readonly kind: 'status';
			readonly status: number;
			readonly body?: unknown;
			readonly headers?: Readonly<Record<string, string>>;
	  }
	/** 429 with `Retry-After` in seconds, or as an HTTP date. */
	| { readonly kind: 'rateLimit'; readonly retryAfterSeconds: number; readonly asDate?: boolean }
	/** HTML error page of a gateway. Default status 502. */
	| { readonly kind: 'html'; readonly status?: number }
	/** Redirect. Default status 302. */
	| { readonly kind: 'redirect'; readonly location: string; readonly status?: number }
	/** Connection reset before the headers. */
	| { readonly kind: 'reset' }
	/** No response; the connection stays open. */
	| { readonly kind: 'stall' };

/** Fault in the body of an otherwise normal response. */
export type BodyFault =
	/** Connection reset at the position, with the headers sent. */
	| ({ readonly kind: 'resetBody' } & BodyPosition)
	/** Connection closed at the position: a truncated body. */
	| ({ readonly kind: 'cut' } & BodyPosition)
	/** Nothing is sent from the position on; the connection stays open. */
	| ({ readonly kind: 'stallBody' } & BodyPosition)
	/** Nothing of the body is sent until the faults are cleared. */
	| { readonly kind: 'holdBody' }
	/** Body sent in pieces of `bytes` bytes. Default 1. */
	| { readonly kind: 'split'; readonly bytes?: number }
	/** Invalid UTF-8 inserted at the position. */
	| ({ readonly kind: 'garbage' } & BodyPosition)
	/** Text inserted at the position, such as a comment or an event. */
	| ({ readonly kind: 'insert'; readonly text: string } & BodyPosition)
	/** Stream ended at the position by an event with the service's error body. */
	| ({ readonly kind: 'errorEvent'; readonly message?: string } & BodyPosition)
	/** Stream without `[DONE]`. */
	| { readonly kind: 'missingDone' }
	/** The event with this number (from 1) sent twice. Default 1. */
	| { readonly kind: 'duplicate'; readonly event?: number }
	/** Fields of a JSON body overwritten: `{ status: 'paused' }`. */
	| { readonly kind: 'set'; readonly fields: Readonly<Record<string, unknown>> }
	/** Another `Content-Type`. */
	| { readonly kind: 'contentType'; readonly type: string };

/** Fault to inject: which requests get it, and what happens to them. */
export type Fault = FaultSchedule & (ResponseFault | BodyFault);
