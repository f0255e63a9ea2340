/** A task with a planned finish time, encoded in its id as `run.index.finishMs`. */
export interface PlannedTask {
	readonly run: string;
	readonly index: number;
	/** Milliseconds from the first poll of the run until the task is finished. */
	readonly finishMs: number;
}

/** When a task finished, when a poll detected that, and how often it was polled. */
export interface TaskObservation {
	readonly finishMs: number;
	/** When a poll first returned `completed`, in milliseconds since the first poll of the run. */
	readonly detectedMs?: number;
	readonly polls: number;
}

/** Encodes a planned task as a task id. */
export function taskIdOf({ run, index, finishMs }: PlannedTask): string {
	return `${run}.${index}.${Math.round(finishMs)}`;
}

/** Emulates tasks with planned finish times, grouped into runs; the clock of a run starts at its first poll. */
export class TaskRuns {
	private readonly runs = new Map<
		string,
		{ startMs: number; tasks: Map<string, TaskObservation> }
	>();

	/** Records a poll and returns the status of the task. */
	poll(taskId: string, nowMs: number): 'completed' | 'processing' {
		const [run = '', , finish = '0'] = taskId.split('.');
		const { startMs, tasks } = this.runs.get(run) ?? this.start(run, nowMs);
		const sinceMs = nowMs - startMs;
		const finishMs = Number(finish);
		const before = tasks.get(taskId) ?? { finishMs, polls: 0 };
		const isFinished = sinceMs >= finishMs;
		tasks.set(taskId, {
			...(isFinished ? { detectedMs: sinceMs } : {}),
			...before,
			polls: before.polls + 1,
		});
		return isFinished ? 'completed' : 'processing';
	}

	/** The observations of a run so far. */
	observations(run: string): readonly TaskObservation[] {
		return [...(this.runs.get(run)?.tasks.values() ?? [])];
	}

	private start(run: string, startMs: number) {
		const started = { startMs, tasks: new Map<string, TaskObservation>() };
		this.runs.set(run, started);
		return started;
	}
}
