import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { QuestionResult } from '../runQuestions';
import { toMarkdown, type RunFacts } from './toMarkdown';

interface Folders {
	/** Gets RESULTS.md. */
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
	await mkdir(report, { recursive: true });
	await mkdir(raw, { recursive: true });
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
