import type { VideoModel } from './models';

/** Distances that differ by less count as equal: ratios are compared by logarithms, which are not exact. */
const TOLERANCE = 1e-6;

/** The model's duration for an unsupported one, in seconds (spec 2.11). */
export function closestDuration(
	entered: number,
	{ durationRule, durations }: Pick<VideoModel, 'durationRule' | 'durations'>,
): number | undefined {
	if (durationRule === 'fiveUpToFiveElseTen') return entered <= 5 ? 5 : 10;
	return nearest(entered, durations, (seconds) => seconds);
}

/**
 * The model's ratio with the nearest shape; of two at the same distance the one further from a square, so that portrait
 * stays portrait. Undefined for a text that is not a ratio.
 */
export function closestRatio(entered: string, ratios: readonly string[]): string | undefined {
	const elongation = (ratio: string) => Math.abs(shapeOf(ratio) ?? 0);
	const longestFirst = [...ratios].sort((a, b) => elongation(b) - elongation(a));
	return nearest(shapeOf(entered), longestFirst, shapeOf);
}

/**
 * The same size in the model's spelling, or the size with the nearest number of lines. Undefined for a text that
 * is not a size.
 */
export function closestSize(entered: string, sizes: readonly string[]): string | undefined {
	return sameWord(entered, sizes) ?? nearest(linesOf(entered), sizes, linesOf);
}

/** The same word in the model's spelling. */
export function sameWord(entered: string, words: readonly string[]): string | undefined {
	return words.find((word) => word.toLowerCase() === entered.toLowerCase());
}

/** The candidate with the nearest measure, the first of equal ones. Undefined without a measure. */
function nearest<T>(
	entered: number | undefined,
	candidates: readonly T[],
	measure: (candidate: T) => number | undefined,
): T | undefined {
	let best: T | undefined;
	let bestDistance = Infinity;
	for (const candidate of candidates) {
		const distance = Math.abs((measure(candidate) ?? NaN) - (entered ?? NaN));
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

/** Sizes that have a name: their lines. */
const NAMED = { hd: 720, 'full hd': 1080, '2k': 1440, '4k': 2160, uhd: 2160, '8k': 4320 };

/** Lines of `720p`, `720`, `1280x720` (of an upright picture the columns) or a name. */
function linesOf(size: string): number | undefined {
	const [, lines, height = lines] = /^(\d{3,5})(?:p|\s*[x×*]\s*(\d{3,5}))?$/i.exec(size) ?? [];
	if (lines !== undefined) return Math.min(Number(lines), Number(height));
	return new Map(Object.entries(NAMED)).get(size.toLowerCase());
}
