import { readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import { Command, InvalidArgumentError } from 'commander';

import { buildPackage } from '../n8n/buildPackage';
import { installLab } from '../n8n/installLab';
import { readWorkflows } from '../n8n/workflow';
import { plain } from '../services/plain';
import { Running } from '../services/Running';
import { step, stopOnSignals } from '../services/step';
import { rehearse } from './rehearse';
import { toExitCode, toJson, toPage, toTable } from './report';
import { startFencedN8n } from './startFencedN8n';
import { SCENARIOS } from './tables';

interface CliOptions {
	readonly all?: string;
	readonly only?: readonly string[];
	readonly json?: true;
	readonly page: string;
}

const NAMES = SCENARIOS.map(({ name }) => name);
/** Paths are those of the folder in which npm was started. */
const fromHere = (path: string) => resolve(process.env['INIT_CWD'] ?? '', path);
const running = new Running();

/** Rehearses the workflows of files. Returns the exit code. */
async function run(
	files: readonly string[],
	{ all, only, json, page }: CliOptions,
): Promise<number> {
	const names = all === undefined ? [] : (await readdir(fromHere(all))).sort();
	const found = names.filter((name) => name.endsWith('.json')).map((name) => join(all!, name));
	const paths = [...files, ...found].map(fromHere);
	const workflows = (await Promise.all(paths.map(readWorkflows))).flat();
	if (workflows.length === 0)
		throw new Error('Name the files of workflows, or a folder with --all');
	// What is printed as JSON has no lines of progress between it.
	const log = (text: string) => {
		console.error(plain(text));
	};
	const inLines: typeof step = (title, work) => {
		log(title);
		return work(log);
	};
	const show = json ? inLines : step;
	await show('Prepare n8n', (onProgress) => installLab({ onProgress }));
	await show('Build the package', buildPackage);
	const n8n = await show('Start n8n', async () => running.keep(await startFencedN8n()));
	const rehearsals = await show(
		`Rehearse ${plain(workflows.map(({ name }) => name).join(', '))}`,
		(onProgress) =>
			rehearse(workflows, {
				n8n,
				only,
				onProgress: (text) => {
					onProgress(plain(text));
				},
			}),
	);
	const refused = await n8n.refused();
	const table = `\n${toTable(rehearsals, refused)}\n\nAs a page: ${page}`;
	console.log(json ? toJson(rehearsals, refused) : table);
	await writeFile(fromHere(page), toPage(rehearsals, refused));
	return toExitCode(rehearsals);
}

function toScenarios(text: string): readonly string[] {
	const wanted = text.split(',');
	if (wanted.every((name) => NAMES.includes(name))) return wanted;
	throw new InvalidArgumentError(`The scenarios are ${NAMES.join(', ')}.`);
}

async function main(files: readonly string[], options: CliOptions): Promise<void> {
	stopOnSignals(running, () => 130);
	const code = await run(files, options).catch((error: unknown) => {
		console.error(`\nThe rehearsal failed: ${plain((error as Error).message)}`);
		return 2;
	});
	await running.stop();
	// After a failure other runs may still wait for their executions.
	process.exit(code);
}

void new Command('npm run rehearse --')
	.description(
		'Runs a copy of your workflow through what can go wrong, with an n8n and an emulator of the service on this\n' +
			'machine. Exits with 1 if a video was lost or paid twice, or an execution was green when it was wrong; with 2 if\n' +
			'that is not known.',
	)
	.argument('[files...]', 'workflows, as n8n exports them')
	.option('--all <folder>', 'all workflows in a folder')
	.option('--only <names>', `scenarios, separated by commas: ${NAMES.join(', ')}`, toScenarios)
	.option('--json', 'print JSON instead of the table')
	.option('--page <path>', 'file for the page with the results', 'rehearsal.html')
	.action(main)
	.parseAsync();
