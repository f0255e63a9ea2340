/** Server behavior, encoded in the model name of a request, so that every contender can select it. */
export interface Behavior {
	/** Latency of a reply that is not streamed, or of the first chunk, in milliseconds. */
	readonly delayMs: number;
	/** Chunks of a streamed reply, and milliseconds between them. */
	readonly chunks: number;
	readonly gapMs: number;
	/** Rounds of tool calls before the reply, and calls per round. */
	readonly rounds: number;
	readonly calls: number;
}

const NAME = /^delay-(\d+)-chunks-(\d+)-gap-(\d+)-rounds-(\d+)-calls-(\d+)$/;

/** Encodes a behavior as a model name. */
export function modelName(behavior: Partial<Behavior> = {}): string {
	const { delayMs = 0, chunks = 10, gapMs = 0, rounds = 0, calls = 1 } = behavior;
	return `delay-${delayMs}-chunks-${chunks}-gap-${gapMs}-rounds-${rounds}-calls-${calls}`;
}

/**
 * Decodes a model name.
 *
 * @throws Error if `modelName` did not create it.
 */
export function behaviorOf(model: string): Behavior {
	const match = NAME.exec(model);
	if (match === null) throw new Error(`Unknown model: ${model}`);
	const [delayMs, chunks, gapMs, rounds, calls] = match.slice(1).map(Number);
	return { delayMs: delayMs!, chunks: chunks!, gapMs: gapMs!, rounds: rounds!, calls: calls! };
}
