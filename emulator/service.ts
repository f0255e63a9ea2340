import type { AssistantSessions } from './chat/assistantSessions';
import type { BusyApps } from './chat/busyApps';
import type { Clock } from './clock';
import type { FaultQueue } from './faults/faultQueue';
import type { Journal } from './journal';
import type { TaskStore } from './video/tasks';

/** What decides the service's answers, apart from the requests. */
export interface ServiceSettings {
	readonly seed: number;
	/** Milliseconds between two chunks of a streamed answer. */
	readonly chunkMs: number;
	/** Answers hold the specification's fields and nothing of the wider schema. */
	readonly minimal: boolean;
}

/** The running service: its settings and everything it remembers. */
export interface Service {
	readonly settings: ServiceSettings;
	readonly clock: Clock;
	readonly journal: Journal;
	readonly faults: FaultQueue;
	readonly tasks: TaskStore;
	readonly sessions: AssistantSessions;
	readonly busyApps: BusyApps;
	/** A fresh identifier; the sequence follows from the seed. */
	readonly nextId: (prefix: string) => string;
}
