import type { Question } from '../brain/question';

/** What a plugin has to work with. */
export interface PluginAsk {
	readonly question: Question;
	/** The service's own address, for links to generated files. */
	readonly origin: string;
	readonly seed: number;
	/** Milliseconds since 1970. */
	readonly nowMs: number;
}

/** What a plugin did. */
export interface PluginRun {
	readonly input: Readonly<Record<string, unknown>>;
	/** What it gave back to the model. */
	readonly result: string;
	/** What the model makes of it for the user. */
	readonly content: string;
	/** How long it worked, when that matters. */
	readonly tookMs?: number;
}

/** Something an application or a super assistant can use by itself (spec 1, 2.6, 2.7). */
export interface Plugin {
	readonly name: string;
	readonly thought: string;
	/** Undefined when the question does not call for it. */
	readonly use: (ask: PluginAsk) => PluginRun | undefined;
}
