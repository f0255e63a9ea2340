import type { TaskPoll } from '../client/video/poll/task';
import type { PollState } from '../client/video/poll/pollTasks';

/**
 * n8n looks for executions to go on with once a minute, and sets a timer for those that are due within the next:
 * a step of at least a minute ends on time, a shorter one up to a minute late.
 */
const STEP_MS = 60_000;

/**
 * When a suspended execution goes on, in milliseconds since the epoch: about a minute later, so that a step falls
 * on the limit of the oldest task, and not before a pause that the service has asked for is over.
 */
export function nextResumeMs({ polls, pause }: PollState, nowMs: number, limitMs: number): number {
	const open = polls.filter(({ outcome }: TaskPoll) => outcome === undefined);
	const leftMs = Math.min(...open.map(({ startedAtMs }) => startedAtMs + limitMs)) - nowMs;
	const stepMs = Math.max(0, leftMs) / Math.max(1, Math.floor(leftMs / STEP_MS));
	return Math.ceil(Math.max(nowMs + stepMs, Math.min(pause.untilMs, nowMs + leftMs)));
}
