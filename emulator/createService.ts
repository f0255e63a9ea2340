import { AssistantSessions } from './chat/assistantSessions';
import { AppRateLimits } from './chat/appRateLimits';
import { createClock, type ClockKind } from './clock';
import { FaultQueue } from './faults/faultQueue';
import { Journal } from './journal';
import { hexId } from './random';
import type { EmulatedService } from './service';
import { TaskStore } from './video/tasks';

export interface ServiceOptions {
	/** Maximum generation time of a video, in seconds. Default 30. */
	readonly videoSeconds?: number;
	/** Milliseconds between two chunks of a streamed response. Default 20; with a virtual clock 0. */
	readonly chunkMs?: number;
	/** The same seed and requests give the same responses. Default 1. */
	readonly seed?: number;
	/** Respond with the fields of the specification only. Default false. */
	readonly minimal?: boolean;
	/** Default `real`. */
	readonly clock?: ClockKind;
}

/** Creates an emulated service with empty state. */
export function createService(options: ServiceOptions): EmulatedService {
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
		appRateLimits: new AppRateLimits(),
		nextId: (prefix) => `${prefix}${hexId(24, seed, prefix, ++ids)}`,
	};
}
