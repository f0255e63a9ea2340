import { join } from 'node:path';

import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';

import { buildPackage } from '../lab/n8n/buildPackage';
import { installLab } from '../lab/n8n/installLab';
import { ROOT } from '../lab/paths';
import { step } from '../lab/services/step';
import { checkBounds, type BoundCheck } from './checkBounds';
import type { Question } from './question';
import { QUESTIONS } from './questions';
import { describeMachine } from './report/machine';
import { writeReport } from './report/writeReport';
import { runQuestions, type QuestionResult } from './runQuestions';

interface BenchOptions {
	readonly quick?: true;
	readonly guard?: boolean;
	readonly profile?: true;
	readonly only?: readonly Question[];
	readonly output?: string;
}

/** Ignored by git: reports of partial and quick runs, and the raw figures of every run. */
const CACHE_FOLDER = join(ROOT, '.cache', 'bench');

/** CPU profiles for the developer tools of a browser. */
const PROFILES = join(CACHE_FOLDER, 'profiles');

let stop: () => Promise<void> = () => Promise.resolve();

async function bench({ quick, guard = false, profile, only, output }: BenchOptions): Promise<void> {
	const small = quick === true || guard;
	const machine = await describeMachine();
	const date = new Date().toISOString().slice(0, 10);
	await step('Prepare n8n', (onProgress) => installLab({ onProgress }));
	await step('Build the package', buildPackage);
	const run = async (questions: readonly Question[]) => {
		const results = await runQuestions(
			questions,
			{ quick: small, guard },
			(stopAll) => {
				stop = stopAll;
			},
			profile && PROFILES,
		);
		showFailures(results);
		return results;
	};
	if (guard) {
		showChecks(await checkBounds(QUESTIONS, run));
		return;
	}
	const results = await run(only ?? QUESTIONS);
	console.log(`\n${ratioTable(results)}`);
	if (results.some(({ outcome }) => 'failure' in outcome)) process.exitCode = 1;
	// A partial or quick run must not overwrite the report of the full run.
	const isFull = only === undefined && !small;
	const report = output ?? (isFull ? __dirname : CACHE_FOLDER);
	await writeReport(
		results,
		{ date, quick: small, machine },
		{ report, raw: output ?? CACHE_FOLDER },
	);
	console.log(`\nReport: ${join(report, 'RESULTS.md')}`);
	if (profile) console.log(`CPU profiles: ${PROFILES}`);
}

function ratioTable(results: readonly QuestionResult[]): string {
	const table = new Table({ head: ['comparison', 'ratio (below 1: this package needs less)'] });
	for (const { question, outcome } of results) {
		if ('failure' in outcome) continue;
		for (const { label, value } of outcome.ratios) {
			table.push([`${question.title}: ${label}`, value.toFixed(2)]);
		}
	}
	return table.toString();
}

function showFailures(results: readonly QuestionResult[]): void {
	for (const { question, outcome } of results) {
		if (!('failure' in outcome)) continue;
		console.error(`\n${question.title} failed: ${outcome.failure}`);
	}
}

function showChecks(checks: readonly BoundCheck[]): void {
	const table = new Table({ head: ['ratio', 'value', 'bound', ''] });
	for (const { id, bound, value, passed } of checks) {
		table.push([id, value?.toFixed(2) ?? 'missing', bound, passed ? 'passed' : 'FAILED']);
	}
	console.log(`\n${table.toString()}`);
	const failed = checks.filter(({ passed }) => !passed).length;
	console.log(`\n${checks.length - failed} passed, ${failed} failed`);
	if (failed > 0) process.exitCode = 1;
}

function toQuestions(ids: string): readonly Question[] {
	return ids.split(',').map((wanted) => {
		const question = QUESTIONS.find(({ id }) => id === wanted);
		if (question !== undefined) return question;
		const known = QUESTIONS.map(({ id }) => id).join(', ');
		throw new InvalidArgumentError(`Unknown benchmark "${wanted}". Choose from: ${known}.`);
	});
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => void stop().finally(() => process.exit(130)));
}

const options = new Command('npm run bench --')
	.description(
		'Benchmarks the package side by side with alternatives (n8n nodes, libraries, packages) on this machine.',
	)
	.option('--quick', 'use small sizes, about two minutes; the report goes to .cache/bench')
	.option('--guard', 'quick run that checks the bounds in bench/bounds.ts; writes no report')
	.option('--only <ids>', 'run only these benchmarks, separated by commas', toQuestions)
	.option(
		'--profile',
		'write a CPU profile of the n8n that the benchmarks share; figures are higher then',
	)
	.option('--output <folder>', 'write the report to this folder')
	.parse()
	.opts<BenchOptions>();

bench(options).catch((error: unknown) => {
	console.error(`\nThe benchmark failed: ${(error as Error).message}`);
	process.exitCode = 1;
});
