import { chance, hexId } from '../random';
import type { EffectiveVideo } from './effectiveVideo';

/** An accepted video task. What it is doing follows from the time alone. */
export interface VideoTask {
	readonly id: string;
	/** The name of the account that created it; no other account sees it. */
	readonly owner: string;
	readonly video: EffectiveVideo;
	readonly createdMs: number;
	/** How long generating takes, queueing included. */
	readonly totalMs: number;
}

export interface TaskStoreOptions {
	readonly seed: number;
	/** The longest that a task takes, in seconds; the quickest takes four fifths of it. */
	readonly videoSeconds: number;
}

/** Every task since the start; identifiers and durations follow from the seed and the order. */
export class TaskStore {
	private readonly tasks = new Map<string, VideoTask>();

	constructor(private readonly options: TaskStoreOptions) {}

	get all(): readonly VideoTask[] {
		return [...this.tasks.values()];
	}

	create(owner: string, video: EffectiveVideo, createdMs: number): VideoTask {
		const { seed, videoSeconds } = this.options;
		const number = this.tasks.size + 1;
		const task: VideoTask = {
			id: `task-${hexId(20, seed, 'task', number)}`,
			owner,
			video,
			createdMs,
			totalMs: Math.round(
				videoSeconds * 1000 * (0.8 + 0.2 * chance(seed, 'duration', number)),
			),
		};
		this.tasks.set(task.id, task);
		return task;
	}

	find(owner: string, id: string): VideoTask | undefined {
		const task = this.tasks.get(id);
		return task?.owner === owner ? task : undefined;
	}
}
