import type { DurationRule, VideoModel } from './models';

/** The ratios count as equally near where they differ by less than this, in natural logarithms. */
const SAME_DISTANCE = 1e-6;

/** What each rule makes of a duration, in seconds (spec 2.11). */
const DURATION_RULES: Readonly<
	Record<DurationRule, (asked: number, durations: readonly number[]) => number | undefined>
> = {
	nearest: (asked, durations) => nearest(asked, durations, (seconds) => seconds),
	fiveUpToFiveElseTen: (asked) => (asked <= 5 ? 5 : 10),
};

/** The duration that a model makes of another one, in seconds. */
export function closestDuration(
	asked: number,
	{ durationRule, durations }: Pick<VideoModel, 'durationRule' | 'durations'>,
): number | undefined {
	return DURATION_RULES[durationRule](asked, durations);
}

/** The ratio whose shape is nearest; of two as near the longer one, so that upright stays upright. The first for no ratio. */
export function closestRatio(asked: string, ratios: readonly string[]): string | undefined {
	const shape = shapeOf(asked);
	if (shape === undefined) return ratios[0];
	return nearest(
		shape,
		[...ratios].sort((a, b) => Math.abs(shapeOf(b)!) - Math.abs(shapeOf(a)!)),
		(ratio) => shapeOf(ratio)!,
	);
}

/** The same size in the model's spelling, or the one with the nearest number of lines; none for a text without lines. */
export function closestSize(asked: string, sizes: readonly string[]): string | undefined {
	const lines = linesOf(asked);
	return lines === undefined ? undefined : nearest(lines, sizes, (size) => linesOf(size)!);
}

/** The same word in the model's spelling. */
export function sameWord(asked: string, words: readonly string[]): string | undefined {
	return words.find((word) => word.toLowerCase() === asked.toLowerCase());
}

/** The candidate whose measure is nearest; the first of those that are as near. */
function nearest<T>(
	asked: number,
	candidates: readonly T[],
	measure: (candidate: T) => number,
): T | undefined {
	const distance = (candidate: T) => Math.abs(measure(candidate) - asked);
	return candidates
		.slice(1)
		.reduce(
			(best, next) => (distance(next) < distance(best!) - SAME_DISTANCE ? next : best),
			candidates[0],
		);
}

/** Above 0 wide, below 0 upright. */
function shapeOf(ratio: string): number | undefined {
	const [, width, height] = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$/.exec(ratio) ?? [];
	const shape = Math.log(Number(width) / Number(height));
	return Number.isFinite(shape) ? shape : undefined;
}

function linesOf(size: string): number | undefined {
	const [, lines] = /^(\d+)p$/i.exec(size) ?? [];
	return lines === undefined ? undefined : Number(lines);
}
