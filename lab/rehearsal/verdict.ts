import type { INode } from 'n8n-workflow';

import type { Copy } from './copyWorkflow';
import type { Outcome, Unheard } from './judge';
import { OWN } from './replacements';
import type { Scenario } from './tables';
import { describeUnreached, whyNotJudged } from './whyNotJudged';

type Evidence = 'requests' | 'unheard' | 'wasFaulty' | 'ran' | 'failedAt' | 'endless';

/** One line of the report. */
export interface Result extends Omit<Outcome, Evidence> {
	readonly workflow: string;
	readonly scenario: string;
	readonly title: string;
	/** Whether anything of the scenario happened to the workflow. */
	readonly applies: boolean;
	/** Whether it was found out if anything is wrong. */
	readonly isJudged: boolean;
	readonly paidTwice: number;
	/** What is wrong, and what to change; empty if nothing is. */
	readonly problems: readonly string[];
	readonly verdict: string;
}

const FAILS = 'Nothing goes wrong, and the workflow fails: ';
const NO_FIGURES = {
	...{ created: 0, paid: 0, delivered: 0, open: 0, lost: 0, paidTwice: 0 },
	...{ isGreen: false, told: [], error: '', problems: [], applies: false },
};

/** The line of a scenario that has shown nothing, and why. It is judged if there is nothing to find out. */
export const withoutFigures = (
	workflow: string,
	{ name: scenario, title }: Scenario,
	verdict: string,
	isJudged = false,
): Result => ({ ...NO_FIGURES, workflow, scenario, title, isJudged, verdict });

/** What n8n says of nodes with which it does not activate a workflow, nor run it by a click. */
const UNPUBLISHED = /Cannot publish workflow: .*configuration issues:(.*)/s;

/** The line of a scenario that could not be run, and why: the workflow itself is wrong if n8n rejects its settings. */
export function withoutRun(workflow: string, scenario: Scenario, why: string): Result {
	const [, issues = ''] = UNPUBLISHED.exec(why) ?? [];
	// The n8n of the rehearsal may be older than the one that has exported the workflow.
	if (issues === '' || issues.includes('Node type not found'))
		return withoutFigures(workflow, scenario, `The rehearsal of this failed: ${why}`);
	const verdict = `${FAILS}${issues.trim().replaceAll(/\s+(?:- )?/g, ' ')}`;
	const result = withoutFigures(workflow, scenario, verdict, true);
	return { ...result, applies: true, problems: [verdict] };
}

/** What one scenario has shown, compared with the normal night. */
export function toResult(
	workflow: string,
	scenario: Scenario,
	copy: Copy,
	[outcome, normal]: readonly [Outcome, Outcome],
): Result {
	const { requests, unheard, wasFaulty, ran, failedAt, endless, ...figures } = outcome;
	const { name, title, starts, unless } = scenario;
	const why = whyNotJudged(copy, normal);
	if (why !== undefined) return withoutFigures(workflow, scenario, `Not judged. ${why}`);
	const applies = scenario.faults.length === 0 || wasFaulty;
	// A person who starts it a second time wants a second video.
	const times = copy.starts.at(-1)!.byPerson ? starts : 1;
	const paidTwice = applies ? countTwice(requests, normal.requests, times) : 0;
	const problems = unheard.map((each) => describeUnheard(each, outcome));
	if (endless !== '') problems.push(`"${endless}" runs again and again: nothing ends this loop.`);
	if (paidTwice > 0) problems.push(describeTwice(starts, copy, paidTwice));
	const missing = normal.delivered - outcome.delivered;
	const isSilent = outcome.isGreen && outcome.told.length === 0 && missing > 0;
	if ((outcome.lost > 0 || isSilent) && problems.length === 0)
		problems.push(describeLost(copy, outcome, missing));
	if (name === 'normal' && !outcome.isGreen && endless === '')
		problems.push(`${FAILS}${outcome.error}`);
	const unreached = name === 'normal' ? describeUnreached(copy, outcome) : '';
	const said = problems.join(' ') || describeGood(outcome);
	const verdict = applies ? `${said}${unreached}` : unless;
	const found = { applies, isJudged: true, problems: applies ? problems : [], verdict };
	return { workflow, scenario: name, title, ...figures, paidTwice, ...found };
}

/** Videos beyond those of normal nights: more of one request, or more at all, if their prompts differ each time. */
function countTwice(requests: readonly string[], normal: readonly string[], times: number): number {
	const count = (list: readonly string[], each: string) =>
		list.filter((other) => other === each).length;
	const repeated = [...new Set(normal)].reduce(
		(sum, each) => sum + Math.max(0, count(requests, each) - times * count(normal, each)),
		0,
	);
	return Math.max(repeated, requests.length - times * normal.length);
}

const paidVideos = (count: number) => `${count} paid video${count === 1 ? ' was' : 's were'}`;
const nodesOf = ({ workflow }: Copy, type: string) =>
	workflow.nodes.filter((node) => node.type.startsWith(OWN + type));

function describeUnheard([node, output, leads]: Unheard, { lost, isGreen }: Outcome): string {
	const lostUnder = `${paidVideos(lost)} lost under ${isGreen ? 'green' : 'red'}.`;
	const effect = lost > 0 ? lostUnder : 'something failed, and nobody was told.';
	return output === 'mixed'
		? `${node} has what failed among the good items: ${effect} Set its On Error to "Continue (using error output)", and connect that.`
		: `${output} of ${node} ${leads}: ${effect} Connect it to a node that tells somebody.`;
}

const ANOTHER_KEY = 'Each start has another key: make it of what is asked for, in';

function describeTwice(starts: number, copy: Copy, paidTwice: number): string {
	const creators = nodesOf(copy, 'createVideo');
	const open = creators.filter((node) => !optionsOf(node)?.['idempotencyKey']);
	const names = (open.length > 0 ? open : creators).map(({ name }) => name).join(', ');
	const key = `${open.length > 0 ? 'Set an Idempotency Key in' : ANOTHER_KEY} ${names}.`;
	const remedy = starts > 1 ? key : (switchedOff(creators) ?? sentAgain(creators) ?? key);
	return `${paidVideos(paidTwice)} paid a second time. ${remedy}`;
}

function describeLost(copy: Copy, { lost, isGreen }: Outcome, missing: number): string {
	if (lost === 0)
		return `${paidVideos(missing)} not delivered under green, and nobody was told. Let a start pick up what an earlier one has begun.`;
	const remedy =
		switchedOff(nodesOf(copy, '')) ?? 'Pass the task_id on, or switch on Task Ledger.';
	return `${paidVideos(lost)} lost under ${isGreen ? 'green' : 'red'}. ${remedy}`;
}

const optionsOf = ({ parameters }: INode) =>
	parameters['options'] as Readonly<Record<string, unknown>> | undefined;

function switchedOff(nodes: readonly INode[]): string | undefined {
	const off = nodes.find((node) => optionsOf(node)?.['taskLedger'] === false);
	return off && `Switch on Task Ledger in ${off.name}: a retry finds in it what was created.`;
}

function sentAgain(nodes: readonly INode[]): string | undefined {
	const again = nodes.find((node) => optionsOf(node)?.['retryOutcomeUnknown'] === true);
	return again && `Switch off "Retry If Outcome Is Unknown" in ${again.name}.`;
}

/** What happened, if nothing is wrong. */
function describeGood({ isGreen, open, told, error }: Outcome): string {
	const who = told.length > 0 ? ` Told: ${told.join(', ')}.` : '';
	if (!isGreen) return `Rightly red: ${error}`;
	return `${open > 0 ? `Nothing is lost: ${open} can be collected.` : 'Nothing is lost.'}${who}`;
}
