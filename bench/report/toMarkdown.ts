import type { Figure } from '../measure/figure';
import type { Answer, Column, Row } from '../question';
import type { Finding } from '../runQuestions';
import type { Machine } from './machine';

/** When and how a run was made. */
export interface RunFacts {
	readonly date: string;
	readonly quick: boolean;
	readonly machine: Machine;
}

/** The page that shows a run. */
export function toMarkdown(
	findings: readonly Finding[],
	{ date, quick, machine }: RunFacts,
): string {
	const versions = Object.entries(machine.versions).map(
		([name, version]) => `${name} ${version}`,
	);
	const seconds = findings.reduce((sum, finding) => sum + finding.seconds, 0);
	return [
		'# Measurements',
		'Written by `npm run bench`; not edited by hand. The same figures, with those of every ratio, are in results.json.',
		`${quick ? 'Quick run' : 'Full run'} of ${date}, ${Math.round(seconds / 60)} minutes, on ${machine.processor}, ` +
			`${machine.memoryGb} GB, ${machine.system}; load at the beginning ${machine.load}.`,
		`Versions: ${versions.join(', ')}.`,
		'A figure is a median ± the median distance from it. A ratio is ours divided by theirs of the same run: **below 1 we need ' +
			'less**. On a shared machine the ratios tell more than the figures; differences under 15% tell nothing.',
		...findings.flatMap(section),
	].join('\n\n');
}

function section({ question, outcome }: Finding): string[] {
	const heading = [`## ${question.title}`, question.method];
	if ('failure' in outcome) return [...heading, `Not answered: ${outcome.failure}`];
	return [
		...heading,
		figureTable(outcome),
		outcome.ratios.length > 0 ? ratioTable(outcome) : '',
		(outcome.notes ?? []).map((note) => `- ${note}`).join('\n'),
		`![${question.title}](plots/${question.id}.svg)`,
	].filter((part) => part !== '');
}

function figureTable({ columns, rows }: Answer): string {
	const hasNotes = rows.some(({ note }) => note !== undefined);
	const titles = ['', ...columns.map(({ title }) => title), ...(hasNotes ? ['note'] : [])];
	return table(
		titles,
		rows.map((row) => [
			row.contender,
			...columns.map((column) => cell(row, column)),
			...(hasNotes ? [row.note ?? ''] : []),
		]),
	);
}

/** A reason stands only where ours needed more. */
function ratioTable({ ratios }: Answer): string {
	return table(
		['ours against theirs', 'ratio', 'where we need more: why'],
		ratios.map(({ label, value, reason = '' }) => [
			label,
			value.toFixed(2),
			value > 1 ? reason : '',
		]),
	);
}

function cell({ figures }: Row, { key, digits }: Column): string {
	const figure: Figure | undefined = figures[key];
	if (figure === undefined) return '–';
	const { median, spread, samples } = figure;
	return samples === 1
		? median.toFixed(digits)
		: `${median.toFixed(digits)} ± ${spread.toFixed(digits)}`;
}

function table(titles: readonly string[], lines: readonly (readonly string[])[]): string {
	const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
	const rule = titles.map((_title, index) => (index === 0 ? '---' : '---:'));
	return [line(titles), line(rule), ...lines.map(line)].join('\n');
}
