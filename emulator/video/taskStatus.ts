import { hasTrigger, type Trigger } from '../triggers';
import { EMULATED_MODELS } from './models';
import type { VideoTask } from './tasks';

/** State of a task at a point in time. */
export interface EmulatedTaskState {
	/** A scripted task may have any other. */
	readonly status: string;
	/** For `failed` only. */
	readonly error?: string;
}

/** Status of a task from a fraction of its total time on. */
type Stage = readonly [from: number, status: string];

/** Sequence of statuses of a task. */
interface Lifecycle {
	readonly stages: readonly Stage[];
	readonly error?: string;
}

const QUEUED: Lifecycle = {
	stages: [
		[0, 'queued'],
		[0.2, 'init'],
		[0.3, 'processing'],
		[1, 'completed'],
	],
};

const UNQUEUED: Lifecycle = {
	stages: [
		[0, 'processing'],
		[1, 'completed'],
	],
};

const failing = (error: string): Lifecycle => ({
	stages: [
		[0, 'queued'],
		[0.3, 'processing'],
		[1, 'failed'],
	],
	error,
});

/** Lifecycles selected by a trigger word in the prompt. */
const TRIGGERED_LIFECYCLES: readonly (readonly [Trigger, Lifecycle])[] = [
	['failedTask', failing('The video could not be generated. Please try another prompt.')],
	[
		'moderatedTask',
		failing('Content moderation failed: the video may contain sensitive content.'),
	],
	[
		'stuckTask',
		{
			stages: [
				[0, 'queued'],
				[0.3, 'processing'],
			],
		},
	],
	[
		'unknownTask',
		{
			stages: [
				[0, 'queued'],
				[0.2, 'unknown'],
				[0.5, 'processing'],
				[1, 'completed'],
			],
		},
	],
];

function lifecycleOf({ video, script, totalMs }: VideoTask): Lifecycle {
	if (script?.stages) {
		const { error, stages } = script;
		const inOrder = [...stages].sort((a, b) => a.seconds - b.seconds);
		return {
			stages: inOrder.map(({ seconds, status }) => [
				(seconds * 1000) / Math.max(totalMs, 1),
				status,
			]),
			...(error !== undefined && { error }),
		};
	}
	if (script?.error !== undefined) return failing(script.error);
	const triggered = TRIGGERED_LIFECYCLES.find(([trigger]) => hasTrigger(video.prompt, trigger));
	if (triggered) return triggered[1];
	return EMULATED_MODELS.find(({ code }) => code === video.model)?.skipsQueue ? UNQUEUED : QUEUED;
}

/** Status of a task at a given time (spec 3.1). A pure function: nothing runs in the background. */
export function taskStatus(task: VideoTask, nowMs: number): EmulatedTaskState {
	const { stages, error } = lifecycleOf(task);
	const elapsedMs = nowMs - task.createdMs;
	const [, status] = stages.findLast(([from]) => from * task.totalMs <= elapsedMs) ?? stages[0]!;
	return status === 'failed' && error !== undefined ? { status, error } : { status };
}
