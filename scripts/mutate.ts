/**
 * Breaks statements of the specification one after another, and runs the tests that test/spec/specification.md names for them.
 * Reports the mutants that no test notices, and those that cannot be tried as their proofs are red or missing without them: `npm run mutate`, or `npm run mutate -- 2.4.6` for one statement.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

const folder = mkdtempSync(join(tmpdir(), 'mutate-'));

interface Totals {
	readonly numPassedTests: number;
	readonly numFailedTests: number;
	/** Files that did not come to their tests, such as one that does not compile. */
	readonly numRuntimeErrorTestSuites: number;
}

/**
 * Runs the proofs of a statement.
 *
 * @param mutant Undefined: the nodes as they are.
 * @throws Error if jest ends without a result.
 */
function runProofs(proofs: readonly string[], mutant?: Mutant): Totals {
	const patterns = proofs.map(patternsOf);
	const files = [...new Set(patterns.map(({ file }) => file))].join('|');
	const titles = patterns.map(({ title }) => title).join('|');
	const result = join(folder, 'result.json');
	rmSync(result, { force: true });
	spawnSync(
		'jest',
		[
			...['--selectProjects', 'unit', '--testPathPatterns', files],
			...['--testNamePattern', titles, '--json', '--outputFile', result],
		],
		{
			cwd: ROOT,
			env: { ...process.env, ...(mutant && { MUTANT: JSON.stringify(mutant) }) },
			stdio: 'ignore',
		},
	);
	if (!existsSync(result)) throw new Error(`jest has no result for ${titles}`);
	return JSON.parse(readFileSync(result, 'utf8')) as Totals;
}

/** What became of a mutant. Only tests that pass without it and fail with it have noticed it. */
function verdictOn(mutant: Mutant, proofs: readonly string[]): 'killed' | 'SURVIVED' | 'INVALID' {
	const before = runProofs(proofs);
	const isGreen = before.numFailedTests + before.numRuntimeErrorTestSuites === 0;
	if (!isGreen || before.numPassedTests === 0) return 'INVALID';
	const { numFailedTests, numRuntimeErrorTestSuites } = runProofs(proofs, mutant);
	if (numRuntimeErrorTestSuites > 0) return 'INVALID';
	return numFailedTests > 0 ? 'killed' : 'SURVIVED';
}

const wanted = process.argv.slice(2);
const statements = SECTIONS.flatMap((section) => section.statements);
const tried = MUTANTS.flatMap((mutant) => mutant.breaks.map((id) => ({ mutant, id }))).filter(
	({ id }) => wanted.length === 0 || wanted.includes(id),
);
let killed = 0;
for (const { mutant, id } of tried) {
	const { text, proofs } = statements.find((each) => each.id === id)!;
	const verdict = verdictOn(mutant, proofs);
	if (verdict === 'killed') killed += 1;
	console.log(`${verdict.padEnd(8)} ${id} ${text} (${mutant.file})`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`${killed} killed, ${tried.length - killed} survived or invalid`);
process.exitCode = killed === tried.length && killed > 0 ? 0 : 1;
