import { NODE_LETTERS, SECTIONS, type State, type Statement } from '../test/spec/statements';
import { markdownTable } from './markdownTable';

const HEAD = ['no.', 'statement', 'nodes', 'emulator', 'proof', 'state'];
const NONE = '–';

const STATES: Readonly<Record<State, string>> = {
	holds: 'holds',
	silent: 'not shown by the service',
};

/** The statements of the specification as Markdown: the totals, then a table for each section. */
export function specificationTable(): string {
	const all = SECTIONS.flatMap(({ statements }) => statements);
	const count = (state: State) => all.filter((each) => each.state === state).length;
	const totals = `${all.length} statements: ${count('holds')} hold, ${count('silent')} are not shown by the service.`;
	const letters = Object.entries(NODE_LETTERS).map(([letter, name]) => `${letter} ${name}`);
	return [
		totals,
		`Nodes: ${letters.join(', ')}.`,
		...SECTIONS.flatMap(({ number, title, statements }) => [
			`## ${number} ${title}`,
			markdownTable(HEAD, statements.map(cells)),
		]),
	].join('\n\n');
}

function cells({ id, text, nodes, isEmulated, proofs, state, note }: Statement): string[] {
	return [
		id,
		text.replaceAll('|', '\\|'),
		nodes === '' ? NONE : nodes.split('').join(' '),
		isEmulated ? 'yes' : NONE,
		proofs.length === 0 ? NONE : proofs.map(proofLink).join('<br>'),
		note === undefined ? STATES[state] : `${STATES[state]}: ${note}`,
	];
}

/** Files of the proofs that have a short name. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
	walk: 'spec/walkChecks.ts',
	example: 'spec/exampleCalls.ts',
};

function proofLink(proof: string): string {
	const at = proof.indexOf(': ');
	const kind = proof.slice(0, at);
	const file = SHORT_NAMES[kind] ?? `${kind}.test.ts`;
	return `[${kind}](../test/${file}): ${proof.slice(at + 2).replaceAll('|', '\\|')}`;
}
