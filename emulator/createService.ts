import { AssistantSessions } from './chat/assistantSessions';
import { BusyApps } from './chat/busyApps';
import { createClock, type ClockKind } from './clock';
import { FaultQueue } from './faults/faultQueue';
import { Journal } from './journal';
import { hexId } from './random';
import type { Service } from './service';
import { TaskStore } from './video/tasks';

export interface ServiceOptions {
	/** The longest that a video takes, in seconds. Default 30. */
	readonly videoSeconds?: number;
	/** Milliseconds between two chunks of a streamed answer. Default 20; with a virtual clock 0. */
	readonly chunkMs?: number;
	/** Same seed, same requests, same answers. Default 1. */
	readonly seed?: number;
	/** Answer with the specification's literal minimum. Default false. */
	readonly minimal?: boolean;
	/** Default `real`. */
	readonly clock?: ClockKind;
}

/** A service that remembers nothing yet. */
export function createService(options: ServiceOptions): Service {
	const { seed = 1, videoSeconds = 30, minimal = false, clock: kind = 'real' } = options;
	const { chunkMs = kind === 'real' ? 20 : 0 } = options;
	const clock = createClock(kind);
	let ids = 0;
	return {
		settings: { seed, chunkMs, minimal },
		clock,
		journal: new Journal(),
		faults: new FaultQueue(),
		tasks: new TaskStore({ seed, videoSeconds }),
		sessions: new AssistantSessions(),
		busyApps: new BusyApps(),
		nextId: (prefix) => `${prefix}${hexId(24, seed, prefix, ++ids)}`,
	};
}
