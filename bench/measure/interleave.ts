/**
 * Measures every contender in turn, again and again: what disturbs the machine meanwhile then disturbs them all.
 *
 * @param repeats How often each is measured, after one turn that does not count.
 * @returns The measurements, in the order of the contenders.
 */
export async function interleave<C, M>(
	contenders: readonly C[],
	repeats: number,
	measure: (contender: C) => Promise<M>,
): Promise<M[][]> {
	const measurements: M[][] = contenders.map(() => []);
	for (let turn = 0; turn <= repeats; turn++) {
		for (const [index, contender] of contenders.entries()) {
			const measurement = await measure(contender);
			if (turn > 0) measurements[index]!.push(measurement);
		}
	}
	return measurements;
}
