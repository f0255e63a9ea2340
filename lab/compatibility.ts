import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

import Table from 'cli-table3';
import { Command } from 'commander';

import { checkCompatibilityRows, COMPATIBILITY_ROWS } from './n8n/compatibilityTests';
import { ROOT } from './paths';

/** The parts of jest's report that are used here. */
interface Report {
	readonly testResults: readonly FileResult[];
}

interface FileResult {
	readonly name: string;
	/** Why no test of the file ran. */
	readonly message: string;
	readonly assertionResults: readonly {
		readonly fullName: string;
		readonly status: string;
		readonly failureMessages: readonly string[];
	}[];
}

/** Runs the contract and the end-to-end tests on another n8n version, which is installed first, and prints a table of the results. */
async function compatibility(
	versionOrTag: string,
	{ workers }: { readonly workers: string },
): Promise<void> {
	checkCompatibilityRows(COMPATIBILITY_ROWS);
	const version = await findVersion(versionOrTag);
	// It says in seconds what has changed in n8n. Old versions keep a timer that would not let jest end.
	const contract = await runTests(version, ['contract', '--verbose', '--forceExit']);
	const report = await runTests(version, [
		...['e2e', 'release', `--maxWorkers=${workers}`],
		...['--testPathPatterns', ...COMPATIBILITY_ROWS.map((row) => `(e2e|release)/${row.file}`)],
	]);
	const all = [...contract.testResults, ...report.testResults];
	const results = new Map(all.map((each) => [basename(each.name), each]));
	const table = new Table({
		head: [`n8n ${version}`, 'Tests passed', 'Failures'],
		colWidths: [38, 14, 70],
		wordWrap: true,
		style: { head: [], border: [] },
	});
	const first = { what: 'What n8n does not promise', file: 'contract.test.ts' };
	for (const { what, file } of [first, ...COMPATIBILITY_ROWS])
		table.push([what, ...cells(results.get(file))]);
	console.log(`\n${table.toString()}`);

	const failed = all.some((each) => failuresOf(each).length > 0);
	process.exitCode = failed ? 1 : 0;
}

/**
 * The version that a tag of n8n on npm, such as `latest` or `next`, has today; a version stays as it is.
 *
 * @throws Error if npm does not know it.
 */
async function findVersion(versionOrTag: string): Promise<string> {
	const { stdout } = await promisify(execFile)('npm', [
		...['view', `n8n@${versionOrTag}`, 'version', '--json', '--loglevel=error'],
	]).catch(() => ({ stdout: '' }));
	if (stdout.trim() === '') throw new Error(`npm knows no n8n@${versionOrTag}`);
	const found = JSON.parse(stdout) as unknown;
	if (typeof found === 'string') return found;
	throw new Error(`n8n@${versionOrTag} is not one version. Name one, for example 2.20.12`);
}

function cells(result: FileResult | undefined): [string, string] {
	const { assertionResults: tests = [] } = result ?? {};
	const passed = tests.filter(({ status }) => status === 'passed').length;
	return [`${passed} of ${tests.length}`, result ? failuresOf(result).join('\n') : 'not run'];
}

function failuresOf({ message, assertionResults }: FileResult): string[] {
	if (assertionResults.length === 0) return [firstLine(message)];
	return assertionResults
		.filter(({ status }) => status !== 'passed')
		.map(({ fullName, failureMessages }) => `${fullName}: ${firstLine(failureMessages[0])}`);
}

/** Longest line of a failure in the table; wrapping a line of many thousands takes minutes. */
const MAX_LINE = 300;

/** The beginning of the first line that contains a word, without colors. */
function firstLine(text = ''): string {
	// eslint-disable-next-line no-control-regex -- color codes start with a control character
	const plain = text.replace(/\u001b\[[\d;]*m/g, '');
	return /\w.*/.exec(plain)?.[0].slice(0, MAX_LINE) ?? 'no message';
}

/**
 * Runs the tests of a project, which print their results to stderr, and returns jest's report.
 *
 * @param project Its name, and more options of jest.
 */
async function runTests(version: string, project: readonly string[]): Promise<Report> {
	const folder = await mkdtemp(join(tmpdir(), 'compatibility-'));
	try {
		const file = join(folder, 'report.json');
		const jest = spawn(
			process.execPath,
			[
				join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
				...['--json', '--outputFile', file, '--selectProjects', ...project],
			],
			{
				cwd: ROOT,
				env: { ...process.env, LAB_N8N_VERSION: version },
				// With --json jest prints the report to stdout, too.
				stdio: ['ignore', 'ignore', 'inherit'],
			},
		);
		await once(jest, 'close');
		if (!existsSync(file)) throw new Error(`The tests could not run on n8n ${version}`);
		return JSON.parse(await readFile(file, 'utf8')) as Report;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

void new Command('npm run compatibility --')
	.description(
		'Checks what n8n does not promise, then runs end-to-end tests of all nodes on another n8n version, and prints a table.\n' +
			'That version is installed into .cache/ first: a few minutes, 2.2 GB.',
	)
	.argument('<version>', 'n8n version, for example 2.20.12, or a tag on npm: latest, next')
	.option('-w, --workers <number>', 'test files at the same time', '3')
	.action(compatibility)
	.parseAsync()
	.catch((error: unknown) => {
		console.error((error as Error).message);
		process.exitCode = 1;
	});
