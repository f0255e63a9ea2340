import { hasTrigger, type Trigger } from '../triggers';
import { VIDEO_MODELS } from './models';
import type { VideoTask } from './tasks';

export type TaskStatus = 'init' | 'queued' | 'processing' | 'completed' | 'failed' | 'unknown';

export interface TaskReport {
	readonly status: TaskStatus;
	/** Only when failed. */
	readonly error?: string;
}

/** A stage of a task's life, from a fraction of its total time on. */
type Stage = readonly [from: number, status: TaskStatus];

interface Life {
	readonly stages: readonly Stage[];
	readonly error?: string;
}

const QUEUED: Life = {
	stages: [
		[0, 'queued'],
		[0.2, 'init'],
		[0.3, 'processing'],
		[1, 'completed'],
	],
};

const AT_ONCE: Life = {
	stages: [
		[0, 'processing'],
		[1, 'completed'],
	],
};

const failing = (error: string): Life => ({
	stages: [
		[0, 'queued'],
		[0.3, 'processing'],
		[1, 'failed'],
	],
	error,
});

/** Lives that a word in the prompt asks for. */
const ASKED_LIVES: readonly (readonly [Trigger, Life])[] = [
	['failedTask', failing('The video could not be generated. Please try another prompt.')],
	['moderatedTask', failing('Content moderation failed: the video may hold sensitive content.')],
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

function lifeOf({ video }: VideoTask): Life {
	const asked = ASKED_LIVES.find(([trigger]) => hasTrigger(video.prompt, trigger));
	if (asked) return asked[1];
	return VIDEO_MODELS.find(({ code }) => code === video.model)?.startsAtOnce ? AT_ONCE : QUEUED;
}

/** What a task is doing at a moment (spec 3.1). Pure: the time decides. */
export function taskStatus(task: VideoTask, nowMs: number): TaskReport {
	const { stages, error } = lifeOf(task);
	const elapsedMs = nowMs - task.createdMs;
	const [, status] = stages.findLast(([from]) => from * task.totalMs <= elapsedMs) ?? stages[0]!;
	return status === 'failed' && error !== undefined ? { status, error } : { status };
}
