import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

import Table from 'cli-table3';
import { Command } from 'commander';

import { ROOT } from './paths';

/** What a user would ask whether it works, and the end-to-end tests that answer. */
const ROWS = [
	{ what: 'Chat Completion', file: 'chatCompletion.test.ts' },
	{ what: 'Agent with Tools', file: 'agentWithTools.test.ts' },
	{ what: 'Super Assistant', file: 'superAssistant.test.ts' },
	{ what: 'Agent Video Chat Model', file: 'chatModel.test.ts' },
	{ what: 'Create Video', file: 'createVideo.test.ts' },
	{ what: 'Wait for Video, suspended', file: 'waitForVideo.test.ts' },
	{ what: 'Batch and chat examples, credential', file: 'demo.test.ts' },
] as const;

/** The part of jest's report that is read here. */
interface Report {
	readonly testResults: readonly FileResult[];
}

interface FileResult {
	readonly name: string;
	/** Why none of the tests ran. */
	readonly message: string;
	readonly assertionResults: readonly {
		readonly fullName: string;
		readonly status: string;
		readonly failureMessages: readonly string[];
	}[];
}

/** Runs the end-to-end tests on an n8n version, which is installed first, and shows what works. */
async function compatibility(version: string): Promise<void> {
	const report = await runTests(version);
	const results = new Map(report.testResults.map((each) => [basename(each.name), each]));
	const table = new Table({
		head: [`n8n ${version}`, 'Tests passed', 'What does not work'],
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

/** The first line that says something, without colours. */
function firstLine(text = ''): string {
	// eslint-disable-next-line no-control-regex -- colours begin with a control character
	const plain = text.replace(/\u001b\[[\d;]*m/g, '');
	return /\w.*/.exec(plain)?.[0] ?? 'no reason given';
}

/** Runs the tests, which show themselves, and gives jest's report. */
async function runTests(version: string): Promise<Report> {
	const folder = await mkdtemp(join(tmpdir(), 'compatibility-'));
	try {
		const file = join(folder, 'report.json');
		const jest = spawn(
			process.execPath,
			[
				join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'),
				...['--selectProjects', 'e2e', '--runInBand', '--json', '--outputFile', file],
				...['--testPathPatterns', ...ROWS.map((row) => `e2e/${row.file}`)],
			],
			{
				cwd: ROOT,
				env: { ...process.env, LAB_N8N_VERSION: version },
				// With --json jest prints the report, too.
				stdio: ['ignore', 'ignore', 'inherit'],
			},
		);
		await once(jest, 'close');
		return JSON.parse(await readFile(file, 'utf8')) as Report;
	} finally {
		await rm(folder, { recursive: true, force: true });
	}
}

void new Command('npm run compatibility --')
	.description(
		'Runs the end-to-end tests of all nodes on another n8n version and shows what works there.\n' +
			'Installs that version into .cache/ first: a few minutes, 2.4 GB.',
	)
	.argument('<version>', 'of n8n, such as 1.123.81')
	.action(compatibility)
	.parseAsync();
