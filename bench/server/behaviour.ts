/** How the server behaves, told by the model that a request names: no contender needs a setting of its own for it. */
export interface Behaviour {
	/** Milliseconds until an answer that is not streamed, or the first chunk. */
	readonly delayMs: number;
	/** Chunks of a streamed answer, and milliseconds between two of them. */
	readonly chunks: number;
	readonly gapMs: number;
	/** Rounds of tool calls before the answer, and calls in each. */
	readonly rounds: number;
	readonly calls: number;
}

const NAME = /^delay-(\d+)-chunks-(\d+)-gap-(\d+)-rounds-(\d+)-calls-(\d+)$/;

/** The name of the model that behaves so. */
export function modelName(behaviour: Partial<Behaviour> = {}): string {
	const { delayMs = 0, chunks = 10, gapMs = 0, rounds = 0, calls = 1 } = behaviour;
	return `delay-${delayMs}-chunks-${chunks}-gap-${gapMs}-rounds-${rounds}-calls-${calls}`;
}

/** @throws Error when the model is none of this server's. */
export function behaviourOf(model: string): Behaviour {
	const match = NAME.exec(model);
	if (match === null) throw new Error(`No such model: ${model}`);
	const [delayMs, chunks, gapMs, rounds, calls] = match.slice(1).map(Number);
	return { delayMs: delayMs!, chunks: chunks!, gapMs: gapMs!, rounds: rounds!, calls: calls! };
}
