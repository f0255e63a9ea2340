import { setTimeout as sleep } from 'node:timers/promises';

import type { Fault } from '../../emulator/faults/fault';
import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import type { Execution } from '../n8n/execution';
import type { N8nClient, WorkflowRef } from '../n8n/N8nClient';
import type { ExportedWorkflow } from '../n8n/workflow';
import { copyWorkflow, triggersOf, type Copy, type Start } from './copyWorkflow';
import { hasHappened, judge, type Outcome } from './judge';
import { inParallel } from '../services/inParallel';
import { Running } from '../services/Running';
import { isOwn, type Replacement } from './replacements';
import type { FencedN8n } from './startFencedN8n';
import { SCENARIOS, type Scenario } from './tables';
import { RUN_LIMIT_MS, startCopy } from './startCopy';
import { toResult, withoutFigures, withoutRun, type Result } from './verdict';
import { whyNotJudged } from './whyNotJudged';

/** What the rehearsal of one workflow has shown. */
export interface Rehearsal {
	readonly workflow: string;
	readonly replaced: readonly Replacement[];
	readonly results: readonly Result[];
}

interface RehearsalOptions {
	readonly n8n: FencedN8n;
	/** Names of scenarios; all by default. The normal night is always run: the others are compared with it. */
	readonly only?: readonly string[] | undefined;
	readonly onProgress?: (text: string) => void;
}

/** Runs at the same time. */
const CONCURRENCY = 6;
const LOOK_MS = 20;
/** Without this entry of its log, n8n also finds crashed what was killed before its first node was logged. */
const STARTED = 'n8n.workflow.started';
const NOTHING_HERE = 'Nothing of this package to rehearse.';
const NOT_STARTED = 'No trigger that can be started here leads to a node of this package.';
const [NORMAL] = SCENARIOS as [Scenario, ...Scenario[]];

/** Rehearsals of this process so far. */
let count = 0;

/** A workflow as one of its triggers starts it. */
interface Subject {
	readonly title: string;
	readonly exported: ExportedWorkflow;
	readonly trigger: string | undefined;
	readonly index: number;
}

/** One subject in one scenario, with an emulator and a copy of its own. */
interface Run {
	readonly subject: Subject;
	readonly scenario: Scenario;
	readonly emulator: Emulator;
	readonly copy: Copy;
	readonly ref: WorkflowRef;
	readonly retried: string[];
	outcome?: Outcome;
}

/** A run that could not be made or not be watched to its end, and why. */
interface Failure {
	readonly subject: Subject;
	readonly scenario: Scenario;
	readonly why: string;
}

/** A workflow with several triggers that lead to nodes of this package is rehearsed once for each. */
function subjectsOf(workflows: readonly ExportedWorkflow[]): readonly Subject[] {
	const all = workflows.flatMap((exported) => {
		const { name } = exported;
		const [first, ...others] = triggersOf(exported);
		if (others.length === 0) return [{ title: name, exported, trigger: first }];
		return [first, ...others].map((trigger) => {
			return { title: `${name}, started by "${trigger}"`, exported, trigger };
		});
	});
	return all.map((each, index) => ({ ...each, index }));
}

/**
 * Runs workflows through all scenarios, each in a copy of its own: first the normal night of all, then the other scenarios
 * of those in which it went well, last those with a kill, together. A failure of one ends no other.
 */
export async function rehearse(
	workflows: readonly ExportedWorkflow[],
	{ n8n, only, onProgress = () => undefined }: RehearsalOptions,
): Promise<readonly Rehearsal[]> {
	const others = SCENARIOS.slice(1).filter(({ name }) => !only || only.includes(name));
	const subjects = subjectsOf(workflows);
	const runs: Run[] = [];
	const failures: Failure[] = [];
	// An emulator may get the port of an earlier one, whose tasks are in the ledger of this n8n: its own have other IDs.
	const seed = ++count;
	let total = 0;
	let done = 0;
	const guard = async (of: Pick<Run, 'subject' | 'scenario'>, work: () => Promise<void>) => {
		if (failures.some((each) => each.subject === of.subject && each.scenario === of.scenario))
			return;
		await work().catch((error: unknown) => {
			failures.push({ ...of, why: (error as Error).message });
		});
	};
	const running = new Running();
	const setUp = async (subject: Subject, scenario: Scenario): Promise<Run> => {
		// A video is finished at its first poll. A retry asks for what its first try has asked for.
		const options = { seed, videoSeconds: 0.01, chunkMs: 0, repeatsTexts: true };
		const emulator = running.keep(await startEmulator(options));
		await n8n.allow(emulator.url);
		const id = `${scenario.name}_${subject.index}`;
		const copy = copyWorkflow(subject.exported, id, subject.trigger);
		const data = { baseUrl: emulator.url, apiKey: 'demo-key' };
		await n8n.client.createCredential({ name: id, type: 'agentVideoApi', data });
		const ref = await n8n.client.importWorkflow(copy.workflow);
		const run = { subject, scenario, emulator, retried: [], copy, ref };
		runs.push(run);
		await n8n.client.activate(ref);
		return run;
	};
	const finish = async (run: Run) => {
		run.outcome = await outcomeOf(run, n8n.client);
		await n8n.client.archive(run.ref.id);
		onProgress(`${++done} of ${total}: ${run.subject.title}, ${run.scenario.name}`);
	};
	type Planned = readonly [Subject, Scenario];
	const runAll = async (planned: readonly Planned[]) =>
		inParallel(planned, CONCURRENCY, async ([subject, scenario]) =>
			guard({ subject, scenario }, async () => {
				const run = await setUp(subject, scenario);
				await start(run, n8n);
				if (!scenario.kill) await finish(run);
			}),
		);
	const isFit = ({ index }: Subject) => {
		const run = runs.find(
			({ subject, scenario }) => subject.index === index && scenario === NORMAL,
		);
		if (run?.outcome === undefined) return false;
		return run.outcome.isGreen && whyNotJudged(run.copy, run.outcome) === undefined;
	};
	try {
		const started = subjects.filter(({ trigger }) => trigger !== undefined);
		total = started.length;
		await runAll(started.map((subject) => [subject, NORMAL]));
		const fit = started.filter(isFit);
		total += fit.length * others.length;
		const planned = fit.flatMap((subject) => others.map((each): Planned => [subject, each]));
		await runAll(planned.filter(([, { kill }]) => !kill));
		await runAll(planned.filter(([, { kill }]) => kill));
		const killed = runs.filter(({ scenario }) => scenario.kill);
		if (killed.length > 0) {
			await n8n.kill();
			for (const { emulator } of killed) emulator.faults.clear();
			await n8n.editEventLog((lines) => lines.filter((line) => !line.includes(STARTED)));
			await n8n.start();
		}
		await inParallel(killed, CONCURRENCY, async (run) =>
			guard(run, async () => {
				await retry(run, n8n.client);
				await finish(run);
			}),
		);
	} finally {
		await running.stop();
	}
	return subjects.map((subject) => {
		const own = runs.filter((run) => run.subject === subject);
		const normal = own.find(({ scenario }) => scenario === NORMAL);
		const without = (scenario: Scenario, verdict: string, isJudged?: boolean) =>
			withoutFigures(subject.title, scenario, verdict, isJudged);
		if (subject.trigger === undefined) {
			const why = subject.exported.nodes.some(isOwn) ? NOT_STARTED : NOTHING_HERE;
			return { workflow: subject.title, replaced: [], results: [without(NORMAL, why, true)] };
		}
		const results = [NORMAL, ...others].map((scenario) => {
			const run = own.find((each) => each.scenario === scenario);
			const failure = failures.find(
				(each) => each.subject === subject && each.scenario === scenario,
			);
			if (failure) return withoutRun(subject.title, scenario, failure.why);
			if (run?.outcome === undefined)
				return without(scenario, 'Not judged: the normal night fails.');
			const outcomes = [run.outcome, normal!.outcome!] as const;
			return toResult(subject.title, scenario, run.copy, outcomes);
		});
		return { workflow: subject.title, replaced: normal?.copy.replaced ?? [], results };
	});
}

/** Starts a run. Resolves when it has ended, or when the moment of the kill has come. */
async function start({ copy, scenario, emulator, ref }: Run, n8n: FencedN8n): Promise<void> {
	let started = 0;
	const begin = async (each: Start, times: number) => {
		started += times;
		await Promise.all(Array.from({ length: times }, () => startCopy(n8n.url, each)));
		await n8n.client.untilEnded(ref, started, RUN_LIMIT_MS);
	};
	for (const each of copy.starts.slice(0, -1)) await begin(each, 1);
	emulator.faults.add(...faultsOf(scenario, emulator));
	const end = begin(copy.starts.at(-1)!, scenario.starts);
	// The kill breaks its requests.
	const ended = (scenario.kill ? end.catch(() => undefined) : end).then(() => true);
	const look = async () => sleep(LOOK_MS, scenario.kill && hasHappened(emulator));
	while (!(await Promise.race([ended, look()])));
}

/** The faults of a scenario, of which some are about the first task. */
function faultsOf({ faults }: Scenario, { tasks }: Emulator): readonly Fault[] {
	const named = JSON.stringify(faults).replaceAll('FIRST_TASK', tasks.idOf(1));
	return JSON.parse(named) as readonly Fault[];
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
