/**
 * Measures every contender in turn, again and again: what disturbs the machine meanwhile then disturbs them all.
 *
 * @param repeats How often each is measured, after the turns that do not count.
 * @returns The measurements, in the order of the contenders.
 */
export async function interleave<C, M>(
	contenders: readonly C[],
	repeats: number,
	measure: (contender: C) => Promise<M>,
	warmUps = 2,
): Promise<M[][]> {
	const measurements: M[][] = contenders.map(() => []);
	for (let turn = 0; turn < warmUps + repeats; turn++) {
		for (const [index, contender] of contenders.entries()) {
			const measurement = await measure(contender);
			if (turn >= warmUps) measurements[index]!.push(measurement);
		}
	}
	return measurements;
}
