/**
 * Breaks statements of the specification and promises of SECURITY.md one after another, and runs the tests that
 * test/spec/specification.md and test/hostile/promises.ts name for them. Reports the mutants that no test notices, and those
 * that cannot be tried as their tests are red or missing without them: `npm run mutate`, or `npm run mutate -- 2.4.6` for one
 * statement, `-- promises` for all promises, `-- redirect` for those of threats with this word.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ROOT } from '../lab/paths';
import { PROMISES } from '../test/hostile/promises';
import { MUTANTS } from '../test/spec/mutants';
import { SECTIONS } from '../test/spec/statements';

/** What is changed, and which tests have to fail then. */
interface Trial {
	readonly title: string;
	/** Whether one of these words is asked for. */
	readonly words: string;
	readonly mutant: { readonly file: string; readonly from: string; readonly to: string };
	readonly tests: Tests;
}

/** Patterns of jest: files and titles. */
interface Tests {
	readonly project: string;
	readonly files: string;
	readonly titles: string;
}

/** The file and the title of a proof, as patterns of jest. */
function patternsOf(proof: string): { readonly file: string; readonly title: string } {
	const [, kind = '', name = ''] = /^([^:]+): (.+)$/.exec(proof)!;
	// The values of a table stand in place of %s, and of $name.
	const title = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/%[a-z]|\\\$\w+/g, '.*');
	if (kind === 'walk') return { file: 'test/spec/statements\\.test', title: `walk: ${title}$` };
	if (kind === 'example') return { file: 'test/spec/exampleCalls\\.test', title };
	return { file: `test/${kind}\\.test`, title };
}

const statements = SECTIONS.flatMap((section) => section.statements);
const ofStatements = MUTANTS.flatMap((mutant) =>
	mutant.breaks.map((id): Trial => {
		const { text, proofs } = statements.find((each) => each.id === id)!;
		const patterns = proofs.map(patternsOf);
		const files = [...new Set(patterns.map(({ file }) => file))].join('|');
		const titles = patterns.map(({ title }) => title).join('|');
		const tests = { project: 'unit', files, titles };
		return { title: `${id} ${text}`, words: ` ${id} `, mutant, tests };
	}),
);
const ofPromises = Object.entries(PROMISES).flatMap(([threat, promises]) =>
	promises.map((mutant): Trial => {
		const { promise, test, titles } = mutant;
		const [, project = 'unit'] = /^(faults|hostile)\//.exec(test) ?? [];
		const tests = { project, files: `test/${test}\\.test`, titles };
		return { title: `${threat}: ${promise}`, words: ` promises ${threat} `, mutant, tests };
	}),
);

/** Loads what changes the file for the processes that read it. */
const HOOK = `--require ${JSON.stringify(join(ROOT, 'test/support/mutantFiles.js'))}`;

/** Limit for the tests of one mutant, in milliseconds. */
const LIMIT_MS = 5 * 60_000;

const folder = mkdtempSync(join(tmpdir(), 'mutate-'));

interface Totals {
	readonly numPassedTests: number;
	readonly numFailedTests: number;
	/** Files that did not come to their tests, such as one that does not compile. */
	readonly numRuntimeErrorTestSuites: number;
}

/**
 * Runs tests.
 *
 * @param mutant Undefined: the nodes as they are.
 * @throws Error if jest ends without a result.
 */
function runTests({ project, files, titles }: Tests, mutant?: Trial['mutant']): Totals {
	const result = join(folder, 'result.json');
	rmSync(result, { force: true });
	const { error } = spawnSync(
		'jest',
		[
			...['--selectProjects', project, '--testPathPatterns', files],
			...['--testNamePattern', titles, '--json', '--outputFile', result],
		],
		{
			cwd: ROOT,
			env: {
				...process.env,
				...(mutant && { MUTANT: JSON.stringify(mutant), NODE_OPTIONS: HOOK }),
			},
			stdio: 'ignore',
			timeout: LIMIT_MS,
		},
	);
	// A mutant may never end: its tests fail by their own limits, or here.
	if (error && mutant)
		return { numPassedTests: 0, numFailedTests: 1, numRuntimeErrorTestSuites: 0 };
	if (!existsSync(result)) throw new Error(`jest has no result for ${files}: ${titles}`);
	return JSON.parse(readFileSync(result, 'utf8')) as Totals;
}

/** Whether tests pass as the nodes are: those of several mutants are run once. */
const passing = new Map<string, boolean>();

function pass(tests: Tests): boolean {
	const key = JSON.stringify(tests);
	const known = passing.get(key);
	if (known !== undefined) return known;
	const { numPassedTests, numFailedTests, numRuntimeErrorTestSuites } = runTests(tests);
	const isGreen = numFailedTests + numRuntimeErrorTestSuites === 0 && numPassedTests > 0;
	passing.set(key, isGreen);
	return isGreen;
}

/** What became of a mutant. Only tests that pass without it and fail with it have noticed it. */
function verdictOn({ mutant, tests }: Trial): 'killed' | 'SURVIVED' | 'INVALID' {
	if (!pass(tests)) return 'INVALID';
	const { numFailedTests, numRuntimeErrorTestSuites } = runTests(tests, mutant);
	if (numRuntimeErrorTestSuites > 0) return 'INVALID';
	return numFailedTests > 0 ? 'killed' : 'SURVIVED';
}

const wanted = process.argv.slice(2);
const tried = [...ofStatements, ...ofPromises].filter(
	({ words }) =>
		wanted.length === 0 || wanted.some((word) => words.toLowerCase().includes(` ${word} `)),
);
let killed = 0;
for (const trial of tried) {
	const verdict = verdictOn(trial);
	if (verdict === 'killed') killed += 1;
	console.log(`${verdict.padEnd(8)} ${trial.title} (${trial.mutant.file})`);
}
rmSync(folder, { recursive: true, force: true });
console.log(`${killed} killed, ${tried.length - killed} survived or invalid`);
process.exitCode = killed === tried.length && killed > 0 ? 0 : 1;
