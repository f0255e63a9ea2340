import type { PollState } from '../client/video/poll/pollTasks';

/**
 * Minimum length of a step. n8n looks once a minute for executions to resume: a step of at least a minute ends on time,
 * a shorter one up to a minute late.
 */
const STEP_MS = 60_000;

/**
 * When a suspended execution resumes, in milliseconds since the epoch: in about a minute, so that a later step ends on
 * the deadline of the oldest task, and not before the end of a rate-limit cooldown.
 */
export function nextResumeMs(
	{ polls, cooldown }: PollState,
	nowMs: number,
	timeoutMs: number,
): number {
	const unfinished = polls.filter(({ outcome }) => outcome === undefined);
	const deadlineMs = Math.min(...unfinished.map(({ startedAtMs }) => startedAtMs + timeoutMs));
	const remainingMs = deadlineMs - nowMs;
	const stepMs = Math.max(0, remainingMs) / Math.max(1, Math.floor(remainingMs / STEP_MS));
	return Math.ceil(Math.max(nowMs + stepMs, Math.min(cooldown.untilMs, deadlineMs)));
}
