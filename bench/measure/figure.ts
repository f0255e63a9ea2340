/** Repeated measurements of one thing. */
export interface Figure {
	readonly median: number;
	/** Median distance of the measurements from their median; 0 for a single one. */
	readonly spread: number;
	readonly samples: number;
}

/** @throws Error when there is nothing to sum up. */
export async function toFigure(values: readonly number[]): Promise<Figure> {
	const { median, medianAbsoluteDeviation } = await import('simple-statistics');
	return {
		median: median([...values]),
		spread: medianAbsoluteDeviation([...values]),
		samples: values.length,
	};
}

/** A figure that is counted or computed, not measured. */
export function exactly(value: number): Figure {
	return { median: value, spread: 0, samples: 1 };
}

/** Sums up each field of measurements of the same kind. */
export async function toFigures<K extends string>(
	measurements: readonly Readonly<Record<K, number>>[],
): Promise<Record<K, Figure>> {
	const keys = Object.keys(measurements[0] ?? {}) as K[];
	const entries = keys.map(
		async (key) => [key, await toFigure(measurements.map((each) => each[key]))] as const,
	);
	return Object.fromEntries(await Promise.all(entries)) as Record<K, Figure>;
}
