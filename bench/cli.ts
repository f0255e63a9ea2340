import { join } from 'node:path';

import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';

import { buildPackage } from '../lab/n8n/buildPackage';
import { installLab } from '../lab/n8n/installLab';
import { step } from '../lab/services/step';
import { guard as holdToBounds, type Verdict } from './guard';
import type { Question } from './question';
import { QUESTIONS } from './questions';
import { describeMachine } from './report/machine';
import { writeReport } from './report/writeReport';
import { runQuestions, type Finding } from './runQuestions';

interface BenchOptions {
	readonly quick?: true;
	readonly guard?: true;
	readonly only?: readonly Question[];
	readonly output?: string;
}

let stop: () => Promise<void> = () => Promise.resolve();

async function bench({ quick, guard, only, output }: BenchOptions): Promise<void> {
	const small = quick === true || guard === true;
	const machine = await describeMachine();
	const date = new Date().toISOString().slice(0, 10);
	await step('Prepare n8n', (say) => installLab({ onProgress: say }));
	await step('Build the package', buildPackage);
	const answer = async (questions: readonly Question[]) => {
		const findings = await runQuestions(questions, small, (stopAll) => {
			stop = stopAll;
		});
		showFailures(findings);
		return findings;
	};
	if (guard === true) {
		showVerdicts(await holdToBounds(QUESTIONS, answer));
		return;
	}
	const findings = await answer(only ?? QUESTIONS);
	console.log(`\n${ratioTable(findings)}`);
	if (findings.some(({ outcome }) => 'failure' in outcome)) process.exitCode = 1;
	// A part of the questions, or a quick run, must not replace the figures of the full run.
	const isFull = only === undefined && !small;
	const folder = output ?? (isFull ? __dirname : join(__dirname, '..', '.cache', 'bench'));
	await writeReport(folder, findings, { date, quick: small, machine });
	console.log(`\nThe report is ${join(folder, 'RESULTS.md')}`);
}

function ratioTable(findings: readonly Finding[]): string {
	const table = new Table({ head: ['ours against theirs', 'ratio (below 1: we need less)'] });
	for (const { question, outcome } of findings) {
		if ('failure' in outcome) continue;
		for (const { label, value } of outcome.ratios) {
			table.push([`${question.title}: ${label}`, value.toFixed(2)]);
		}
	}
	return table.toString();
}

function showFailures(findings: readonly Finding[]): void {
	for (const { question, outcome } of findings) {
		if (!('failure' in outcome)) continue;
		console.error(`\n${question.title} was not answered: ${outcome.failure}`);
	}
}

function showVerdicts(verdicts: readonly Verdict[]): void {
	const table = new Table({ head: ['ratio', 'value', 'at most', ''] });
	for (const { id, bound, value, holds } of verdicts) {
		table.push([id, value?.toFixed(2) ?? 'missing', bound, holds ? 'holds' : 'BROKEN']);
	}
	console.log(`\n${table.toString()}`);
	const broken = verdicts.filter(({ holds }) => !holds).length;
	console.log(`\n${verdicts.length - broken} passed, ${broken} failed`);
	if (broken > 0) process.exitCode = 1;
}

function toQuestions(ids: string): readonly Question[] {
	return ids.split(',').map((wanted) => {
		const question = QUESTIONS.find(({ id }) => id === wanted);
		if (question !== undefined) return question;
		const known = QUESTIONS.map(({ id }) => id).join(', ');
		throw new InvalidArgumentError(`There is ${known}.`);
	});
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
	process.on(signal, () => void stop().finally(() => process.exit(130)));
}

const options = new Command('npm run bench --')
	.description(
		'Measures the package side by side with what one would use instead, on this machine.',
	)
	.option('--quick', 'small sizes, about three minutes; the report goes to .cache/bench')
	.option('--guard', 'the quick run of what bench/bounds.ts holds to bounds; writes no report')
	.option('--only <questions>', 'some of the questions, separated by commas', toQuestions)
	.option('--output <folder>', 'where the report goes')
	.parse()
	.opts<BenchOptions>();

bench(options).catch((error: unknown) => {
	console.error(`\nThe measuring failed: ${(error as Error).message}`);
	process.exitCode = 1;
});
