import { hasTrigger, type Trigger } from '../triggers';
import LIFECYCLES from './lifecycles.json';
import { EMULATED_MODELS } from './models';
import type { VideoTask } from './tasks';

/** Status of a task from a fraction of its total time on. */
type Stage = readonly [from: number, status: string];

/** Sequence of statuses of a task. */
interface Lifecycle {
	readonly stages: readonly Stage[];
	readonly error?: string;
}

const { queued, unqueued, failing, ...triggered } = LIFECYCLES as unknown as Readonly<
	Record<'queued' | 'unqueued' | 'failing', Lifecycle>
> &
	Readonly<Partial<Record<Trigger, Lifecycle>>>;

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
	if (script?.error !== undefined) return { ...failing, error: script.error };
	const named = Object.entries(triggered) as readonly (readonly [Trigger, Lifecycle])[];
	const [, lifecycle] = named.find(([trigger]) => hasTrigger(video.prompt, trigger)) ?? [];
	const { skipsQueue } = EMULATED_MODELS.find(({ code }) => code === video.model)!;
	return lifecycle ?? (skipsQueue ? unqueued : queued);
}

/** Status of a task at a given time (spec 3.1), and the error of a failed one. A script may say any status. A pure function: nothing runs in the background. */
export function taskStatus(
	task: VideoTask,
	nowMs: number,
): { readonly status: string; readonly error?: string } {
	const { stages, error } = lifecycleOf(task);
	const elapsedMs = nowMs - task.createdMs;
	const [, status] = stages.findLast(([from]) => from * task.totalMs <= elapsedMs) ?? stages[0]!;
	return status === 'failed' && error !== undefined ? { status, error } : { status };
}
