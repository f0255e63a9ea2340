import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import Table from 'cli-table3';

import type { Rehearsal } from './rehearse';
import type { Result } from './verdict';

const FIGURES = ['created', 'paid', 'delivered', 'open', 'lost', 'paidTwice'] as const;
const HEAD = ['Scenario', 'Created', 'Paid', 'Delivered', 'Open', 'Lost', 'Twice', 'Run'];
/** With their borders as wide as a terminal of 80 columns. */
const WIDTHS = [24, 8, 5, 10, 5, 5, 6, 6];

/** Whether nothing is lost, paid twice, or green when it is wrong. */
export const isGood = ({ problems }: Result) => problems.length === 0;

/** A text for a terminal, which obeys some characters and hides others. */
export const plain = (text: string) => text.replace(/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu, '·');

/** The table of all workflows, for the terminal: two rows for each scenario, of which one is its verdict. */
export function toTable(rehearsals: readonly Rehearsal[]): string {
	const table = new Table({
		head: HEAD,
		wordWrap: true,
		style: { head: [], border: [], 'padding-left': 0, 'padding-right': 1 },
		colWidths: WIDTHS,
	});
	const across = (content: string) => [{ colSpan: HEAD.length, content }];
	for (const { workflow, replaced, results } of rehearsals) {
		const list = replaced.map(({ node, type, by }) => `  ${node} (${type}): ${by}`);
		table.push(across([workflow, ...list].join('\n')));
		for (const each of results) {
			const cells = [...FIGURES.map((name) => each[name]), each.isGreen ? 'green' : 'red'];
			const mark = !each.applies ? ' ' : isGood(each) ? '✓' : '✗';
			table.push(
				[`${mark} ${each.title}`, ...cells.map((cell) => (each.applies ? cell : ''))],
				across(each.verdict),
			);
		}
	}
	return plain(table.toString());
}

/** The page of all workflows: one file that needs no other. */
export function toPage(rehearsals: readonly Rehearsal[]): string {
	const page = readFileSync(join(__dirname, 'page.html'), 'utf8');
	// No text of a workflow can end the script element.
	const data = JSON.stringify(rehearsals).replaceAll('<', '\\u003c');
	return page.replace('const rehearsals = []', () => `const rehearsals = ${data}`);
}
