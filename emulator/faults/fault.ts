/** Which requests get a fault. An omitted field matches every request. */
interface FaultSchedule {
	/** Prefix of the path, for example `/v1/videos/tasks` or `/cdn/`. */
	readonly path?: string;
	readonly method?: string;
	/** Substring of the JSON body. */
	readonly contains?: string;
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

/** Fields of the faults that replace or delay the whole response. `script.schema.json` says what each kind does. */
export interface ResponseFaults {
	delay: { readonly ms: number };
	hold: object;
	status: {
		readonly status: number;
		readonly body?: unknown;
		readonly headers?: Readonly<Record<string, string>>;
	};
	rateLimit: { readonly retryAfterSeconds: number; readonly asDate?: boolean };
	html: { readonly status?: number };
	redirect: { readonly location: string; readonly status?: number };
	reset: object;
	stall: object;
}

/** Fields of the faults in the body of an otherwise normal response. */
export interface BodyFaults {
	resetBody: BodyPosition;
	cut: BodyPosition;
	stallBody: BodyPosition;
	holdBody: object;
	split: { readonly bytes?: number };
	garbage: BodyPosition;
	insert: BodyPosition & { readonly text: string };
	errorEvent: BodyPosition & { readonly message?: string };
	missingDone: object;
	duplicate: { readonly event?: number };
	set: { readonly fields: Readonly<Record<string, unknown>> };
	contentType: { readonly type: string };
}

type Kinds<Faults> = {
	[Kind in keyof Faults]: { readonly kind: Kind } & Faults[Kind];
}[keyof Faults];

/** The effect of each kind of fault. */
export type Handlers<Faults, Target extends readonly unknown[], Result> = {
	readonly [Kind in keyof Faults]: (fault: Faults[Kind], ...target: Target) => Result;
};

export type ResponseFault = Kinds<ResponseFaults>;
export type BodyFault = Kinds<BodyFaults>;

/** Fault to inject: which requests get it, and what happens to them. */
export type Fault = FaultSchedule & (ResponseFault | BodyFault);
