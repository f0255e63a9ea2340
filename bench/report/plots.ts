import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

import type { Row } from '../question';

const STYLE = {
	width: 560,
	background: 'white',
	// An image in a Markdown page exposes no ARIA attributes; leaving them out makes the files smaller.
	config: { font: 'sans-serif', aria: false },
} as const;

const OURS = '#4c78a8';
const OTHERS = '#bab0ac';

interface BarOptions {
	readonly title: string;
	/** Key of the column to plot. */
	readonly key: string;
	readonly unit: string;
	/** Number of leading rows that belong to this package; default 1. */
	readonly ours?: number;
}

/** Bar chart of one column with error bars, in row order; this package has its own color. */
export function barPlot(
	rows: readonly Row[],
	{ title, key, unit, ours = 1 }: BarOptions,
): TopLevelSpec {
	const values = rows.flatMap(({ contender, figures }, index) => {
		const figure = figures[key];
		if (figure === undefined) return [];
		const { median, spread } = figure;
		const color = index < ours ? OURS : OTHERS;
		return [{ contender, color, median, low: median - spread, high: median + spread }];
	});
	return {
		...STYLE,
		title,
		data: { values },
		encoding: {
			y: {
				field: 'contender',
				type: 'nominal',
				sort: null,
				title: null,
				axis: { labelLimit: 600 },
			},
		},
		layer: [
			{
				mark: { type: 'bar' },
				encoding: {
					x: { field: 'median', type: 'quantitative', title: unit },
					color: { field: 'color', type: 'nominal', scale: null },
				},
			},
			{
				mark: { type: 'rule' },
				encoding: {
					x: { field: 'low', type: 'quantitative', title: unit },
					x2: { field: 'high' },
				},
			},
		],
	};
}

interface PointOptions {
	readonly title: string;
	readonly x: string;
	readonly y: string;
	/** Whether lines connect the points of a series; default true. */
	readonly joined?: boolean;
	/** Whether both axes are logarithmic; default false. */
	readonly log?: boolean;
}

export interface Point {
	readonly series: string;
	readonly x: number;
	readonly y: number;
}

/** Line or scatter plot of several series. */
export function pointPlot(
	points: readonly Point[],
	{ title, x, y, joined = true, log = false }: PointOptions,
): TopLevelSpec {
	const scale = log ? ({ type: 'log' } as const) : ({ zero: true } as const);
	return {
		...STYLE,
		title,
		height: 320,
		data: { values: [...points] },
		mark: joined ? { type: 'line', point: true } : { type: 'point', filled: true, size: 90 },
		encoding: {
			x: { field: 'x', type: 'quantitative', title: x, scale },
			y: { field: 'y', type: 'quantitative', title: y, scale },
			color: {
				field: 'series',
				type: 'nominal',
				title: null,
				sort: null,
				legend: { orient: 'bottom', columns: 2, labelLimit: 400 },
			},
		},
	};
}
