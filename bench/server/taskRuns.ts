/** A task of a run, as its id tells: `run.index.finishMs`. */
export interface PlannedTask {
	readonly run: string;
	readonly index: number;
	/** Milliseconds from the first query of the run until the task is finished. */
	readonly finishMs: number;
}

/** How a task was noticed. */
export interface Notice {
	readonly finishMs: number;
	/** When the first query was answered with `completed`, in milliseconds since the first query of the run. */
	readonly noticedMs?: number;
	readonly queries: number;
}

/** The id of a planned task. */
export function taskIdOf({ run, index, finishMs }: PlannedTask): string {
	return `${run}.${index}.${Math.round(finishMs)}`;
}

/** Runs of tasks whose finish times are planned beforehand; the time of a run begins with its first query. */
export class TaskRuns {
	private readonly runs = new Map<string, { startMs: number; tasks: Map<string, Notice> }>();

	/** Notes a query and tells whether the task is finished. */
	query(taskId: string, nowMs: number): 'completed' | 'processing' {
		const [run = '', , finish = '0'] = taskId.split('.');
		const { startMs, tasks } = this.runs.get(run) ?? this.begin(run, nowMs);
		const sinceMs = nowMs - startMs;
		const finishMs = Number(finish);
		const before = tasks.get(taskId) ?? { finishMs, queries: 0 };
		const isFinished = sinceMs >= finishMs;
		tasks.set(taskId, {
			...(isFinished ? { noticedMs: sinceMs } : {}),
			...before,
			queries: before.queries + 1,
		});
		return isFinished ? 'completed' : 'processing';
	}

	/** What was noticed in a run so far. */
	notices(run: string): readonly Notice[] {
		return [...(this.runs.get(run)?.tasks.values() ?? [])];
	}

	private begin(run: string, startMs: number) {
		const begun = { startMs, tasks: new Map<string, Notice>() };
		this.runs.set(run, begun);
		return begun;
	}
}
