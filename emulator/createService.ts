import { AssistantSessions } from './chat/assistantSessions';
import { AppRateLimits } from './chat/appRateLimits';
import { createClock, type ClockKind } from './clock';
import { FaultQueue } from './faults/faultQueue';
import { Journal } from './journal';
import { hexId } from './random';
import { ScriptStore } from './script/scriptStore';
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
	/** Accept requests of the third-party schema that the service's own rules do not allow. Default false. */
	readonly openai?: boolean;
	/** Videos show the words of their prompt. Default true; without, many videos cost little time. */
	readonly wordsInVideos?: boolean;
	/** Maximum size of the bodies in the journal, in bytes. Default 64 MiB. */
	readonly journalBytes?: number;
	/** Scripted answers: files, or names of scripts that come with the emulator. */
	readonly scripts?: readonly string[];
	/** Receives one line per request, and what happens to scripts. */
	readonly log?: (line: string) => void;
	/** Default `real`. */
	readonly clock?: ClockKind;
}

/**
 * Creates an emulated service with empty state.
 * @throws Error that names line and column of each problem of a script
 */
export function createService(options: ServiceOptions): EmulatedService {
	const { journalBytes } = options;
	const { seed = 1, videoSeconds = 30, minimal = false, clock: kind = 'real' } = options;
	const { wordsInVideos = true, openai = false } = options;
	const { chunkMs = kind === 'real' ? 20 : 0 } = options;
	const clock = createClock(kind);
	let ids = 0;
	return {
		settings: { seed, chunkMs, minimal, openai, wordsInVideos },
		clock,
		journal: new Journal({ ...(journalBytes !== undefined && { maxBytes: journalBytes }) }),
		faults: new FaultQueue(),
		scripts: new ScriptStore(options.scripts ?? [], options.log),
		tasks: new TaskStore({ seed, videoSeconds }),
		sessions: new AssistantSessions(),
		appRateLimits: new AppRateLimits(),
		nextId: (prefix) => `${prefix}${hexId(24, seed, prefix, ++ids)}`,
	};
}
