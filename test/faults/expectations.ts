import type { FaultId } from './faults';
import type { OperationId } from './operations';

/** How an operation ends under a fault. */
export interface Ending {
	readonly ends: 'well' | 'badly';
	/** What the error says first. */
	readonly message?: string;
	/** HTTP status of the error. */
	readonly status?: number;
	/** Where an item says it instead of an error: why there is no result. */
	readonly reason?: string;
	/** Requests from the one on that the fault met. */
	readonly requests: number;
	/** What the output or the error must not have lost. */
	readonly keeps: readonly string[];
	/** Requests at another host. */
	readonly elsewhere?: number;
	/** Milliseconds from the beginning to the end, at least and at most. */
	readonly takesMs: readonly [number, number];
}

/** A cell of the matrix: how it ends, or why it makes no sense. */
export type Cell = Ending | { readonly skipped: string };

type Row = Readonly<Record<OperationId, Cell>>;
type More = Partial<
	Pick<Ending, 'status' | 'requests' | 'keeps' | 'takesMs' | 'reason' | 'elsewhere'>
>;

const AT_ONCE = [0, 0] as const;
/** Three queries, after 0, 5 and 12.5 seconds. */
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
/** A creation after which the task may exist. */
const inDoubt = (message: string, more: More = {}): Ending =>
	badly(`${message}; the task may have been created`, {
		...more,
		keeps: ['"outcome_unknown":true', ...(more.keeps ?? [])],
	});
const skipped = (reason: string): Cell => ({ skipped: reason });

/** A query that went wrong is asked again: the video arrives. */
const ARRIVES = well({ requests: 3, takesMs: WAITED });
const NOT_FINISHED = 'Not finished after 600 seconds; the task may still complete';

/** The same for all; what differs is named. A super assistant that streams tells its session before its text. */
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

/** What is streamed ends one way, what comes in one body another. */
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

/** The service refuses: the node stops at once, and says what the status means where it happened (spec 7). */
function refusal(status: number, chat: string, video = chat, others: Partial<Row> = {}): Row {
	return row(badly(chat, said(status)), {
		createVideo: badly(video, said(status)),
		waitForVideo: badly(`${video}: Own words for ${status}`, {
			reason: 'refused',
			keeps: ['task-1'],
		}),
		...others,
	});
}

/** The wait for a task ends as well when the key is not taken; its ID is in the error. */
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
/** As many as fit into ten minutes, every 5 to 10 seconds. */
const ALL_QUERIES = 62;
const NEVER_THERE = badly(NOT_FINISHED, {
	reason: 'timeout',
	requests: ALL_QUERIES,
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
const NO_STREAM = skipped('its answer is no stream');
const NO_LIMIT = skipped('has no limit on a whole call: what keeps arriving is not cut off');
const WAITED_SEVEN = well({ requests: 2, takesMs: [7_000, 7_000] });
const PAUSED_SEVEN = well({ requests: 3, takesMs: [14_500, 14_500] });

const ELSEWHERE = row(badly(STRANGE, { keeps: ['Another host'], elsewhere: 1 }), {
	createVideo: inDoubt(STRANGE, { keeps: ['Another host'], elsewhere: 1 }),
	waitForVideo: well({ requests: 3, takesMs: WAITED, elsewhere: 1 }),
});

/** What a person and the service see, for each fault and each operation. */
export const EXPECTATIONS: Readonly<Record<FaultId, Row>> = {
	refused: row(NOT_THERE, { waitForVideo: NEVER_THERE }),
	dns: row(NO_NAME, { waitForVideo: NEVER_THERE }),
	resetBefore: row(badly(BROKE), { createVideo: inDoubt(BROKE) }),
	resetAfter: byForm(
		{ streamed: badly(BROKE, HALF), whole: badly(BROKE) },
		{ createVideo: inDoubt(BROKE) },
	),
	stall: row(badly(SILENT, { takesMs: SILENCE_MS }), {
		assistantStreamed: badly(LIMIT_REACHED, { takesMs: SILENCE_MS }),
		assistant: badly(LIMIT_REACHED, { takesMs: SILENCE_MS }),
		createVideo: inDoubt(SILENT, { takesMs: CREATION_SILENCE_MS }),
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
			createVideo: inDoubt(SILENT, { takesMs: CREATION_SILENCE_MS }),
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
			streamed: skipped('its answer is a stream: see cut SSE'),
			whole: badly(BROKEN_JSON, { keeps: ['Half'] }),
		},
		{ createVideo: inDoubt(BROKEN_JSON, { keeps: ['task-1'] }) },
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
		createVideo: inDoubt(PROXY, { status: 502, keeps: ['502 Bad Gateway'] }),
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
		createVideo: inDoubt(UNAVAILABLE, said(503)),
	}),
	unavailable: row(badly(UNAVAILABLE, said(503)), {
		createVideo: inDoubt(UNAVAILABLE, said(503)),
		waitForVideo: NEVER_THERE,
	}),
	status400: refusal(400, MALFORMED, 'The service rejected a parameter'),
	status401: refusal(401, BAD_KEY, BAD_KEY, { waitForVideo: stopsWaiting(BAD_KEY, 401) }),
	status402: refusal(402, NO_APP, NO_MODEL),
	status403: refusal(403, NO_ACCESS, 'The service rejected the request', {
		waitForVideo: stopsWaiting('The service rejected the request', 403),
	}),
	status406: refusal(406, NO_CREDIT),
	status409: refusal(409, MODERATED),
	redirect302: ELSEWHERE,
	redirect307: ELSEWHERE,
	htmlPage: row(badly(STRANGE, { keeps: ['Log in first'] }), { createVideo: inDoubt(STRANGE) }),
	emptyBody: row(badly(EMPTY), { createVideo: inDoubt(EMPTY) }),
	wrongType: row(well()),
	invalidUtf8: row(well()),
	giant: byForm(
		{
			streamed: badly('An event of the stream is too large', HALF),
			whole: badly('The response is too large'),
		},
		{ createVideo: inDoubt('The response is too large') },
	),
	duplicate: byForm(
		// Nothing tells a chunk that came twice from the same word said twice; its usage counts once.
		{ streamed: well({ keeps: ['Half', ' and whole'] }), whole: NO_STREAM },
		{ createVideo: NO_STREAM, waitForVideo: NO_STREAM },
	),
	unknownStatus: row(well(), { createVideo: well({ keeps: ['dreaming'] }) }),
	clockForward: row(well({ requests: 2, takesMs: [2_000, 2_000] })),
	clockBack: row(well({ requests: 2, takesMs: [2_000, 2_000] })),
};
