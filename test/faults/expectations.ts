import type { FaultId } from './faults';
import { OPERATION_IDS, type OperationId } from './operations';
import { FAILURE } from '../support/failureTexts';

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
	/** Duration in fake milliseconds: minimum and maximum. */
	readonly takesMs: readonly [number, number];
	/** How it ends in a chat that shows the reply as it comes, if otherwise. */
	readonly inChat?: Ending;
}

/** The fault is none for the operation. */
export const NONE = 'none';
/** A cell of the matrix. */
type Cell = Ending | typeof NONE;

type Row = Readonly<Record<OperationId, Cell>>;
type More = Partial<Pick<Ending, 'status' | 'requests' | 'keeps' | 'takesMs' | 'reason'>>;

const AT_ONCE = [0, 0] as const;
/** Three polls, after 0, 5.25 and 12.875 seconds: the average intervals. */
const WAITED = [12_875, 12_875] as const;
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

/** A failed poll is repeated, so the video arrives. */
const ARRIVES = well({ requests: 3, takesMs: WAITED });
/** A reply that ended for a reason that nobody knows. */
const CUT = badly('The reply was cut off, with the finish reason dreaming', {
	keeps: ['dreaming'],
});
const NOT_FINISHED = 'Not finished after 600 seconds; the task may still complete';

/** One expectation for all operations, except those given in `others`. */
function row(all: Cell, others: Partial<Record<OperationId, Cell>> = {}): Row {
	const same = OPERATION_IDS.map((id) => [id, all]);
	return { ...(Object.fromEntries(same) as Row), waitForVideo: ARRIVES, ...others };
}

/** One expectation for streamed responses, and one for responses in a single body. */
function byForm(streamed: Cell, whole: Cell, others: Partial<Row>): Row {
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
	return cell !== NONE && cell.keeps.includes('Half')
		? { ...cell, keeps: [...cell.keeps, 'session-1'] }
		: cell;
}

const HALF = { keeps: ['Half'] };
const said = (status: number) => ({
	status,
	keeps: [`Own words for ${status}`, `type_${status}`, 'trace-e'],
});

/** A rejection ends polling of a new task the third time. */
const LASTING = { requests: 3, takesMs: WAITED };

const refusesTask = (message: string, status: number) =>
	badly(`${message}: Own words for ${status}`, {
		reason: 'refused',
		keeps: ['task-1'],
		...LASTING,
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
		waitForVideo: refusesTask(video, status),
		...others,
	});
}

/** A status that fails polling too, such as a rejected key; the error has the task ID. */
const stopsWaiting = (message: string, status: number, more: More = {}): Ending =>
	badly(message, { ...said(status), keeps: [...said(status).keeps, 'task-1'], ...more });
const SILENCE_MS = [620_000, 620_000] as const;
const CREATION_SILENCE_MS = [120_000, 120_000] as const;
const TOO_LONG = 'The call exceeded its Timeout of 620 seconds';
const CREATION_TOO_LONG = outcomeUnknown('The call exceeded its Timeout of 120 seconds', {
	takesMs: [120_000, 120_000],
});
const LIMIT_REACHED = 'The assistant exceeded the 600-second limit of the service';
const AFTER_SILENCE = well({ requests: 3, takesMs: [49_000, 49_000] });
const AFTER_LONG_POLL = well({ requests: 3, takesMs: [79_000, 79_000] });
const NOT_THERE: More = { requests: 4, takesMs: [1, 7_000] };
/** The number of polls in ten minutes, one every 5 to 10 seconds. */
const ALL_POLLS = 65;
const FOREVER = { requests: ALL_POLLS, keeps: ['task-1'], takesMs: TEN_MINUTES };
const lastPollFailed = (message: string, status: number, more: More = {}) =>
	badly(`${NOT_FINISHED}. The last poll failed: ${message}: Own words for ${status}`, {
		...{ reason: 'timeout', ...FOREVER },
		...more,
	});
const BROKEN_JSON = 'The response is truncated or not valid JSON';
const TOO_MUCH = 'The response has more than 16 MB of text';
const STRANGE = 'Unexpected response: this is not the Agent Video API';
const EMPTY = 'Empty response from the service';
const LOGIN = { keeps: ['Log in first'] };

/** Nothing arrives until the timeouts. */
const UNANSWERED = row(badly(FAILURE.silent, { takesMs: SILENCE_MS }), {
	assistantStreamed: badly(LIMIT_REACHED, { takesMs: SILENCE_MS }),
	assistant: badly(LIMIT_REACHED, { takesMs: SILENCE_MS }),
	createVideo: outcomeUnknown(FAILURE.silent, { takesMs: CREATION_SILENCE_MS }),
	waitForVideo: AFTER_SILENCE,
});
const HALF_ANSWERED = badly(FAILURE.silent, { ...HALF, takesMs: SILENCE_MS });

/** One ending for all operations; polling differs in how often it tries, and how long. */
const alike = (ending: Ending, polling: Partial<Ending>) =>
	row(ending, { waitForVideo: { ...ending, ...polling } });

/** The expected ending of each operation under each fault. */
export const EXPECTATIONS: Readonly<Record<FaultId, Row>> = {
	refused: alike(badly(FAILURE.refused, NOT_THERE), FOREVER),
	dns: alike(badly(FAILURE.noName, NOT_THERE), FOREVER),
	resetBefore: row(badly(FAILURE.lost), { createVideo: outcomeUnknown(FAILURE.lost) }),
	resetAfter: byForm(badly(FAILURE.lost, HALF), badly(FAILURE.lost), {
		createVideo: outcomeUnknown(FAILURE.lost),
	}),
	stall: UNANSWERED,
	stallAfter: {
		...UNANSWERED,
		chatStreamed: HALF_ANSWERED,
		agent: HALF_ANSWERED,
		modelStreamed: HALF_ANSWERED,
		assistantStreamed: badly(LIMIT_REACHED, {
			keeps: ['Half', 'session-1'],
			takesMs: SILENCE_MS,
		}),
	},
	drip: row(well({ takesMs: [300_000, 400_000] }), {
		createVideo: CREATION_TOO_LONG,
		waitForVideo: AFTER_LONG_POLL,
	}),
	endlessDrip: row(badly(TOO_LONG, { takesMs: SILENCE_MS }), {
		createVideo: CREATION_TOO_LONG,
		waitForVideo: AFTER_LONG_POLL,
	}),
	// Before the headers have arrived Timeout is a total timeout: n8n's HTTP client counts from the request.
	endlessHeaders: UNANSWERED,
	cutJson: byForm(NONE, badly(BROKEN_JSON, HALF), {
		createVideo: outcomeUnknown(BROKEN_JSON, { keeps: ['task-1'] }),
	}),
	cutSse: byForm(badly('The stream ended before the reply was complete', HALF), NONE, {
		waitForVideo: NONE,
	}),
	errorEvent: byForm(
		badly('The service reported an error during the reply', {
			keeps: [...HALF.keeps, 'Own words', 'own_type', 'trace-e'],
		}),
		NONE,
		{ waitForVideo: NONE },
	),
	html502: row(badly(FAILURE.proxy, { status: 502, keeps: ['502 Bad Gateway'] }), {
		createVideo: outcomeUnknown(FAILURE.proxy, { status: 502, keeps: ['502 Bad Gateway'] }),
	}),
	nginx: row(well()),
	rateLimit: row(well({ requests: 2, takesMs: [7_000, 7_000] }), {
		waitForVideo: well({ requests: 3, takesMs: [15_500, 15_500] }),
	}),
	rateLimitLong: row(badly(FAILURE.tooMany, said(429)), {
		// A pause lasts a minute at most.
		waitForVideo: lastPollFailed(FAILURE.tooMany, 429, { requests: 11 }),
	}),
	rateLimitPlain: row(well({ requests: 2, takesMs: [10_000, 15_000] }), {
		waitForVideo: well({ requests: 3, takesMs: [39_500, 39_500] }),
	}),
	unavailableOnce: row(badly(FAILURE.unavailable, said(503)), {
		createVideo: outcomeUnknown(FAILURE.unavailable, said(503)),
	}),
	unavailable: row(badly(FAILURE.unavailable, said(503)), {
		createVideo: outcomeUnknown(FAILURE.unavailable, said(503)),
		waitForVideo: lastPollFailed(FAILURE.unavailable, 503),
	}),
	status400: errorStatusRow(400, FAILURE.malformed, FAILURE.badParameter),
	status401: errorStatusRow(401, FAILURE.badKey, FAILURE.badKey, {
		waitForVideo: stopsWaiting(FAILURE.badKey, 401),
	}),
	status402: errorStatusRow(402, FAILURE.notPaid, FAILURE.noModel, {
		assistant: badly(FAILURE.noApp, said(402)),
		assistantStreamed: badly(FAILURE.noApp, said(402)),
	}),
	status403: errorStatusRow(403, FAILURE.noAccess, FAILURE.noAccess, {
		assistant: badly(FAILURE.appNotOpen, said(403)),
		assistantStreamed: badly(FAILURE.appNotOpen, said(403)),
		waitForVideo: refusesTask('The API key has no access to this task', 403),
	}),
	status404: errorStatusRow(404, FAILURE.notFound, FAILURE.notFound, {
		waitForVideo: refusesTask('The service does not know this task', 404),
	}),
	status406: errorStatusRow(406, FAILURE.noCredit),
	status409: errorStatusRow(409, FAILURE.moderated),
	html404: row(NONE, { waitForVideo: ARRIVES }),
	html404Always: alike(badly(FAILURE.notFound, { status: 404, ...LOGIN }), LASTING),
	// No redirect is followed, so nothing arrives at the other host.
	redirect307: alike(
		badly(FAILURE.redirect, {
			status: 307,
			keeps: ['Location: http://127.0.0.1:', '/elsewhere'],
		}),
		LASTING,
	),
	htmlPage: row(badly(STRANGE, LOGIN), {
		createVideo: outcomeUnknown(STRANGE),
	}),
	htmlPageAlways: row(badly(STRANGE, LOGIN), {
		createVideo: outcomeUnknown(STRANGE),
		waitForVideo: badly(STRANGE, { keeps: [...LOGIN.keeps, 'task-1'], ...LASTING }),
	}),
	emptyBody: row(badly(EMPTY), { createVideo: outcomeUnknown(EMPTY) }),
	invalidUtf8: row(well()),
	giant: byForm(badly('An event of the stream is too large', HALF), badly(TOO_MUCH), {
		createVideo: outcomeUnknown(TOO_MUCH),
	}),
	unknownStatus: row(well(), {
		createVideo: well({ keeps: ['dreaming'] }),
		// Its agent would take it for all.
		model: CUT,
		modelStreamed: { ...CUT, inChat: well({ keeps: ['The reply was cut off'] }) },
	}),
	clockForward: row(well({ requests: 2, takesMs: [2_000, 2_000] })),
	clockBack: row(well({ requests: 2, takesMs: [2_000, 2_000] })),
};
