import type { FaultId } from './faults';
import type { OperationId } from './operations';

/** How an operation ends under a fault. */
export interface Ending {
	readonly ends: 'well' | 'badly';
	/** Message of the error. */
	readonly message?: string;
	/** HTTP status of the error. */
	readonly status?: number;
	/** `reason` of the output item, for a node that reports the failure in an item instead of an error. */
	readonly reason?: string;
	/** Number of requests, counted from the first one that the fault affects. */
	readonly requests: number;
	/** Texts that the output or the error must contain. */
	readonly keeps: readonly string[];
	/** Number of requests to the second host. */
	readonly elsewhere?: number;
	/** Duration in fake milliseconds: minimum and maximum. */
	readonly takesMs: readonly [number, number];
}

/** A cell of the matrix: how the operation ends, or why the combination is skipped. */
export type Cell = Ending | { readonly skipped: string };

type Row = Readonly<Record<OperationId, Cell>>;
type More = Partial<
	Pick<Ending, 'status' | 'requests' | 'keeps' | 'takesMs' | 'reason' | 'elsewhere'>
>;

const AT_ONCE = [0, 0] as const;
/** Three polls, after 0, 5 and 12.5 seconds. */
const WAITED = [12_500, 12_500] as const;
const TEN_MINUTES = [600_000, 600_000] as const;

const well = (more: More = {}): Ending => ({
	...{ ends: 'well', requests: 1, keeps: [], takesMs: AT_ONCE },
	...more,
});
const badly = (message: string, more: More = {}): Ending => ({
	...{ ends: 'badly', message, requests: 1, keeps: [], takesMs: AT_ONCE },
	...more,
});
/** A creation whose outcome is unknown: the task may exist. */
const outcomeUnknown = (message: string, more: More = {}): Ending =>
	badly(`${message}; the task may have been created`, {
		...more,
		keeps: ['"outcome_unknown":true', ...(more.keeps ?? [])],
	});
const skipped = (reason: string): Cell => ({ skipped: reason });

/** A failed poll is repeated, so the video arrives. */
const ARRIVES = well({ requests: 3, takesMs: WAITED });
const NOT_FINISHED = 'Not finished after 600 seconds; the task may still complete';

/** One expectation for all operations, except those given in `others`. */
function row(all: Cell, others: Partial<Record<OperationId, Cell>> = {}): Row {
	return {
		chatStreamed: all,
		chat: all,
		agent: all,
		assistantStreamed: all,
		assistant: all,
		createVideo: all,
		waitForVideo: ARRIVES,
		modelStreamed: all,
		model: all,
		...others,
	};
}

/** One expectation for streamed responses, and one for responses in a single body. */
function byForm(
	forms: { readonly streamed: Cell; readonly whole: Cell },
	others: Partial<Row>,
): Row {
	const { streamed, whole } = forms;
	return row(whole, {
		chatStreamed: streamed,
		agent: streamed,
		assistantStreamed: withSession(streamed),
		modelStreamed: streamed,
		...others,
	});
}

/** A streaming Super Assistant reports its session before its text, so the error has both. */
function withSession(cell: Cell): Cell {
	const hasText = 'keeps' in cell && cell.keeps.includes('Half');
	return hasText ? { ...cell, keeps: [...cell.keeps, 'session-1'] } : cell;
}

const HALF = { keeps: ['Half'] };
const OWN_WORDS = { keeps: ['Own words', 'own_type', 'trace-e'] };
const said = (status: number) => ({
	status,
	keeps: [`Own words for ${status}`, `type_${status}`, 'trace-e'],
});

/** The service answers an error status: the node fails without a retry and explains the status (spec 7). */
function errorStatusRow(
	status: number,
	chat: string,
	video = chat,
	others: Partial<Row> = {},
): Row {
	return row(badly(chat, said(status)), {
		createVideo: badly(video, said(status)),
		waitForVideo: badly(`${video}: Own words for ${status}`, {
			reason: 'refused',
			keeps: ['task-1'],
		}),
		...others,
	});
}

/** A status that fails polling too, such as a rejected key; the error has the task ID. */
const stopsWaiting = (message: string, status: number): Ending =>
	badly(message, { ...said(status), keeps: [...said(status).keeps, 'task-1'] });

const BROKE = 'The connection to the service was lost';
const SILENT = 'The service did not respond in time';
const SILENCE_MS = [620_000, 620_000] as const;
const CREATION_SILENCE_MS = [60_000, 60_000] as const;
const LIMIT_REACHED = 'The assistant exceeded the 600-second limit of the service';
const AFTER_SILENCE = well({ requests: 3, takesMs: [42_500, 42_500] });
const NOT_THERE = badly('Could not connect to the service (connection refused)', {
	requests: 3,
	takesMs: [1, 3_000],
});
const NO_NAME = badly('Could not resolve the host name of the service', {
	requests: 3,
	takesMs: [1, 3_000],
});
/** The number of polls in ten minutes, one every 5 to 10 seconds. */
const ALL_POLLS = 62;
const NEVER_THERE = badly(NOT_FINISHED, {
	reason: 'timeout',
	requests: ALL_POLLS,
	keeps: ['task-1'],
	takesMs: TEN_MINUTES,
});
const BROKEN_JSON = 'The response is truncated or not valid JSON';
const STRANGE = 'Unexpected response: this is not the Agent Video API';
const EMPTY = 'Empty response from the service';
const PROXY = 'The service or a proxy in front of it failed';
const UNAVAILABLE = 'The service is temporarily unavailable';
const TOO_MANY = 'Too many requests: rate limit reached';
const MALFORMED = 'The service rejected the request as malformed';
const NO_APP = 'There is no application with this app code';
const NO_MODEL = 'The video model does not exist, or the account has no access to it';
const BAD_KEY = 'The service rejected the API key';
const NO_ACCESS = 'The API key has no access to this application';
const NO_CREDIT = 'Insufficient credit';
const MODERATED = 'Content moderation rejected the request';
const NO_STREAM = skipped('the response is not a stream');
const NO_LIMIT = skipped('has no total timeout: a response that keeps arriving is not cut off');
const WAITED_SEVEN = well({ requests: 2, takesMs: [7_000, 7_000] });
const PAUSED_SEVEN = well({ requests: 3, takesMs: [14_500, 14_500] });

const ELSEWHERE = row(badly(STRANGE, { keeps: ['Another host'], elsewhere: 1 }), {
	createVideo: outcomeUnknown(STRANGE, { keeps: ['Another host'], elsewhere: 1 }),
	waitForVideo: well({ requests: 3, takesMs: WAITED, elsewhere: 1 }),
});

/** The expected ending of each operation under each fault. */
export const EXPECTATIONS: Readonly<Record<FaultId, Row>> = {
	refused: row(NOT_THERE, { waitForVideo: NEVER_THERE }),
	dns: row(NO_NAME, { waitForVideo: NEVER_THERE }),
	resetBefore: row(badly(BROKE), { createVideo: outcomeUnknown(BROKE) }),
	resetAfter: byForm(
		{ streamed: badly(BROKE, HALF), whole: badly(BROKE) },
		{ createVideo: outcomeUnknown(BROKE) },
	),
	stall: row(badly(SILENT, { takesMs: SILENCE_MS }), {
		assistantStreamed: badly(LIMIT_REACHED, { takesMs: SILENCE_MS }),
		assistant: badly(LIMIT_REACHED, { takesMs: SILENCE_MS }),
		createVideo: outcomeUnknown(SILENT, { takesMs: CREATION_SILENCE_MS }),
		waitForVideo: AFTER_SILENCE,
	}),
	stallAfter: byForm(
		{
			streamed: badly(SILENT, { ...HALF, takesMs: SILENCE_MS }),
			whole: badly(SILENT, { takesMs: SILENCE_MS }),
		},
		{
			assistantStreamed: badly(LIMIT_REACHED, {
				keeps: ['Half', 'session-1'],
				takesMs: SILENCE_MS,
			}),
			assistant: badly(LIMIT_REACHED, { takesMs: SILENCE_MS }),
			createVideo: outcomeUnknown(SILENT, { takesMs: CREATION_SILENCE_MS }),
			waitForVideo: AFTER_SILENCE,
		},
	),
	drip: row(well({ takesMs: [300_000, 400_000] }), {
		waitForVideo: well({ requests: 3, takesMs: [92_500, 92_500] }),
	}),
	endlessDrip: row(NO_LIMIT, {
		assistantStreamed: badly(LIMIT_REACHED, { takesMs: [640_000, 640_000] }),
		assistant: badly(LIMIT_REACHED, { takesMs: [640_000, 640_000] }),
		waitForVideo: well({ requests: 3, takesMs: [92_500, 92_500] }),
	}),
	cutJson: byForm(
		{
			streamed: skipped('the response is a stream: see truncated SSE'),
			whole: badly(BROKEN_JSON, { keeps: ['Half'] }),
		},
		{ createVideo: outcomeUnknown(BROKEN_JSON, { keeps: ['task-1'] }) },
	),
	cutSse: byForm(
		{
			streamed: badly('The stream contains invalid JSON', HALF),
			whole: NO_STREAM,
		},
		{ createVideo: NO_STREAM, waitForVideo: NO_STREAM },
	),
	errorEvent: byForm(
		{
			streamed: badly('The service reported an error during the reply', {
				keeps: [...HALF.keeps, ...OWN_WORDS.keeps],
			}),
			whole: NO_STREAM,
		},
		{ createVideo: NO_STREAM, waitForVideo: NO_STREAM },
	),
	missingDone: byForm(
		{ streamed: well(), whole: NO_STREAM },
		{ createVideo: NO_STREAM, waitForVideo: NO_STREAM },
	),
	html502: row(badly(PROXY, { status: 502, keeps: ['502 Bad Gateway'] }), {
		createVideo: outcomeUnknown(PROXY, { status: 502, keeps: ['502 Bad Gateway'] }),
	}),
	nginx: row(well()),
	rateLimit: row(WAITED_SEVEN, { waitForVideo: PAUSED_SEVEN }),
	rateLimitDate: row(WAITED_SEVEN, { waitForVideo: PAUSED_SEVEN }),
	rateLimitLong: row(badly(TOO_MANY, said(429)), {
		waitForVideo: badly(NOT_FINISHED, {
			reason: 'timeout',
			keeps: ['task-1'],
			takesMs: TEN_MINUTES,
		}),
	}),
	rateLimitPlain: row(well({ requests: 2, takesMs: [0, 1_000] }), {
		waitForVideo: well({ requests: 3, takesMs: [17_500, 17_500] }),
	}),
	unavailableOnce: row(badly(UNAVAILABLE, said(503)), {
		createVideo: outcomeUnknown(UNAVAILABLE, said(503)),
	}),
	unavailable: row(badly(UNAVAILABLE, said(503)), {
		createVideo: outcomeUnknown(UNAVAILABLE, said(503)),
		waitForVideo: NEVER_THERE,
	}),
	status400: errorStatusRow(400, MALFORMED, 'The service rejected a parameter'),
	status401: errorStatusRow(401, BAD_KEY, BAD_KEY, { waitForVideo: stopsWaiting(BAD_KEY, 401) }),
	status402: errorStatusRow(402, NO_APP, NO_MODEL),
	status403: errorStatusRow(403, NO_ACCESS, 'The service rejected the request', {
		waitForVideo: stopsWaiting('The service rejected the request', 403),
	}),
	status406: errorStatusRow(406, NO_CREDIT),
	status409: errorStatusRow(409, MODERATED),
	redirect302: ELSEWHERE,
	redirect307: ELSEWHERE,
	htmlPage: row(badly(STRANGE, { keeps: ['Log in first'] }), {
		createVideo: outcomeUnknown(STRANGE),
	}),
	emptyBody: row(badly(EMPTY), { createVideo: outcomeUnknown(EMPTY) }),
	wrongType: row(well()),
	invalidUtf8: row(well()),
	giant: byForm(
		{
			streamed: badly('An event of the stream is too large', HALF),
			whole: badly('The response is too large'),
		},
		{ createVideo: outcomeUnknown('The response is too large') },
	),
	duplicate: byForm(
		// A duplicate chunk cannot be told from a repeated word; its usage counts once.
		{ streamed: well({ keeps: ['Half', ' and whole'] }), whole: NO_STREAM },
		{ createVideo: NO_STREAM, waitForVideo: NO_STREAM },
	),
	unknownStatus: row(well(), { createVideo: well({ keeps: ['dreaming'] }) }),
	clockForward: row(well({ requests: 2, takesMs: [2_000, 2_000] })),
	clockBack: row(well({ requests: 2, takesMs: [2_000, 2_000] })),
};
