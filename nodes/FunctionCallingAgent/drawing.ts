import type { IConnections, IExecuteFunctions, INode } from 'n8n-workflow';

import { rejectMistakes } from '../client/errors';
import { objectOf } from '../client/json';
import {
	asksPerson,
	batchOutput,
	hasTimeLimit,
	JOINING,
	LOOP,
	PASSING,
	workflowOf,
} from '../shared/engine/workflow';
import { runDataOf } from '../shared/engine/nodeRun';
import { canPlanRuns } from '../shared/engine/stack';
import { textOf } from '../shared/chat/schemaForm';
import { FIRST_TOOL, isSingleOutput, isToolOutput } from '../shared/run/toolCall';
import type { ToolEntry } from './properties';

/** Indexes of the outputs before those of the tools. */
export const ANSWER = 0;
export const STOPPED = 1;

/** An expression for Reset of Loop Over Items that can differ between the rounds of the loop and a new list. */
const RESETTING = /^=.*\$(?!(runIndex|itemIndex|now|today|vars|env|workflow)\b)/s;

/** How often in a row an outcome may lead back. */
const MAX_RETURNS = 10;

type Drawing = NonNullable<ReturnType<typeof readDrawing>>;

/** This node, or another agent, as it is drawn in the workflow; undefined in an n8n that does not show it. */
export function readDrawing(context: IExecuteFunctions, agent = context.getNode()) {
	const { connections, nodes, descriptionOf, destination } = workflowOf(context);
	if (connections === undefined) return undefined;
	const { name, type, onError, parameters } = agent;
	const { tool = [] } = objectOf(parameters['tools']) as { tool?: readonly ToolEntry[] };
	const of = name === context.getNode().name ? '' : ` of ${name}`;
	const toolOutputs = isSingleOutput(parameters)
		? [`Tool Calls${of}`]
		: tool.map((each, index) => `Tool ${textOf(each.name) || index + 1}${of}`);
	const errorOutput = FIRST_TOOL + toolOutputs.length;
	const end = errorOutput + (onError === 'continueErrorOutput' ? 1 : 0);
	const wires = wiresOf(connections, nodes);
	const entered = new Set(wires.map(({ to }) => to));
	const isCall = isToolOutput(agent);
	const agents = Object.values(nodes).flatMap((node) =>
		node?.type === type && node.name !== name && node.disabled !== true ? [node] : [],
	);
	const isTrigger = (node: string) => descriptionOf(node)?.group.includes('trigger') === true;

	/** The connections of a node, or of one of its outputs. */
	const wiresFrom = (node: string, output?: number) =>
		wires.filter((wire) => wire.from === node && wire.output === (output ?? wire.output));

	/** The nodes on all ways that begin with these connections. The ways end at the given nodes. */
	function reach(
		start: readonly Wire[],
		ends: readonly string[] = [name],
		follows: (wire: Wire) => boolean = () => true,
	): ReadonlySet<string> {
		const found = new Set(start.map(({ to }) => to));
		// A set can grow while it is iterated.
		for (const node of found)
			if (!ends.includes(node))
				for (const wire of wiresFrom(node)) if (follows(wire)) found.add(wire.to);
		return found;
	}

	/** Whether every item that reaches the node leaves it through this connection. */
	const isPassing = ({ from, output }: Wire) => {
		const node = nodes[from]!;
		const { mode = 'append' } = node.parameters;
		const passes = asksPerson(node)
			? hasTimeLimit(node)
			: node.type === type || PASSING.test(`${node.type} ${String(mode)}`);
		return node.disabled === true || (output === ANSWER && passes);
	};

	const inside = reach(wiresFrom(name).filter(({ output }) => isCall(output)));
	return {
		...{ name, nodes, wires, destination, toolOutputs, errorOutput, end },
		...{ wiresFrom, reach, isPassing, of },
		/** Whether the workflow has connections behind the last output, or had some. */
		hasMore: (connections[name]?.['main'] ?? []).length > end,
		/** The connections of triggers, and of nodes that nothing leads to. */
		entries: wires.filter(({ from }) => isTrigger(from) || !entered.has(from)),
		isTrigger,
		/** The other agents of this type. */
		agents,
		/** Whether a connection is for the tool calls of another agent. */
		isForeign: ({ from, output }: Wire) =>
			agents.some((other) => other.name === from && isToolOutput(other)(output)),
		/** The nodes in the branches of the tools. */
		inside,
		/** Whether a connection is in the branch of a tool. */
		isBranch: ({ from, output }: Wire) => (from === name ? isCall(output) : inside.has(from)),
	};
}

const NO_WAY_BACK = 'cannot run in this engine of n8n: it leads nothing back to a node';
const OTHER_ENGINE =
	'Nothing was sent. If the settings of the workflow have engineType v2, remove it. Otherwise use a version of n8n that the documentation of this package names';

const STRAIGHT = 'leads straight back to the input';
const SHIFTED =
	'n8n keeps connections by position: after a tool was removed, each later tool leads to the branch of another. Check where each tool output leads';
const USE = 'Only tool branches lead back. Connect this output to the nodes that use it';

const ENDLESS = 'leads back to the input, and no node on the way can end that';
const ENDED = 'Use Loop Over Items for a list, or an IF with an exit';
const ENDED_ERRORS = 'Lead its errors to an IF with an exit, or to nodes that do not lead back';

/**
 * Ends what the drawing does not.
 *
 * @param times How often in a row an outcome has led back, and `failures`: how often of these an error.
 * @throws InputError when that is too often.
 */
export function checkReturns({
	times,
	failures,
}: {
	readonly times: number;
	readonly failures: number;
}): void {
	const problem = `has led back to the input ${MAX_RETURNS} times in a row`;
	rejectMistakes('Answer, Stopped or Error', [
		[failures > MAX_RETURNS, problem, ENDED_ERRORS],
		[times > MAX_RETURNS, problem, ENDED],
	]);
}

/**
 * Checks the drawing of this node, and of the agents behind it, which would fail after this one was paid for.
 *
 * @throws InputError that names the output and says what to draw.
 */
export function checkDrawings(context: IExecuteFunctions, needsBranches: boolean): void {
	const leadsBack = canPlanRuns(context) && runDataOf(context) !== undefined;
	rejectMistakes('Tool branches', [[needsBranches && !leadsBack, NO_WAY_BACK, OTHER_ENGINE]]);
	const own = readDrawing(context);
	if (own === undefined) return;
	checkDrawing(own, needsBranches);
	const isEndless = own
		.reach(own.wiresFrom(own.name, ANSWER), [own.name], own.isPassing)
		.has(own.name);
	rejectMistakes('Answer', [[isEndless, ENDLESS, ENDED]]);
	const behind = own.reach(own.wiresFrom(own.name));
	for (const agent of own.agents) {
		const drawing = readDrawing(context, agent)!;
		const { toolSource } = agent.parameters;
		const hasTools = toolSource !== 'json' && drawing.toolOutputs.length > 0;
		const isStopping = agent.onError?.startsWith('continue') !== true;
		if (isStopping && behind.has(agent.name)) checkDrawing(drawing, hasTools);
	}
}

/**
 * Checks that every tool call can come back as a result, before the first request is paid for.
 *
 * @param needsBranches Whether tool calls can leave the node.
 * @throws InputError that names the output and says what to draw.
 */
function checkDrawing(drawing: Drawing, needsBranches: boolean): void {
	const { name, of, toolOutputs, errorOutput, end, hasMore, wiresFrom, reach } = drawing;
	const labels = [`Answer${of}`, `Stopped${of}`, ...toolOutputs, `Error${of}`];
	const leadsBack = (start: readonly Wire[]) => reach(start).has(name);
	const isStraight = (start: readonly Wire[]) => start.some(({ to }) => to === name);
	// A removed tool leaves its connection, or an additional empty slot and the branch of the last tool, to which nothing
	// leads any more. n8n never removes the slot, so alone it means nothing.
	const left = wiresFrom(name).find(({ output }) => output >= end);
	const lost = `are left of an output that no longer exists, to ${left?.to}`;
	const remove = `${SHIFTED}, and delete the connection without a label`;
	rejectMistakes('Connections', [[left !== undefined, lost, remove]]);
	const isOrphan = (wire: Wire) =>
		wire.from !== name && !drawing.isTrigger(wire.from) && leadsBack([wire]);
	const orphan = hasMore ? drawing.entries.find(isOrphan)?.from : undefined;
	const connect = `${SHIFTED} and connect them again. Delete ${orphan} only if no tool needs it`;
	const leads = 'which leads back to this node';
	rejectMistakes(`Nothing leads to ${orphan},`, [[orphan !== undefined, leads, connect]]);
	const failed = hasMore ? wiresFrom(name, errorOutput) : [];
	const branch = `leads to ${failed[0]?.to}, the branch of a tool`;
	rejectMistakes('Error', [[leadsBack(failed), branch, SHIFTED]]);
	for (const output of [ANSWER, STOPPED, errorOutput])
		rejectMistakes(labels[output]!, [[isStraight(wiresFrom(name, output)), STRAIGHT, USE]]);
	const alone = 'runs this node without the branches of its tools';
	const isAlone = needsBranches && drawing.destination === name;
	rejectMistakes('Execute step', [[isAlone, alone, 'Execute the whole workflow instead']]);
	const between = `Connect its output to the nodes that run it, and the last of them to the input of ${name}`;
	const back = `Connect the last node of the branch to the input of ${name}`;
	for (const [index, label] of needsBranches ? toolOutputs.entries() : []) {
		const targets = wiresFrom(name, FIRST_TOOL + index);
		rejectMistakes(label, [
			[targets.length === 0, 'has no branch', between],
			[isStraight(targets), STRAIGHT, between],
			[!leadsBack(targets), 'has a branch that does not lead back', back],
		]);
		checkAgents(drawing, label, targets);
		checkNodes(drawing, label, targets, back);
	}
}

/** Rejects a branch that another agent has, too: the results of the calls of one would be questions for the other. */
function checkAgents(drawing: Drawing, label: string, branch: readonly Wire[]): void {
	const { name, agents, isForeign, wiresFrom, reach } = drawing;
	const ends = [name, ...agents.map((agent) => agent.name)];
	const own = reach(branch, ends);
	for (const { name: agent } of agents) {
		const theirs = reach(wiresFrom(agent).filter(isForeign), ends);
		const outcomes = wiresFrom(agent).filter((wire) => !isForeign(wire));
		const returns = (node: string) => ends.some((end) => reach(wiresFrom(node), ends).has(end));
		const shared = [...own].find(
			(node) => !ends.includes(node) && theirs.has(node) && returns(node),
		);
		const isForked = own.has(name) && own.has(agent);
		rejectMistakes(label, [
			[
				shared !== undefined,
				`shares the node ${shared} with the agent ${agent}`,
				'Each result would be a question for the other agent. Give each agent nodes of its own, or call a sub-workflow from both branches',
			],
			[
				isForked && !reach(outcomes, [name, agent]).has(name),
				`leads to the agent ${agent} as well`,
				`Each result would be a question for it. Connect ${agent} behind Answer, or lead its answers back to ${name}`,
			],
		]);
	}
}

/** Rejects nodes on the way back that n8n runs right for the first call only, or that bring no result. */
function checkNodes(drawing: Drawing, label: string, branch: readonly Wire[], back: string): void {
	const { name, nodes, wires, entries, isBranch, isForeign, wiresFrom } = drawing;
	// The branches of other agents are checked as their own.
	const reach = (start: readonly Wire[], ends = [name]) =>
		drawing.reach(start, ends, (wire) => !isForeign(wire));
	const own = reach(branch);
	for (const node of own) {
		const after = reach(wiresFrom(node));
		const { type, typeVersion, disabled, parameters } = nodes[node]!;
		if (node === name || disabled === true || !after.has(name)) continue;
		const { mode, combineBy, joinMode, numberInputs = 2 } = parameters;
		const { reset, waitForSubWorkflow, includeUnpaired } = objectOf(parameters['options']);
		const received = wires.filter(({ to }) => to === node);
		const ways = received.filter(isBranch).map(({ from }) => from);
		const isBefore = (from: string) => from === name || (from !== node && !after.has(from));
		const before = ways.some(isBefore) ? ways.filter(isBefore) : ways;
		const text = String(reset).replaceAll('\\', '');
		const isNamed = (from: string) => !text.includes('$prevNode') || text.includes(from);
		const isRight =
			before.every(isNamed) || ways.some((way) => !before.includes(way) && isNamed(way));
		const isEndless = type === LOOP && !(RESETTING.test(text) && isRight);
		const isOuter = isEndless && reach(entries).has(node);
		rejectMistakes(label, [[isOuter, `leads to ${node}, which the questions pass`, back]]);
		const isNew = before.map((from) => `$prevNode.name === ${JSON.stringify(from)}`);
		const batch = reach(wiresFrom(node, batchOutput(typeVersion)));
		const isJoin = received.some(({ input }) => input > 0);
		const other = isJoin ? received.find((wire) => !isBranch(wire)) : undefined;
		const brought = received.filter((wire) =>
			wire.from === name ? branch.includes(wire) : own.has(wire.from),
		);
		const inputs = new Set(brought.map(({ input }) => input));
		const isShort =
			JOINING.test([type, mode, combineBy, joinMode, includeUnpaired].join(' ')) &&
			inputs.size < Number(numberInputs);
		rejectMistakes(node, [
			[
				isEndless,
				`has no expression for Reset that tells the items of ${before.join(' and ')} from those of the loop`,
				`Without it, n8n returns the calls of the next round at once. Set its option Reset to {{ ${isNew.join(' || ')} }}`,
			],
			[
				type === LOOP && batch.has(name) && !batch.has(node),
				`leads to ${name} from its output loop, and not back to itself`,
				`n8n would pass on the first batch only. Lead the last node of the loop to ${node}, and the output done to ${name}`,
			],
			[
				waitForSubWorkflow === false && wiresFrom(node).some(({ to }) => to === name),
				'does not wait for its sub-workflow, so that the result would be the call itself',
				'Switch on Wait For Sub-Workflow Completion, or add Edit Fields behind it, with what the model is to know',
			],
			[
				// A Merge through which the questions come is no part of the branch.
				other !== undefined && reach(entries, [name, node]).has(name),
				`gets items of ${other?.from}, which no tool call brings`,
				`They come once, and not again with the next call. Delete that connection, and read them by an expression such as {{ $(${JSON.stringify(other?.from)}).all() }}, or in a sub-workflow`,
			],
			[
				isShort && !reach(branch, [name, node]).has(name),
				`outputs nothing before it has items at each input, and a call of ${label} does not bring them`,
				`Set its Mode to Append, or lead each tool back to ${name} by itself`,
			],
		]);
	}
}

/** A connection from an output of a node to an input of another one. */
interface Wire {
	readonly from: string;
	readonly output: number;
	readonly to: string;
	readonly input: number;
}

/** The connections of a workflow. A disabled node passes the items of its first input on, to its first output. */
function wiresOf(connections: IConnections, nodes: Readonly<Record<string, INode | undefined>>) {
	const isDead = (node: string, index: number) => index > 0 && nodes[node]?.disabled === true;
	return Object.entries(connections).flatMap(([from, { main = [] }]) =>
		main.flatMap((targets, output) =>
			(targets ?? []).flatMap(({ node: to, index: input }): Wire[] =>
				isDead(from, output) || isDead(to, input) ? [] : [{ from, output, to, input }],
			),
		),
	);
}
