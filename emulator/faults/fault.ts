/**
 * Which requests get a fault: `path` is the beginning of theirs, `contains` a part of the JSON body; `skip` of them (default 0)
 * are left alone first, and `count` (default 1) get it. An omitted field matches every request.
 */
type FaultSchedule = Readonly<
	Partial<Record<'path' | 'method' | 'contains', string> & Record<'skip' | 'count', number>>
>;

/** Position in a response body: after a number of stream events, or of bytes. Default: the beginning. */
export type BodyPosition = Readonly<Partial<Record<'afterEvents' | 'afterBytes', number>>>;

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
