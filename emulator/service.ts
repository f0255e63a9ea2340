import type { AssistantSessions } from './chat/assistantSessions';
import type { AppRateLimits } from './chat/appRateLimits';
import type { EmulatorClock } from './clock';
import type { FaultQueue } from './faults/faultQueue';
import type { Journal } from './journal';
import type { ScriptStore } from './script/scriptStore';
import type { TaskStore } from './video/tasks';

/** Settings that affect the responses. */
export interface ServiceSettings {
	readonly seed: number;
	/** Milliseconds between two chunks of a streamed response. */
	readonly chunkMs: number;
	/**
	 * Responses have only what the specification requires: no field of the third-party schema, none that it leaves open
	 * (`trace_id`, `thumbnail_url`, `enhanced_prompt`, `elapsed`), and no `Retry-After`.
	 */
	readonly minimal: boolean;
	/** Accept requests of the third-party schema that the service's own rules do not allow. */
	readonly openai: boolean;
	/** Videos show the words of their prompt; without, all videos of a format are the same file, which is drawn once. */
	readonly wordsInVideos: boolean;
}

/** The emulated service: settings and state. */
export interface EmulatedService {
	readonly settings: ServiceSettings;
	readonly clock: EmulatorClock;
	readonly journal: Journal;
	readonly faults: FaultQueue;
	readonly scripts: ScriptStore;
	readonly tasks: TaskStore;
	readonly sessions: AssistantSessions;
	readonly appRateLimits: AppRateLimits;
	/** Next unique identifier; the sequence is determined by the seed. */
	readonly nextId: (prefix: string) => string;
}
