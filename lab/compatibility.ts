import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import Table from 'cli-table3';
import { Command } from 'commander';

import { ROOT } from './paths';

const TESTS = join(ROOT, 'test', 'e2e');

/** The features in the table, each with the end-to-end tests that check it. */
const ROWS = [
	{ what: 'Chat Completion', file: 'chatCompletion.test.ts' },
	{ what: 'Agent with Tools, branches', file: 'agentBranches.test.ts' },
	{ what: 'Agent with Tools, conversations', file: 'agentConversations.test.ts' },
	{ what: 'Agent with Tools, drawings', file: 'agentDrawings.test.ts' },
	{ what: 'Super Assistant', file: 'superAssistant.test.ts' },
	{ what: 'Agent Video Chat Model', file: 'chatModel.test.ts' },
	{ what: 'Create Video', file: 'createVideo.test.ts' },
	{ what: 'Wait for Video, suspended', file: 'waitForVideo.test.ts' },
	{ what: 'Batch and chat examples, credential', file: 'demo.test.ts' },
] as const;

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

/** Runs the end-to-end tests on another n8n version, which is installed first, and prints a table of the results. */
async function compatibility(version: string): Promise<void> {
	const missing = ROWS.filter(({ file }) => !existsSync(join(TESTS, file)));
	if (missing.length > 0) {
		const names = missing.map(({ file }) => file).join(', ');
		throw new Error(`lab/compatibility.ts names tests that do not exist: ${names}`);
	}
	const report = await runTests(version);
	const results = new Map(report.testResults.map((each) => [basename(each.name), each]));
	const table = new Table({
		head: [`n8n ${version}`, 'Tests passed', 'Failures'],
		colWidths: [38, 14, 70],
		wordWrap: true,
		style: { head: [], border: [] },
	});
	for (const { what, file } of ROWS) table.push([what, ...cells(results.get(file))]);
	console.log(`\n${table.toString()}`);

	const failed = report.testResults.some((each) => failuresOf(each).length > 0);
	process.exitCode = failed ? 1 : 0;
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

/** The first line that contains a word, without colors. */
function firstLine(text = ''): string {
	// eslint-disable-next-line no-control-regex -- color codes start with a control character
	const plain = text.replace(/\u001b\[[\d;]*m/g, '');
	return /\w.*/.exec(plain)?.[0] ?? 'no message';
}

/** Runs the tests, which print their results to stderr, and returns jest's report. */
async function runTests(version: string): Promise<Report> {
	const folder = await mkdtemp(join(tmpdir(), 'compatibility-'));
	try {
		const file = join(folder, 'report.json');
		const jest = spawn(
			process.execPath,
			[
				join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
				...['--selectProjects', 'e2e', '--maxWorkers=3', '--json', '--outputFile', file],
				...['--testPathPatterns', ...ROWS.map((row) => `e2e/${row.file}`)],
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
		'Runs the end-to-end tests of all nodes on another n8n version and prints a table of the results.\n' +
			'That version is installed into .cache/ first: a few minutes, 2.4 GB.',
	)
	.argument('<version>', 'n8n version, for example 1.123.81')
	.action(compatibility)
	.parseAsync()
	.catch((error: unknown) => {
		console.error((error as Error).message);
		process.exitCode = 1;
	});
