import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

import type { Lab } from './lab/startLab';
import type { Figure } from './measure/figure';
import type { MeasuringServer } from './server/startServer';

/** What every question gets to work with. */
export interface Bench {
	/** Whether small sizes will do. */
	readonly quick: boolean;
	/** The one server that everybody is measured against. */
	readonly server: MeasuringServer;
	/** The n8n that the questions share; started when it is first asked for. */
	readonly lab: () => Promise<Lab>;
	/** Tells what is going on, in a line. */
	readonly say: (text: string) => void;
}

/** A column of a question's table. */
export interface Column {
	readonly key: string;
	readonly title: string;
	/** Digits after the decimal point. */
	readonly digits: number;
}

/** What a contender did. */
export interface Row {
	readonly contender: string;
	/** By the keys of the columns; what is missing was not measured. */
	readonly figures: Readonly<Record<string, Figure>>;
	/** What a reader must know about this row, or why it could not be run. */
	readonly note?: string;
}

/** A figure of ours divided by the same figure of somebody else, of the same run: below 1 we need less. */
export interface Ratio {
	/** Stable name, for the bounds that a quick run is held to. */
	readonly id: string;
	readonly label: string;
	readonly value: number;
	/** Why ours may need more, told where it does. */
	readonly reason?: string;
}

/** What came out. */
export interface Answer {
	readonly columns: readonly Column[];
	readonly rows: readonly Row[];
	readonly ratios: readonly Ratio[];
	readonly plot: TopLevelSpec;
	/** Further findings, a sentence each. */
	readonly notes?: readonly string[];
}

/** One thing to find out. */
export interface Question {
	readonly id: string;
	readonly title: string;
	/** How it is measured, and what the figures mean; Markdown. */
	readonly method: string;
	readonly run: (bench: Bench) => Promise<Answer>;
}
