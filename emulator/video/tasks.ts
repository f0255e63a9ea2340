import { chance, hexId } from '../random';
import type { ScriptedTask } from '../script/script';
import type { EffectiveVideo } from './effectiveVideo';

/** Accepted video task. Its status is computed from the time (`taskStatus`). */
export interface VideoTask {
	readonly id: string;
	/** Name of the account that created it; hidden from other accounts. */
	readonly owner: string;
	readonly video: EffectiveVideo;
	readonly createdMs: number;
	/** Generation time, including the queue. */
	readonly totalMs: number;
	/** What a script says about it. */
	readonly script?: ScriptedTask;
}

export interface TaskStoreOptions {
	readonly seed: number;
	/** Maximum generation time, in seconds; the minimum is 80 % of it. */
	readonly videoSeconds: number;
}

/** In-memory task store. Identifiers and generation times are determined by the seed and the order of creation. */
export class TaskStore {
	private readonly tasks = new Map<string, VideoTask>();

	constructor(private readonly options: TaskStoreOptions) {}

	get all(): readonly VideoTask[] {
		return [...this.tasks.values()];
	}

	create(
		owner: string,
		video: EffectiveVideo,
		createdMs: number,
		script?: ScriptedTask,
	): VideoTask {
		const seconds = script?.seconds ?? script?.stages?.at(-1)?.seconds;
		const { seed, videoSeconds } = this.options;
		const number = this.tasks.size + 1;
		const task: VideoTask = {
			id: this.idOf(number),
			owner,
			video,
			createdMs,
			totalMs: Math.round(
				1000 * (seconds ?? videoSeconds * (0.8 + 0.2 * chance(seed, 'duration', number))),
			),
			...(script && { script }),
		};
		this.tasks.set(task.id, task);
		return task;
	}

	/** The ID of a task by its number, from 1, also of one that does not exist yet. */
	idOf(number: number): string {
		return `task-${hexId(20, this.options.seed, 'task', number)}`;
	}

	find(owner: string, id: string): VideoTask | undefined {
		const task = this.tasks.get(id);
		return task?.owner === owner ? task : undefined;
	}
}
