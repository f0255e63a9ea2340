/** Summary statistics of repeated measurements. */
export interface Figure {
	readonly median: number;
	/** Median absolute deviation; 0 for a single measurement. */
	readonly spread: number;
	readonly samples: number;
}

/** @throws Error if there are no values. */
export async function toFigure(values: readonly number[]): Promise<Figure> {
	const { median, medianAbsoluteDeviation } = await import('simple-statistics');
	return {
		median: median([...values]),
		spread: medianAbsoluteDeviation([...values]),
		samples: values.length,
	};
}

/** A figure that was counted, computed or measured once. */
export function exactFigure(value: number): Figure {
	return { median: value, spread: 0, samples: 1 };
}

/** Summarizes each field of repeated measurements. */
export async function toFigures<K extends string>(
	measurements: readonly Readonly<Record<K, number>>[],
): Promise<Record<K, Figure>> {
	const keys = Object.keys(measurements[0] ?? {}) as K[];
	const entries = keys.map(
		async (key) => [key, await toFigure(measurements.map((each) => each[key]))] as const,
	);
	return Object.fromEntries(await Promise.all(entries)) as Record<K, Figure>;
}
