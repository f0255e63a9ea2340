import type { DurationRule, VideoModel } from './models';

/** Distances that differ by less count as equal: ratios are compared by logarithms, which are not exact. */
const TOLERANCE = 1e-6;

/** How each rule maps a duration to one of the model, in seconds (spec 2.11). */
const DURATION_RULES: Readonly<
	Record<DurationRule, (entered: number, durations: readonly number[]) => number | undefined>
> = {
	nearest: (entered, durations) => nearest(entered, durations, (seconds) => seconds),
	fiveUpToFiveElseTen: (entered) => (entered <= 5 ? 5 : 10),
};

/** The model's duration for an unsupported one, in seconds. */
export function closestDuration(
	entered: number,
	{ durationRule, durations }: Pick<VideoModel, 'durationRule' | 'durations'>,
): number | undefined {
	return DURATION_RULES[durationRule](entered, durations);
}

/**
 * The model's ratio with the nearest shape; of two at the same distance the one further from a square, so that portrait
 * stays portrait. The first ratio for a text that is not a ratio.
 */
export function closestRatio(entered: string, ratios: readonly string[]): string | undefined {
	const shape = shapeOf(entered);
	if (shape === undefined) return ratios[0];
	const elongation = (ratio: string) => Math.abs(shapeOf(ratio) ?? 0);
	const longestFirst = [...ratios].sort((a, b) => elongation(b) - elongation(a));
	return nearest(shape, longestFirst, shapeOf);
}

/**
 * The same size in the model's spelling, or the model's size with the nearest number of lines. Undefined where the size,
 * or every size of the model, is not spelled as a number of lines (`720p`).
 */
export function closestSize(entered: string, sizes: readonly string[]): string | undefined {
	const lines = linesOf(entered);
	return lines === undefined ? undefined : nearest(lines, sizes, linesOf);
}

/** The same word in the model's spelling. */
export function sameWord(entered: string, words: readonly string[]): string | undefined {
	return words.find((word) => word.toLowerCase() === entered.toLowerCase());
}

/** The candidate with the nearest measure, the first of equal ones. Candidates without a measure are skipped. */
function nearest<T>(
	entered: number,
	candidates: readonly T[],
	measure: (candidate: T) => number | undefined,
): T | undefined {
	let best: T | undefined;
	let bestDistance = Infinity;
	for (const candidate of candidates) {
		const distance = Math.abs((measure(candidate) ?? NaN) - entered);
		if (distance < bestDistance - TOLERANCE) {
			best = candidate;
			bestDistance = distance;
		}
	}
	return best;
}

/** Logarithm of width by height: above 0 landscape, below 0 portrait. */
function shapeOf(ratio: string): number | undefined {
	const [, width, height] = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(ratio) ?? [];
	const shape = Math.log(Number(width) / Number(height));
	return Number.isFinite(shape) ? shape : undefined;
}

function linesOf(size: string): number | undefined {
	const [, lines] = /^(\d+)p$/i.exec(size) ?? [];
	return lines === undefined ? undefined : Number(lines);
}
