import { BOUNDS } from './bounds';
import type { Question } from './question';
import type { Finding } from './runQuestions';

/** A ratio that is held to a bound. */
export interface Verdict {
	/** Id of the question that gives the ratio. */
	readonly question: string;
	readonly id: string;
	readonly bound: number;
	/** Missing when the run did not give the ratio. */
	readonly value?: number;
	readonly holds: boolean;
}

/**
 * Holds the ratios of a quick run to their bounds. Other work on the machine can spoil a measurement, so a question with a
 * broken bound is asked a second time, and only what is broken again is broken. A bound whose ratio is missing is.
 *
 * @param answer Answers questions with small sizes.
 */
export async function guard(
	questions: readonly Question[],
	answer: (questions: readonly Question[]) => Promise<readonly Finding[]>,
	bounds: typeof BOUNDS = BOUNDS,
): Promise<readonly Verdict[]> {
	const first = judge(await answer(questions.filter(({ id }) => id in bounds)), bounds);
	const doubtful = first.filter(({ holds }) => !holds).map(({ question }) => question);
	if (doubtful.length === 0) return first;

	const again = questions.filter(({ id }) => doubtful.includes(id));
	const second = new Map(
		judge(await answer(again), bounds).map((verdict) => [verdict.id, verdict]),
	);
	return first.map((verdict) => (verdict.holds ? verdict : second.get(verdict.id)!));
}

function judge(findings: readonly Finding[], bounds: typeof BOUNDS): readonly Verdict[] {
	const ratios = findings.flatMap(({ outcome }) => ('failure' in outcome ? [] : outcome.ratios));
	const values = new Map(ratios.map(({ id, value }) => [id, value]));
	return Object.entries(bounds).flatMap(([question, ofQuestion]) =>
		Object.entries(ofQuestion).map(([id, bound]) => {
			const value = values.get(id);
			if (value === undefined) return { question, id, bound, holds: false };
			return { question, id, bound, value, holds: value <= bound };
		}),
	);
}
