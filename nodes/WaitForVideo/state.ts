import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { NO_PAUSE, type Pause } from '../client/video/poll/cooldown';
import { startWait, type TaskWait } from '../client/video/poll/task';
import type { Waiting } from '../client/video/poll/pollTasks';

const KEY = 'waiting';

interface Kept {
	readonly pause: Pause;
	readonly waits: Readonly<Record<string, TaskWait>>;
}

/**
 * The waits for these tasks, as an earlier step of this execution has left them; new ones for the others. They are
 * taken out: only a step that suspends puts them back, so that the next batch of a loop finds nothing of this one.
 */
export function takeWaits(
	context: IExecuteFunctions,
	taskIds: readonly string[],
	nowMs: number,
): Waiting {
	const store = context.getContext('node');
	const { waits = {}, pause = NO_PAUSE } = (store[KEY] ?? {}) as Partial<Kept>;
	const others = Object.entries(waits).filter(([taskId]) => !taskIds.includes(taskId));
	write(store, others.length === 0 ? undefined : { pause, waits: Object.fromEntries(others) });
	return { waits: taskIds.map((taskId) => waits[taskId] ?? startWait(taskId, nowMs)), pause };
}

/** Keeps the waits for the next step: n8n saves them with the execution. */
export function keepWaits(context: IExecuteFunctions, { waits, pause }: Waiting): void {
	const store = context.getContext('node');
	const others = (store[KEY] as Kept | undefined)?.waits ?? {};
	const own = Object.fromEntries(waits.map((wait) => [wait.taskId, wait]));
	write(store, { pause, waits: { ...others, ...own } });
}

function write(store: IDataObject, kept: Kept | undefined): void {
	store[KEY] = kept as unknown as IDataObject;
}
