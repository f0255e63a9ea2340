import { fromSaved, toSaved, type SavedError, type ServiceError } from '../../errors';
import { isBlank } from '../../values';
import { taskState, type TaskOutcome, type TaskReport } from '../taskState';

/**
 * Consecutive rejections after which a task is polled no more: of one whose status the service has reported, and of a new one,
 * which it may not know at once. Retryable errors (429, 503, network) are not counted, a status resets the count. Of a
 * completed video the sixth report in a row without its URL is taken as it is.
 */
const LAST_REJECTION = { known: 6, unknown: 3 } as const;

const UNKNOWN_TASK = 'The service does not know this task';
/** Errors in words about one task, by status. */
const TASK_WORDS: Readonly<Record<number, string>> = {
	403: 'The API key has no access to this task',
	404: UNKNOWN_TASK,
	405: UNKNOWN_TASK,
};

/**
 * Polling state of one task: a JSON value that can be saved. The functions below are pure: they return the next
 * state.
 */
export interface TaskPoll {
	readonly taskId: string;
	readonly startedAtMs: number;
	/** When the next poll is due. */
	readonly dueAtMs: number;
	/** Rejected polls since the service last reported a status, or reports of a completed video without its URL. */
	readonly rejections: number;
	/** What the service last reported; whatever the outcome, it is part of the result. */
	readonly report?: TaskReport;
	/** The error of the last poll, unless the service has reported a status since. */
	readonly lastError?: SavedError | undefined;
	/** Each status with the seconds after which it was seen, e.g. `queued 0 s, completed 42.1 s`; empty before the first one. */
	readonly history: string;
	/** Milliseconds from the start of polling to the last answer, or the last error in its place. */
	readonly elapsedMs: number;
	/** How it ended; `refused` with `lastError`. */
	readonly outcome?: TaskOutcome;
}

/** Clock reading, random number and timeout, injected so that the reducer stays pure. */
export interface PollContext {
	readonly nowMs: number;
	/** At least 0, below 1. */
	readonly random: number;
	/** Milliseconds after the start of polling at which a task that is not finished counts as failed. */
	readonly timeoutMs: number;
}

/** Initial state of a task. The first poll is due at once, because the task may have finished already. */
export function startPoll(taskId: string, nowMs: number): TaskPoll {
	return {
		taskId,
		startedAtMs: nowMs,
		dueAtMs: nowMs,
		rejections: 0,
		history: '',
		elapsedMs: 0,
	};
}

/** State after a poll that returned the status of the task. */
export function applyReport(task: TaskPoll, report: TaskReport, context: PollContext): TaskPoll {
	const polled = { ...task, elapsedMs: context.nowMs - task.startedAtMs };
	const history = withStatus(polled, report.status);
	const outcome = taskState(report);
	// The URL of a video may come a little later than its status, unless `error_message` says why there is none (spec 2.10).
	const isWithoutUrl = outcome === 'completed' && isBlank(report.video_url);
	const rejections = isWithoutUrl ? task.rejections + 1 : 0;
	const next = { ...polled, rejections, lastError: undefined, history, report };
	if (isWithoutUrl && !isBlank(report.error_message)) return { ...next, outcome: 'failed' };
	const isOpen = isWithoutUrl && rejections < LAST_REJECTION.known;
	return outcome === undefined || isOpen ? reschedule(next, context) : { ...next, outcome };
}

/** State after a poll that failed: the next poll, or the end of polling as LAST_REJECTION says. */
export function applyError(task: TaskPoll, error: ServiceError, context: PollContext): TaskPoll {
	const lastError = toSaved(error);
	const polled = { ...task, elapsedMs: context.nowMs - task.startedAtMs, lastError };
	if (error.details.retryable === true) return reschedule(polled, context);
	const rejections = task.rejections + 1;
	const last = LAST_REJECTION[task.history === '' ? 'unknown' : 'known'];
	if (rejections < last) return reschedule({ ...polled, rejections }, context);
	return { ...polled, rejections, outcome: 'refused' };
}

/** The error in words about one task, for a service that answers about others. */
export function aboutTask(error: SavedError): SavedError {
	return { ...error, message: TASK_WORDS[error.details.status ?? 0] ?? error.message };
}

/** With this status the service rejects the ID of a task (spec 7.2). */
const REJECTED_ID = 400;

/**
 * The error of a run in which nothing shows that the service is at the address: no task ever had a status, and the last error of
 * each has not the form of the service (spec 7). Undefined for other runs.
 */
export function wrongServiceError(polls: readonly TaskPoll[]): ServiceError | undefined {
	const isOfService = ({ details: { status, isServiceForm } }: SavedError) =>
		isServiceForm === true || status === REJECTED_ID;
	const errors = polls.flatMap(({ history, lastError }) =>
		history === '' && lastError && !isOfService(lastError) ? lastError : [],
	);
	return errors[0] && errors.length === polls.length ? fromSaved(errors[0]) : undefined;
}

function withStatus({ history, report, elapsedMs }: TaskPoll, status: string): string {
	if (report?.status === status) return history;
	return [history, `${status} ${toTenths(elapsedMs)} s`].filter(Boolean).join(', ');
}

/** Seconds. */
export function toTenths(ms: number): number {
	return Math.round(ms / 100) / 10;
}

/** The task with its next poll; at its deadline, or with too little time left for another poll, with its outcome. */
function reschedule(task: TaskPoll, { nowMs, random, timeoutMs }: PollContext): TaskPoll {
	const remainingMs = task.startedAtMs + timeoutMs - nowMs;
	if (remainingMs < MIN_INTERVAL_MS) return { ...task, outcome: 'timeout' };
	return { ...task, dueAtMs: nowMs + nextInterval(task.elapsedMs, random, remainingMs) };
}

/** Interval between the first two polls of a task, and the minimum between any two (spec 3.1: 5 to 10 seconds). */
const MIN_INTERVAL_MS = 5_000;
/** Maximum interval; each one is half as long as the wait so far, plus the minimum, up to this. */
const MAX_INTERVAL_MS = 10_000;
/** Random variation of an interval, as a fraction of it: tasks created together are not polled together. */
const JITTER = 0.1;

/**
 * Milliseconds until the next poll: exponential backoff with jitter. It is clipped so that the last poll lands on the
 * deadline and no two polls are closer than MIN_INTERVAL_MS.
 *
 * @param elapsedMs Milliseconds since polling began.
 * @param random At least 0, below 1.
 * @param remainingMs Milliseconds until the deadline, at least MIN_INTERVAL_MS.
 */
function nextInterval(elapsedMs: number, random: number, remainingMs: number): number {
	const middleMs = Math.min(MAX_INTERVAL_MS, MIN_INTERVAL_MS + elapsedMs / 2);
	const lowMs = Math.max(MIN_INTERVAL_MS, middleMs * (1 - JITTER));
	const highMs = Math.min(MAX_INTERVAL_MS, middleMs * (1 + JITTER));
	const intervalMs = Math.round(lowMs + random * (highMs - lowMs));
	if (remainingMs >= intervalMs + MIN_INTERVAL_MS) return intervalMs;
	// Too long for one interval: split the rest into two equal ones.
	return remainingMs > MAX_INTERVAL_MS ? Math.round(remainingMs / 2) : remainingMs;
}
