import type { Figure } from './measure/figure';
import type { N8nInstance } from './n8n/startInstance';
import type { MeasuringServer } from './server/startServer';

/** What every benchmark has at its disposal. */
export interface Bench {
	/** Whether to use small sizes. */
	readonly quick: boolean;
	/** Whether to measure only what a ratio in bench/bounds.ts needs. */
	readonly guard: boolean;
	/** The server that all contenders call. */
	readonly server: MeasuringServer;
	/** The n8n instance that the benchmarks share; started on first use. */
	readonly n8n: () => Promise<N8nInstance>;
	/** Shows a line of progress. */
	readonly onProgress: (text: string) => void;
}

/** What may be left out of a guard run. */
interface Guarded {
	/** Whether a ratio in bench/bounds.ts needs it. */
	readonly isBounded?: true;
}

/** What a benchmark knows of a contender, beside what it runs. */
export interface Contender extends Guarded {
	readonly name: string;
	/** What limits the comparison with the others. */
	readonly note?: string;
}

/** The contenders or comparisons of this run: all, or those that a bound needs. */
export function measuredOf<G extends Guarded>(
	all: readonly G[],
	{ guard }: Pick<Bench, 'guard'>,
): readonly G[] {
	return guard ? all.filter(({ isBounded }) => isBounded) : all;
}

/** A column of the table of figures. */
export interface Column {
	readonly key: string;
	readonly title: string;
	/** Digits after the decimal point. */
	readonly digits: number;
}

/** The figures of one contender: a node, workflow, library or package that is compared with others. */
export interface Row {
	readonly contender: string;
	/** By column key; a missing figure was not measured. */
	readonly figures: Readonly<Record<string, Figure>>;
	/** What a reader must know about this row. */
	readonly note?: string;
}

/** A figure of this package divided by another contender's figure of the same run; below 1, this package needs less. */
export interface Ratio {
	/** Stable name; bench/bounds.ts refers to it. */
	readonly id: string;
	readonly label: string;
	readonly value: number;
	/** Why this package needs more; shown only if the ratio is above 1. */
	readonly reason?: string;
}

/** The result of one benchmark. */
export interface Result {
	readonly columns: readonly Column[];
	readonly rows: readonly Row[];
	readonly ratios: readonly Ratio[];
	/** Further observations, one sentence each. */
	readonly notes?: readonly string[];
}

/**
 * One benchmark: a single question about the package ("How much memory do many chats need?") that is answered by
 * measuring it and its contenders in the same run.
 */
export interface Question {
	readonly id: string;
	readonly title: string;
	/** How it is measured and what the figures mean; Markdown. */
	readonly method: string;
	readonly run: (bench: Bench) => Promise<Result>;
}
