import type { IConnections, IExecuteFunctions, INode } from 'n8n-workflow';

import { rejectMistakes } from '../client/errors';
import { isJsonObject, objectOf } from '../client/json';
import { textOf } from '../shared/chat/schemaForm';
import { engineOf, FIRST_TOOL, isSingleOutput, isToolOutput } from '../shared/run/engine';
import type { ToolEntry } from './properties';

/** Indexes of the outputs before those of the tools. */
export const ANSWER = 0;
export const STOPPED = 1;

/** Loop Over Items, which keeps the items of its earlier runs, as another node of the same type does. */
export const LOOP = 'n8n-nodes-base.splitInBatches';

/** The type and mode of nodes that pass on whatever they get. */
const PASSING =
	/^n8n-nodes-base\.((noOp|set|renameKeys|dateTime|wait|aggregate|sort) |merge append$)/;

/** How often in a row an outcome may lead back, unless Maximum Requests ends that. */
const MAX_RETURNS = 10;

/** Whether a node passes its items on when a person, or another system, has answered. */
export function asksPerson({ type, disabled, parameters }: INode): boolean {
	const { operation, resume } = parameters;
	const text = `${String(operation)} ${String(resume)} ${type}`;
	const answered = /^(sendAndWait|dispatchAndWait) | (webhook|form) |\.(form|respondToWebhook)$/;
	return disabled !== true && answered.test(text);
}

/** Whether such a node goes on by itself after a time. */
function hasTimeLimit({ parameters }: INode): boolean {
	const { limitWaitTime = objectOf(parameters['options'])['limitWaitTime'] } = parameters;
	return limitWaitTime === true || isJsonObject(limitWaitTime);
}

type Drawing = NonNullable<ReturnType<typeof readDrawing>>;

/** The node as it is drawn in the workflow; undefined in an n8n that does not show it. */
export function readDrawing(context: IExecuteFunctions) {
	const { connections, nodes, descriptionOf, destination } = engineOf(context);
	if (connections === undefined) return undefined;
	const agent = context.getNode();
	const { name, type, onError } = agent;
	const toolOutputs = toolOutputsOf(agent);
	const errorOutput = FIRST_TOOL + toolOutputs.length;
	const end = errorOutput + (onError === 'continueErrorOutput' ? 1 : 0);
	const wires = wiresOf(connections, nodes);
	const entered = new Set(wires.map(({ to }) => to));
	const isCall = isToolOutput(agent);
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
		...{ wiresFrom, reach, isPassing },
		/** Whether the workflow has connections behind the last output, or had some. */
		hasMore: (connections[name]?.['main'] ?? []).length > end,
		/** The connections of triggers, and of nodes that nothing leads to. */
		entries: wires.filter(({ from }) => isTrigger(from) || !entered.has(from)),
		isTrigger,
		/** The other agents of this type. */
		agents: Object.values(nodes).flatMap((node) =>
			node?.type === type && node.name !== name && node.disabled !== true ? [node.name] : [],
		),
		/** The nodes in the branches of the tools. */
		inside,
		/** Whether a connection is in the branch of a tool. */
		isBranch: ({ from, output }: Wire) => (from === name ? isCall(output) : inside.has(from)),
	};
}

/** What the errors call the outputs of an agent for tool calls, in their order. */
function toolOutputsOf({ parameters }: INode): string[] {
	if (isSingleOutput(parameters)) return ['Tool Calls'];
	const { tool = [] } = objectOf(parameters['tools']) as { tool?: readonly ToolEntry[] };
	return tool.map(({ name }, index) => `Tool ${textOf(name) || index + 1}`);
}

const STRAIGHT = 'leads straight back to the input';
const SHIFTED =
	'n8n keeps connections by position: after a tool was removed, each later tool leads to the branch of another. Check where each tool output leads';
const USE = 'Only tool branches lead back. Connect this output to the nodes that use it';

const ENDLESS = 'leads back to the input, and no node on the way can end that';
const ENDED = 'Use Loop Over Items for a list, or an IF with an exit, or set Maximum Requests';

/** Maximum Requests counts no errors that come before a request. */
const ENDED_ERRORS = 'Lead its errors to an IF with an exit, or to nodes that do not lead back';

/**
 * Ends what the drawing does not.
 *
 * @param times How often in a row an outcome has led back, and `failures`: how often of these an error.
 * @param isBounded Whether Maximum Requests ends all but errors.
 * @throws InputError when that is too often.
 */
export function checkReturns(
	{ times, failures }: { readonly times: number; readonly failures: number },
	isBounded: boolean,
): void {
	const problem = `has led back to the input ${MAX_RETURNS} times in a row`;
	rejectMistakes('Answer, Stopped or Error', [
		[failures > MAX_RETURNS, problem, ENDED_ERRORS],
		[times > MAX_RETURNS && !isBounded, problem, ENDED],
	]);
}

/**
 * Checks that every tool call can come back as a result, before the first request is paid for.
 *
 * @param needsBranches Whether tool calls can leave the node.
 * @param isBounded Whether Maximum Requests ends what the drawing does not.
 * @throws InputError that names the output and says what to draw.
 */
export function checkDrawing(
	drawing: Drawing | undefined,
	needsBranches: boolean,
	isBounded: boolean,
): void {
	if (drawing === undefined) return;
	const { name, toolOutputs, errorOutput, end, hasMore, wiresFrom, reach } = drawing;
	const labels = ['Answer', 'Stopped', ...toolOutputs, 'Error'];
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
	const answers = wiresFrom(name, ANSWER);
	const isEndless = !isBounded && reach(answers, [name], drawing.isPassing).has(name);
	rejectMistakes('Answer', [[isEndless, ENDLESS, ENDED]]);
}

/** Rejects a branch that another agent has, too: the results of the calls of one would be questions for the other. */
function checkAgents(drawing: Drawing, label: string, branch: readonly Wire[]): void {
	const { name, nodes, agents, wiresFrom, reach } = drawing;
	const ends = [name, ...agents];
	const own = reach(branch, ends);
	for (const agent of agents) {
		const isCall = isToolOutput(nodes[agent]!);
		const [calls, outcomes] = [true, false].map((is) =>
			wiresFrom(agent).filter(({ output }) => isCall(output) === is),
		);
		const theirs = reach(calls!, ends);
		const shared = [...own].find((node) => {
			if (ends.includes(node) || !theirs.has(node)) return false;
			const after = reach(wiresFrom(node), ends);
			return ends.some((end) => after.has(end));
		});
		const isForked = own.has(name) && own.has(agent);
		rejectMistakes(label, [
			[
				shared !== undefined,
				`shares the node ${shared} with the agent ${agent}`,
				'Each result would be a question for the other agent. Give each agent nodes of its own, or call a sub-workflow from both branches',
			],
			[
				isForked && !reach(outcomes!, [name, agent]).has(name),
				`leads to the agent ${agent} as well`,
				`Each result would be a question for it. Connect ${agent} behind Answer, or lead its answers back to ${name}`,
			],
		]);
	}
}

/** Rejects nodes on the way back that n8n runs right for the first call only. */
function checkNodes(drawing: Drawing, label: string, branch: readonly Wire[], back: string): void {
	const { name, nodes, wires, entries, isBranch, wiresFrom, reach } = drawing;
	for (const node of reach(branch)) {
		const after = reach(wiresFrom(node));
		if (node === name || !after.has(name)) continue;
		const { type, disabled, parameters } = nodes[node] ?? {};
		const { reset } = objectOf(parameters?.['options']);
		// One that names nothing gives the same in each round.
		const isEndless = type === LOOP && disabled !== true && !/^=.*\$/s.test(String(reset));
		const received = wires.filter(({ to }) => to === node);
		const ways = received.filter(isBranch).map(({ from }) => from);
		const isBefore = (from: string) => from === name || (from !== node && !after.has(from));
		const before = ways.find(isBefore) ?? ways[0];
		const isOuter = isEndless && reach(entries).has(node);
		rejectMistakes(label, [[isOuter, `leads to ${node}, which the questions pass`, back]]);
		const isJoin = received.some(({ input }) => input > 0);
		const other = isJoin ? received.find((wire) => !isBranch(wire)) : undefined;
		rejectMistakes(node, [
			[
				isEndless,
				'has no expression for Reset',
				`Without it, n8n returns the calls of the next round at once. Set its option Reset to {{ $prevNode.name === '${before}' }}`,
			],
			[
				// A Merge through which the questions come is no part of the branch.
				other !== undefined && reach(entries, [name, node]).has(name),
				`gets items of ${other?.from}, which no tool call brings`,
				`They come once, and not again with the next call. Delete that connection, and read them by an expression such as {{ $('${other?.from}').all() }}, or in a sub-workflow`,
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
