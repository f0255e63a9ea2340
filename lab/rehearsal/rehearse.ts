import { setTimeout as sleep } from 'node:timers/promises';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import type { Execution } from '../n8n/execution';
import type { N8nClient, WorkflowRef } from '../n8n/N8nClient';
import type { RestartableN8n } from '../n8n/restartableN8n';
import type { ExportedWorkflow } from '../n8n/workflow';
import { copyWorkflow, type Copy, type Start } from './copyWorkflow';
import { hasHappened, judge, type Outcome } from './judge';
import { inParallel } from '../services/inParallel';
import { Running } from '../services/Running';
import type { Replacement } from './replacements';
import { SCENARIOS, type Scenario } from './tables';
import { RUN_LIMIT_MS, startCopy } from './startCopy';
import { toResult, type Result } from './verdict';

/** What the rehearsal of one workflow has shown. */
export interface Rehearsal {
	readonly workflow: string;
	readonly replaced: readonly Replacement[];
	readonly results: readonly Result[];
}

interface RehearsalOptions {
	readonly n8n: RestartableN8n;
	/** Names of scenarios; all by default. The normal night is always run: the others are compared with it. */
	readonly only?: readonly string[] | undefined;
	readonly onProgress?: (text: string) => void;
}

/** Runs at the same time. */
const CONCURRENCY = 6;
const LOOK_MS = 20;
/** Without this entry of its log, n8n also finds crashed what was killed before its first node was logged. */
const STARTED = 'n8n.workflow.started';

/** One workflow in one scenario, with an emulator and a copy of its own. */
interface Run {
	readonly scenario: Scenario;
	readonly emulator: Emulator;
	readonly copy: Copy;
	readonly ref: WorkflowRef;
	readonly retried: string[];
	outcome?: Outcome;
}

/** Runs workflows through all scenarios, each in a copy of its own; those with a kill last, together. */
export async function rehearse(
	workflows: readonly ExportedWorkflow[],
	{ n8n, only, onProgress = () => undefined }: RehearsalOptions,
): Promise<readonly Rehearsal[]> {
	const isWanted = ({ name }: Scenario) => name === 'normal' || !only || only.includes(name);
	const scenarios = SCENARIOS.filter(isWanted);
	const runs: Run[] = [];
	const finish = async (run: Run) => {
		run.outcome = await outcomeOf(run, n8n.client);
		await n8n.client.archive(run.ref.id);
		const done = runs.filter(({ outcome }) => outcome !== undefined).length;
		onProgress(`${done} of ${runs.length} runs: ${run.copy.workflow.name}`);
	};
	const running = new Running();
	try {
		for (const [index, exported] of workflows.entries()) {
			for (const scenario of scenarios) {
				// A video is finished at its first poll. A retry asks for what its first try has asked for.
				const options = { seed: 1, videoSeconds: 0.01, chunkMs: 0, repeatsTexts: true };
				const emulator = running.keep(await startEmulator(options));
				const id = `${scenario.name}_${index}`;
				const copy = copyWorkflow(exported, id);
				const data = { baseUrl: emulator.url, apiKey: 'demo-key' };
				await n8n.client.createCredential({ name: id, type: 'agentVideoApi', data });
				const ref = await n8n.client.importWorkflow(copy.workflow);
				await n8n.client.activate(ref);
				runs.push({ scenario, emulator, retried: [], copy, ref });
			}
		}
		const killed = runs.filter(({ scenario }) => scenario.kill);
		const others = runs.filter(({ scenario }) => !scenario.kill);
		const startAndFinish = async (run: Run) => start(run, n8n).then(() => finish(run));
		await inParallel(others, CONCURRENCY, startAndFinish);
		await inParallel(killed, CONCURRENCY, async (run) => start(run, n8n));
		if (killed.length > 0) {
			await n8n.kill();
			for (const { emulator } of killed) emulator.faults.clear();
			await n8n.editEventLog((lines) => lines.filter((line) => !line.includes(STARTED)));
			await n8n.start();
		}
		const retryAndFinish = async (run: Run) => retry(run, n8n.client).then(() => finish(run));
		await inParallel(killed, CONCURRENCY, retryAndFinish);
	} finally {
		await running.stop();
	}
	return workflows.map(({ name }, index) => {
		const own = runs.slice(index * scenarios.length, (index + 1) * scenarios.length);
		const [{ outcome: normal, copy }] = own as [Run];
		const results = own.map((run) => toResult(run.scenario, run.copy, [run.outcome!, normal!]));
		return { workflow: name, replaced: copy.replaced, results };
	});
}

/** Starts a run. Resolves when it has ended, or when the moment of the kill has come. */
async function start({ copy, scenario, emulator, ref }: Run, n8n: RestartableN8n): Promise<void> {
	let started = 0;
	const begin = async (each: Start, times: number) => {
		started += times;
		await Promise.all(Array.from({ length: times }, () => startCopy(n8n.url, each)));
		await n8n.client.untilEnded(ref, started, RUN_LIMIT_MS);
	};
	for (const each of copy.starts.slice(0, -1)) await begin(each, 1);
	emulator.faults.add(...scenario.faults);
	const end = begin(copy.starts.at(-1)!, scenario.starts);
	// The kill breaks its requests.
	const ended = (scenario.kill ? end.catch(() => undefined) : end).then(() => true);
	const look = async () => sleep(LOOK_MS, scenario.kill && hasHappened(emulator));
	while (!(await Promise.race([ended, look()])));
}

/** Retries what has crashed, also what a workflow has called. */
async function retry({ ref, retried }: Run, client: N8nClient): Promise<void> {
	for (const { id } of await client.allExecutions(ref)) {
		const { status } = await client.waitForExecution(id);
		if (status === 'success') continue;
		retried.push(id);
		await client.retry(id);
	}
	await client.untilEnded(ref, retried.length, RUN_LIMIT_MS);
}

async function outcomeOf({ ref, retried, ...run }: Run, client: N8nClient): Promise<Outcome> {
	const executions: Execution[] = [];
	for (const { id } of await client.allExecutions(ref))
		if (!retried.includes(id)) executions.push(await client.readExecution(id));
	const rows = (await client.dataTableRows('agent_video_tasks')) ?? [];
	const ledger = rows.filter((row) => row['workflow_id'] === ref.id);
	return judge({ ...run, executions, ledger });
}
