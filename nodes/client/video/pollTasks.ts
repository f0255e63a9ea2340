import { fromSaved, isCanceled, ServiceError, toSaved, type SavedError } from '../errors';
import type { Clock } from '../ports';
import { isBlank } from '../values';
import { taskState, type TaskOutcome, type TaskReport } from './tasks';

/** Polling state of all tasks: a JSON value. Its times are of the clock that polls; `withTimesMoved` makes others of them. */
export interface PollState {
	/** Each task once. */
	readonly polls: readonly TaskPoll[];
	/** No poll starts before, except the last one of a task. Rate limits are per account, not per task. */
	readonly pausedUntilMs: number;
}

/** The state with its times on another clock, which is ahead by this much: it is saved with times of the wall clock. */
export function withTimesMoved({ polls, pausedUntilMs }: PollState, aheadMs: number): PollState {
	return {
		pausedUntilMs: pausedUntilMs + aheadMs,
		polls: polls.map(({ startedAtMs, dueAtMs, ...task }) => ({
			...task,
			startedAtMs: startedAtMs + aheadMs,
			dueAtMs: dueAtMs + aheadMs,
		})),
	};
}

export interface PollTasksOptions {
	/** Milliseconds after the start of polling at which a task that is not finished has the outcome `timeout`. */
	readonly timeoutMs: number;
	/** Maximum number of concurrent status polls. */
	readonly concurrency: number;
	/** On the clock: polls due later are not made. Without it polling lasts until all tasks are finished. */
	readonly untilMs?: number;
	/** Whether nobody polls the tasks again that have no outcome at `untilMs`. */
	readonly isLast?: boolean;
	/** Called each time that a task changes its status or gets its outcome. */
	readonly onChange?: (polls: readonly TaskPoll[]) => void;
}

/** The service rejects the key: that is not about one task (spec 7.2). */
const REJECTED_KEY = 401;

/**
 * Polls tasks concurrently until each is finished or past its deadline (spec 3.1). A due task is polled as soon as a
 * concurrency slot is free; slow responses never delay other tasks.
 *
 * Each of the workers takes the task that is due first, sleeps until then, polls it and puts it back. So a task in the
 * queue is never due before one that a worker sleeps for, and however many tasks there are, few timers run.
 *
 * @param queryStatus Queries the status of one task; a ServiceError that it throws becomes part of that task's state.
 * @returns The tasks in their order, each with its outcome unless `untilMs` or `error` came first. `error` has ended polling:
 *   ServiceError `canceled`; `http` when the service rejects the key; the error of all tasks when none of them ever had a
 *   good answer (`wrongServiceError`): then no task has an outcome; any other error of `queryStatus`.
 */
export async function pollTasks(
	clock: Clock,
	initial: PollState,
	queryStatus: (taskId: string) => Promise<TaskReport>,
	{ timeoutMs, concurrency, untilMs = Infinity, isLast = false, onChange }: PollTasksOptions,
): Promise<PollState & { readonly error?: unknown }> {
	const byId = new Map(initial.polls.map((task) => [task.taskId, task]));
	let { pausedUntilMs } = initial;
	const end = new AbortController();
	/** The unfinished tasks that no worker has taken, the first one due first. */
	const queue: TaskPoll[] = [];

	function enqueue(task: TaskPoll): void {
		if (task.outcome !== undefined) return;
		queue.splice(queue.findLastIndex(({ dueAtMs }) => dueAtMs <= task.dueAtMs) + 1, 0, task);
	}

	async function work(): Promise<void> {
		for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
			if (!(await isDue(task))) continue;
			const next = await polled(task);
			byId.set(task.taskId, next);
			if (next.history !== task.history || next.outcome !== undefined)
				onChange?.([...byId.values()]);
			enqueue(next);
		}
	}

	/** Sleeps until the task is due. False if polling ends before. */
	async function isDue({ dueAtMs, startedAtMs }: TaskPoll): Promise<boolean> {
		for (;;) {
			// A poll of another task may have begun a pause, or failed, meanwhile.
			const atMs = Math.max(dueAtMs, Math.min(pausedUntilMs, startedAtMs + timeoutMs));
			const waitMs = atMs - clock.now();
			if (atMs > untilMs || end.signal.aborted) return false;
			if (waitMs <= 0) return true;
			await clock.sleep(waitMs, end.signal);
		}
	}

	async function polled(task: TaskPoll): Promise<TaskPoll> {
		const answer = await queryStatus(task.taskId).catch(taskErrorOf);
		const context = { nowMs: clock.now(), random: clock.random(), timeoutMs };
		if (!(answer instanceof ServiceError)) return applyReport(task, answer, context);
		pausedUntilMs = Math.max(pausedUntilMs, context.nowMs + pauseMs(answer));
		return applyError(task, answer, context);
	}

	initial.polls.forEach(enqueue);
	const worker = async () => {
		await work().catch((error: unknown) => {
			end.abort(error);
		});
	};
	await Promise.all(Array.from({ length: concurrency }, worker));
	const polls = [...byId.values()];
	if (end.signal.aborted) return { polls, pausedUntilMs, error: end.signal.reason as unknown };
	const isOver = isLast || polls.every(({ outcome }) => outcome !== undefined);
	const error = isOver ? wrongServiceError(polls) : undefined;
	return error === undefined ? { polls, pausedUntilMs } : { ...initial, error };
}

/** Returns an error about one task as a value; rethrows one that ends polling: cancellation, a rejected key, a bug. */
function taskErrorOf(error: unknown): ServiceError {
	const isAboutTask =
		error instanceof ServiceError &&
		!isCanceled(error) &&
		error.details.status !== REJECTED_KEY;
	if (isAboutTask) return error;
	throw error;
}

/** Pause after a 429 without Retry-After. */
const PAUSE_MS = 30_000;
/** A longer Retry-After is heeded up to this: it may be about one task, and the others finish meanwhile. */
const MAX_PAUSE_MS = 60_000;

/** How long no task is polled after this error, in milliseconds: after a 429, or a retryable error with Retry-After. */
function pauseMs({ details: { status, retryable, retryAfterMs } }: ServiceError): number {
	if (status === 429) return Math.min(MAX_PAUSE_MS, retryAfterMs ?? PAUSE_MS);
	return retryable === true ? Math.min(MAX_PAUSE_MS, retryAfterMs ?? 0) : 0;
}

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
	/** Milliseconds after the start of polling at which a task that is not finished has the outcome `timeout`. */
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
function applyError(task: TaskPoll, error: ServiceError, context: PollContext): TaskPoll {
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
 * each has not the form of the service (spec 7). Undefined for other runs, and where an error may pass before the deadline.
 */
function wrongServiceError(polls: readonly TaskPoll[]): ServiceError | undefined {
	const isOfService = ({ details: { status, isServiceForm } }: SavedError) =>
		isServiceForm === true || status === REJECTED_ID;
	const errors = polls.flatMap(({ history, lastError, outcome }) => {
		const mayPass = outcome === undefined && lastError?.details.retryable === true;
		return history === '' && lastError && !isOfService(lastError) && !mayPass ? lastError : [];
	});
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
