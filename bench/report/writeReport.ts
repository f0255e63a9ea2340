import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Finding } from '../runQuestions';
import { toMarkdown, type RunFacts } from './toMarkdown';
import { toSvg } from './toSvg';

/** Writes RESULTS.md, results.json and a plot for each answered question into the folder. */
export async function writeReport(
	folder: string,
	findings: readonly Finding[],
	facts: RunFacts,
): Promise<void> {
	const plots = join(folder, 'plots');
	await mkdir(plots, { recursive: true });
	for (const { question, outcome } of findings) {
		if ('failure' in outcome) continue;
		await writeFile(join(plots, `${question.id}.svg`), await toSvg(outcome.plot));
	}
	await writeFile(join(folder, 'RESULTS.md'), `${toMarkdown(findings, facts)}\n`);
	const results = findings.map(({ question: { id }, seconds, outcome }) => {
		if ('failure' in outcome) return { id, seconds, ...outcome };
		const { rows, ratios, notes = [] } = outcome;
		return { id, seconds, rows, ratios, notes };
	});
	await writeFile(
		join(folder, 'results.json'),
		`${JSON.stringify({ ...facts, results }, undefined, 2)}\n`,
	);
}
