import Table from 'cli-table3';

/** One cell: its result, or why the attack does not exist for this column. */
export type MatrixCell = { readonly result: string } | { readonly skipped: string };

/** Prints a matrix with one row per attack, and the reasons of its skipped cells below. */
export function printMatrix(
	columns: readonly string[],
	rows: readonly (readonly [title: string, cells: readonly MatrixCell[]])[],
): void {
	const cells = rows.flatMap(([, each]) => each);
	const reasons = [
		...new Set(cells.flatMap((cell) => ('skipped' in cell ? [cell.skipped] : []))),
	];
	const table = new Table({
		head: ['', ...columns.map((title) => title.replace(/,? /g, '\n'))],
		style: { head: [], border: [], compact: true },
	});
	const textOf = (cell: MatrixCell) =>
		'skipped' in cell ? `(${reasons.indexOf(cell.skipped) + 1})` : cell.result;
	for (const [title, each] of rows) table.push([title, ...each.map(textOf)]);
	const notes = reasons.map((reason, index) => `(${index + 1}) no such attack: ${reason}`);
	process.stdout.write(`\n${[table.toString(), '✗: not as expected.', ...notes].join('\n')}\n`);
}
