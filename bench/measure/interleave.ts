/**
 * Measures the contenders in round-robin order, so that other load on the machine affects all of them alike.
 *
 * @param repeats Measurements of each contender.
 * @param warmUps Rounds before that, whose measurements are discarded.
 * @returns The measurements, in the order of the contenders.
 */
export async function interleave<C, M>(
	contenders: readonly C[],
	repeats: number,
	measure: (contender: C) => Promise<M>,
	warmUps = 2,
): Promise<M[][]> {
	const measurements: M[][] = contenders.map(() => []);
	for (let round = 0; round < warmUps + repeats; round++) {
		for (const [index, contender] of contenders.entries()) {
			const measurement = await measure(contender);
			if (round >= warmUps) measurements[index]!.push(measurement);
		}
	}
	return measurements;
}
