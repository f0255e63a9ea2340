/**
 * Breaks statements of the specification one after another, and runs the tests that docs/specification.md names for them.
 * Reports the mutants that no test notices: `npm run mutate`, or `npm run mutate -- 2.4.6` for one statement.
 */
import { spawnSync } from 'node:child_process';

import { ROOT } from '../lab/paths';
import { MUTANTS, type Mutant } from '../test/spec/mutants';
import { SECTIONS } from '../test/spec/statements';

/** The file and the title of a proof, as patterns of jest. */
function patternsOf(proof: string): { readonly file: string; readonly title: string } {
	const [, kind = '', name = ''] = /^([^:]+): (.+)$/.exec(proof)!;
	// The values of a table stand in place of %s, and of $name.
	const title = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/%[a-z]|\\\$\w+/g, '.*');
	if (kind === 'walk') return { file: 'test/spec/statements\\.test', title: `walk: ${title}$` };
	if (kind === 'example') return { file: 'test/spec/exampleCalls\\.test', title };
	return { file: `test/${kind}\\.test`, title };
}

/** Whether the proofs of a statement fail with the mutant. */
function isKilled(mutant: Mutant, proofs: readonly string[]): boolean {
	const patterns = proofs.map(patternsOf);
	const files = [...new Set(patterns.map(({ file }) => file))].join('|');
	const titles = patterns.map(({ title }) => title).join('|');
	const { status } = spawnSync(
		'jest',
		['--selectProjects', 'unit', '--testPathPatterns', files, '--testNamePattern', titles],
		{ cwd: ROOT, env: { ...process.env, MUTANT: JSON.stringify(mutant) }, stdio: 'ignore' },
	);
	return status !== 0;
}

const wanted = process.argv.slice(2);
const statements = SECTIONS.flatMap((section) => section.statements);
const tried = MUTANTS.flatMap((mutant) => mutant.breaks.map((id) => ({ mutant, id }))).filter(
	({ id }) => wanted.length === 0 || wanted.includes(id),
);
let survivors = 0;
for (const { mutant, id } of tried) {
	const { text, proofs } = statements.find((each) => each.id === id)!;
	const killed = isKilled(mutant, proofs);
	if (!killed) survivors += 1;
	console.log(`${killed ? 'killed  ' : 'SURVIVED'} ${id} ${text} (${mutant.file})`);
}
console.log(`${tried.length - survivors} killed, ${survivors} survived`);
process.exitCode = survivors === 0 ? 0 : 1;
