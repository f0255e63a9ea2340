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
	/** Respond with nothing beyond what the specification requires. Default false. */
	readonly minimal?: boolean;
	/** Videos show the words of their prompt. Default true; without, many videos cost little time. */
	readonly wordsInVideos?: boolean;
	/** Maximum size of the bodies in the journal, in bytes. Default 64 MiB. */
	readonly journalBytes?: number;
	/** Default `real`. */
	readonly clock?: ClockKind;
}

/** Creates an emulated service with empty state. */
export function createService(options: ServiceOptions): EmulatedService {
	const { journalBytes } = options;
	const { seed = 1, videoSeconds = 30, minimal = false, clock: kind = 'real' } = options;
	const { wordsInVideos = true } = options;
	const { chunkMs = kind === 'real' ? 20 : 0 } = options;
	const clock = createClock(kind);
	let ids = 0;
	return {
		settings: { seed, chunkMs, minimal, wordsInVideos },
		clock,
		journal: new Journal({ ...(journalBytes !== undefined && { maxBytes: journalBytes }) }),
		faults: new FaultQueue(),
		tasks: new TaskStore({ seed, videoSeconds }),
		sessions: new AssistantSessions(),
		appRateLimits: new AppRateLimits(),
		nextId: (prefix) => `${prefix}${hexId(24, seed, prefix, ++ids)}`,
	};
}
