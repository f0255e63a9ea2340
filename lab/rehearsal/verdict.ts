import type { INode } from 'n8n-workflow';

import type { Copy } from './copyWorkflow';
import type { Outcome, Unheard } from './judge';
import { OWN } from './replacements';
import type { Scenario } from './tables';

/** One line of the report. */
export interface Result extends Omit<Outcome, 'requests' | 'unheard' | 'wasFaulty'> {
	readonly scenario: string;
	readonly title: string;
	/** Whether anything of the scenario happened to the workflow. */
	readonly applies: boolean;
	readonly paidTwice: number;
	/** What is wrong, and what to change; empty if nothing is. */
	readonly problems: readonly string[];
	readonly verdict: string;
}

/** What one scenario has shown, compared with the normal night. */
export function toResult(
	scenario: Scenario,
	copy: Copy,
	[outcome, normal]: readonly [Outcome, Outcome],
): Result {
	const { requests, unheard, wasFaulty, ...figures } = outcome;
	const { name, title, starts, unless } = scenario;
	const applies = scenario.faults.length === 0 || wasFaulty;
	// A person who starts it a second time wants a second video.
	const times = copy.starts.at(-1)!.byPerson ? starts : 1;
	const paidTwice = applies ? countTwice(requests, normal.requests, times) : 0;
	const problems = unheard.map((each) => describeUnheard(each, outcome));
	if (paidTwice > 0) problems.push(describeTwice(starts, copy, paidTwice));
	const missing = normal.delivered - outcome.delivered;
	const isSilent = outcome.isGreen && outcome.told.length === 0 && missing > 0;
	if ((outcome.lost > 0 || isSilent) && problems.length === 0)
		problems.push(describeLost(copy, outcome, missing));
	if (name === 'normal' && !outcome.isGreen)
		problems.push(`Nothing goes wrong, and the workflow fails: ${outcome.error}`);
	const verdict = applies ? problems.join(' ') || describeGood(outcome) : unless;
	const found = { applies, problems: applies ? problems : [], verdict };
	return { scenario: name, title, ...figures, paidTwice, ...found };
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

type Fields = Record<string, unknown>;
type Options = (Fields & { retries?: { values?: Fields } }) | undefined;
const optionsOf = ({ parameters }: INode) => parameters['options'] as Options;

function switchedOff(nodes: readonly INode[]): string | undefined {
	const off = nodes.find((node) => optionsOf(node)?.['taskLedger'] === false);
	return off && `Switch on Task Ledger in ${off.name}: a retry finds in it what was created.`;
}

function sentAgain(nodes: readonly INode[]): string | undefined {
	const values = (node: INode) => Object.values(optionsOf(node)?.retries?.values ?? {});
	const again = nodes.find((node) => values(node).includes(true));
	return again && `Switch off "Retry If Outcome Is Unknown" in ${again.name}.`;
}

/** What happened, if nothing is wrong. */
function describeGood({ isGreen, open, told, error }: Outcome): string {
	const who = told.length > 0 ? ` Told: ${told.join(', ')}.` : '';
	if (!isGreen) return `Rightly red: ${error}`;
	return `${open > 0 ? `Nothing is lost: ${open} can be collected.` : 'Nothing is lost.'}${who}`;
}
