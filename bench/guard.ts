import { BOUNDS } from './bounds';
import type { Finding } from './runQuestions';

/** A ratio that is held to a bound. */
export interface Verdict {
	readonly id: string;
	readonly bound: number;
	/** Missing when the run did not give the ratio. */
	readonly value?: number;
	readonly holds: boolean;
}

/** Holds the ratios of a run to their bounds; a bound whose ratio is missing is broken. */
export function judge(findings: readonly Finding[]): readonly Verdict[] {
	const ratios = findings.flatMap(({ outcome }) => ('failure' in outcome ? [] : outcome.ratios));
	const values = new Map(ratios.map(({ id, value }) => [id, value]));
	return Object.entries(BOUNDS).map(([id, bound]) => {
		const value = values.get(id);
		if (value === undefined) return { id, bound, holds: false };
		return { id, bound, value, holds: value <= bound };
	});
}
