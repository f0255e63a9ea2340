import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import Table from 'cli-table3';

import { plain } from '../services/plain';
import type { Rehearsal } from './rehearse';
import type { Result } from './verdict';

const FIGURES = ['created', 'paid', 'delivered', 'open', 'lost', 'paidTwice'] as const;
const HEAD = ['Scenario', 'Created', 'Paid', 'Delivered', 'Open', 'Lost', 'Twice', 'Run'];
const REFUSED = 'Refused, for only the emulator can be reached:';
/** With their borders as wide as a terminal of 80 columns. */
const WIDTHS = [24, 8, 5, 10, 5, 5, 6, 6];

/** Whether nothing is lost, paid twice, or green when it is wrong. */
export const isGood = ({ problems }: Result) => problems.length === 0;

/** What a rehearsal ends with: 1 if anything is wrong, 2 if that is not known, or nothing was tried. */
export function toExitCode(rehearsals: readonly Rehearsal[]): number {
	const results = rehearsals.flatMap((each) => each.results);
	if (!results.every(isGood)) return 1;
	return results.every((each) => each.isJudged) && results.some(({ applies }) => applies) ? 0 : 2;
}

/** The mark of a line: right, wrong, not judged, or nothing to judge. */
export const markOf = (each: Result) =>
	!each.isJudged ? '?' : !each.applies ? ' ' : isGood(each) ? '✓' : '✗';

/** As JSON, of which a terminal obeys nothing either. */
export const toJson = (rehearsals: readonly Rehearsal[], refused: readonly string[]) =>
	JSON.stringify({ rehearsals, refused }, null, 2).replaceAll(
		/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
		(each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);

/** The table of all workflows, for the terminal: two rows for each scenario, of which one is its verdict. */
export function toTable(rehearsals: readonly Rehearsal[], refused: readonly string[]): string {
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
			const mark = markOf(each);
			table.push(
				[`${mark} ${each.title}`, ...cells.map((cell) => (each.applies ? cell : ''))],
				across(each.verdict),
			);
		}
	}
	if (refused.length > 0) table.push(across([REFUSED, ...refused].join('\n  ')));
	return plain(table.toString());
}

/** The page of all workflows: one file that needs no other. */
export function toPage(rehearsals: readonly Rehearsal[], refused: readonly string[]): string {
	const page = readFileSync(join(__dirname, 'page.html'), 'utf8');
	// No text of a workflow can end the script element.
	const data = JSON.stringify({ rehearsals, refused }).replaceAll('<', '\\u003c');
	return page.replace('{ rehearsals: [], refused: [] }', () => data);
}
