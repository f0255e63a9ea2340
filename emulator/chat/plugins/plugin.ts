import type { Question } from '../generation/question';

/** Input of a plugin. */
export interface PluginContext {
	readonly question: Question;
	/** Origin of the service, for links to generated files. */
	readonly origin: string;
	readonly seed: number;
	/** Milliseconds since 1970. */
	readonly nowMs: number;
}

/** Result of a plugin run. */
export interface PluginRun {
	readonly input: Readonly<Record<string, unknown>>;
	/** Result for the model. */
	readonly result: string;
	/** Text of the reply to the user. */
	readonly content: string;
	/** Duration of the run; undefined for the default. */
	readonly durationMs?: number;
}

/** Plugin of an application, or skill of a super assistant (spec 1, 2.6, 2.7). */
export interface Plugin {
	readonly name: string;
	readonly thought: string;
	/** Returns undefined if the question does not match. */
	readonly run: (context: PluginContext) => PluginRun | undefined;
}
