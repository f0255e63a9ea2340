import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

import type { Row } from '../question';

const LOOK = {
	width: 560,
	background: 'white',
	config: { font: 'sans-serif' },
} as const;

const OURS = '#4c78a8';
const OTHERS = '#bab0ac';

interface BarOptions {
	readonly title: string;
	/** Column to show. */
	readonly key: string;
	readonly unit: string;
	/** How many of the rows are this package's, from the first on; 1 by default. */
	readonly ours?: number;
}

/** A bar for each row, with its spread, ours in a color of their own; the contenders keep their order. */
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
		...LOOK,
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
	/** Whether the points of a series are joined; default true. */
	readonly joined?: boolean;
	readonly log?: boolean;
}

export interface Point {
	readonly series: string;
	readonly x: number;
	readonly y: number;
}

/** Points by series, on linear or logarithmic axes. */
export function pointPlot(
	points: readonly Point[],
	{ title, x, y, joined = true, log = false }: PointOptions,
): TopLevelSpec {
	const scale = log ? ({ type: 'log' } as const) : ({ zero: true } as const);
	return {
		...LOOK,
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
