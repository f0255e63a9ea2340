import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { TopLevelSpec } from 'vega-lite' with { 'resolution-mode': 'import' };

import type { QuestionResult } from '../runQuestions';
import { toMarkdown, type RunFacts } from './toMarkdown';

interface Folders {
	/** Gets RESULTS.md and a plot per benchmark. */
	readonly report: string;
	/** Gets results.json, the unrounded figures. */
	readonly raw: string;
}

/** Writes the report of a run, and its raw figures. */
export async function writeReport(
	results: readonly QuestionResult[],
	facts: RunFacts,
	{ report, raw }: Folders,
): Promise<void> {
	const plots = join(report, 'plots');
	await mkdir(plots, { recursive: true });
	await mkdir(raw, { recursive: true });
	for (const { question, outcome } of results) {
		if ('failure' in outcome) continue;
		await writeFile(join(plots, `${question.id}.svg`), await toSvg(outcome.plot));
	}
	await writeFile(join(report, 'RESULTS.md'), `${toMarkdown(results, facts)}\n`);
	const figures = results.map(({ question: { id }, seconds, outcome }) => {
		if ('failure' in outcome) return { id, seconds, ...outcome };
		const { rows, ratios, notes = [] } = outcome;
		return { id, seconds, rows, ratios, notes };
	});
	await writeFile(
		join(raw, 'results.json'),
		`${JSON.stringify({ ...facts, results: figures }, undefined, 2)}\n`,
	);
}

async function toSvg(plot: TopLevelSpec): Promise<string> {
	const { compile } = await import('vega-lite');
	const { parse, View } = await import('vega');
	return await new View(parse(compile(plot).spec), { renderer: 'none' }).toSVG();
}
