import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import Table from 'cli-table3';

import type { Rehearsal } from './rehearse';
import type { Result } from './verdict';

const HEAD = ['', 'Scenario', 'Created', 'Paid', 'Delivered', 'Open', 'Lost', 'Twice', 'Execution'];

/** Whether nothing is lost, paid twice, or green when it is wrong. */
export const isGood = ({ problems }: Result) => problems.length === 0;

/** The table of all workflows, for the terminal. */
export function toTable(rehearsals: readonly Rehearsal[]): string {
	const table = new Table({
		head: [...HEAD, 'Verdict'],
		wordWrap: true,
		style: { head: [], border: [] },
		colWidths: [3, 24, 9, 6, 11, 6, 6, 7, 11, 60],
	});
	for (const { workflow, replaced, results } of rehearsals) {
		const list = replaced.map(({ node, type, by }) => `  ${node} (${type}): ${by}`);
		table.push([{ colSpan: HEAD.length + 1, content: [workflow, ...list].join('\n') }]);
		for (const each of results) {
			const { created, paid, delivered, open, lost, paidTwice, isGreen } = each;
			const figures = [
				created,
				paid,
				delivered,
				open,
				lost,
				paidTwice,
				isGreen ? 'green' : 'red',
			];
			const mark = isGood(each) ? '✓' : '✗';
			table.push([
				each.applies ? mark : '',
				each.title,
				...figures.map((figure) => (each.applies ? figure : '')),
				each.verdict,
			]);
		}
	}
	return table.toString();
}

/** The page of all workflows: one file that needs no other. */
export function toPage(rehearsals: readonly Rehearsal[]): string {
	const page = readFileSync(join(__dirname, 'page.html'), 'utf8');
	// No text of a workflow can end the script element.
	const data = JSON.stringify(rehearsals).replaceAll('<', '\\u003c');
	return page.replace('const rehearsals = []', () => `const rehearsals = ${data}`);
}
