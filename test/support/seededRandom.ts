import { chance } from '../../emulator/random';

/** A pseudorandom number generator: the same seed gives the same numbers, at least 0 and below 1. */
export function seededRandom(seed: number): () => number {
	let drawn = 0;
	return () => chance(seed, drawn++);
}
