import { AppRateLimits } from './chat/appRateLimits';
import { createClock, type ClockKind } from './clock';
import { FaultQueue } from './faults/faultQueue';
import { Journal } from './journal';
import { hexId } from './random';
import { ScriptStore } from './script/scriptStore';
import { TaskStore } from './video/tasks';

/** Settings that affect the responses. */
export interface ServiceSettings {
	/** The same seed and requests give the same responses; above temperature 0 a repeated question gets other texts. Default 1. */
	readonly seed: number;
	/** Milliseconds between two chunks of a streamed response. Default 20; with a virtual clock 0. */
	readonly chunkMs: number;
	/**
	 * Responses have only what the specification requires: no field of the third-party schema, none that it leaves open
	 * (`trace_id`, `thumbnail_url`, `enhanced_prompt`, `elapsed`), and no `Retry-After`. Default false.
	 */
	readonly minimal: boolean;
	/** Accept requests of the third-party schema that the service's own rules do not allow. Default false. */
	readonly openai: boolean;
	/** Videos show the words of their prompt. Default true; without, all videos of a format are the same file, which is drawn once. */
	readonly wordsInVideos: boolean;
}

export interface ServiceOptions extends Partial<ServiceSettings> {
	/** Maximum generation time of a video, in seconds. Default 30. */
	readonly videoSeconds?: number;
	/** A repeated question gets the same text at any temperature. Default false. */
	readonly repeatsTexts?: boolean;
	/** Maximum size of the bodies in the journal, in bytes. Default 64 MiB. */
	readonly journalBytes?: number;
	/** Scripted answers: files, or names of scripts that come with the emulator. */
	readonly scripts?: readonly string[];
	/** Receives one line per request, and what happens to scripts. */
	readonly log?: (line: string) => void;
	/** Default `real`. */
	readonly clock?: ClockKind;
}

/** The emulated service: settings and state. */
export type EmulatedService = ReturnType<typeof createService>;

/**
 * Creates an emulated service with empty state.
 * @throws Error that names line and column of each problem of a script
 */
export function createService(options: ServiceOptions) {
	const { seed = 1, videoSeconds = 30, clock: kind = 'real' } = options;
	const { chunkMs = kind === 'real' ? 20 : 0, wordsInVideos = true } = options;
	const { minimal = false, openai = false } = options;
	const settings: ServiceSettings = { seed, chunkMs, minimal, openai, wordsInVideos };
	let ids = 0;
	const asked = new Map<string, number>();
	return {
		settings,
		clock: createClock(kind),
		journal: new Journal({ maxBytes: options.journalBytes }),
		faults: new FaultQueue(),
		scripts: new ScriptStore(options.scripts ?? [], options.log),
		tasks: new TaskStore({ seed, videoSeconds }),
		/** Turns of the sessions of super assistants, by account and session (spec 2.7). */
		sessions: new Map<string, readonly Readonly<Record<'question' | 'answer', string>>[]>(),
		appRateLimits: new AppRateLimits(),
		/** How often a question has been asked before. */
		timesAsked: (question: string): number => {
			const key = hexId(16, question);
			if (options.repeatsTexts) return 0;
			const times = asked.get(key) ?? 0;
			asked.set(key, times + 1);
			return times;
		},
		/** Next unique identifier; the sequence is determined by the seed. */
		nextId: (prefix: string) => `${prefix}${hexId(24, seed, prefix, ++ids)}`,
	};
}
