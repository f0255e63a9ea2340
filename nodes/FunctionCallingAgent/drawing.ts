/**
 * Drawing: what is rejected before the first request, as the loop through the tools cannot work. One function for each rule.
 * Whatever else brings no result is an error when the execution ends.
 */
import { CHAT_TRIGGER_NODE_TYPE, type IExecuteFunctions, type INode } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { objectOf } from '../client/json';
import { nodeOf } from '../shared/engine/context';
import { canPlanRuns, runDataOf } from '../shared/engine/runs';
import { batchOutput, LOOP, workflowOf, type Wire } from '../shared/engine/workflow';
import { textOf } from '../shared/chat/schemaForm';
import { FIRST_TOOL, isSingleOutput } from '../shared/run/nodeContext';
import type { ToolEntry } from './properties';

/** Indexes of the outputs before those of the tools. */
export const ANSWER = 0;
export const STOPPED = 1;

/** An expression for Reset of Loop Over Items that can differ between the rounds of the loop and a new list. */
const RESETTING = /^=.*\$(?!(runIndex|itemIndex|now|today|vars|env|workflow)\b)/s;

type Drawing = ReturnType<typeof readDrawing>;
/** The arguments of an InputError. */
type Mistake = readonly [field: string, problem: string, hint: string];
/** Finds what is drawn wrong around an agent: this node, or one behind it. */
type Rule = (drawing: Drawing, agent: INode) => Mistake | undefined;
/** Finds what is wrong with a node in the branches of its tools. */
type BranchRule = (
	...args: [...Parameters<Rule>, node: INode, branch: ReadonlySet<string>]
) => Mistake | undefined;

/** The tools that are entered in the form of an agent. */
export const entriesOf = ({ parameters }: INode): readonly ToolEntry[] =>
	(objectOf(parameters['tools']) as { tool?: readonly ToolEntry[] }).tool ?? [];

/** The workflow as it is drawn. */
function readDrawing(context: IExecuteFunctions) {
	const workflow = workflowOf(context);
	const { nodes, descriptionOf } = workflow;
	const wires = workflow.wires();
	const own = nodeOf(context);
	const from = (node: string) => wires.filter((wire) => wire.from === node);
	const entered = new Set(wires.map(({ to }) => to));
	const isTrigger = (node: string) => descriptionOf(node)?.group.includes('trigger') === true;
	/** The enabled agents of this type. */
	const agents = Object.values(nodes).filter(
		(node): node is INode => node?.type === own.type && node.disabled !== true,
	);
	/** The outputs of an agent, the one for errors last, as n8n numbers them. */
	const outputsOf = (agent: INode) => {
		const { name, parameters } = agent;
		const tools = isSingleOutput(parameters)
			? ['Tool Calls']
			: entriesOf(agent).map((each, index) => `Tool ${textOf(each.name) || index + 1}`);
		return ['Answer', 'Stopped', ...tools, 'Error'].map((label, output) => ({
			label: name === own.name ? label : `${label} of ${name}`,
			isTool: output >= FIRST_TOOL && output < FIRST_TOOL + tools.length,
			wires: from(name).filter((wire) => wire.output === output),
		}));
	};
	const toolsOf = (agent: INode) => outputsOf(agent).filter(({ isTool }) => isTool);
	const callsOf = (agent: INode) => toolsOf(agent).flatMap((tool) => tool.wires);
	const calls = new Set(agents.flatMap(callsOf));
	/** The nodes on all ways that begin with these connections, without the tool branches of agents. The ways end at some nodes. */
	function reach(start: readonly Wire[], ...ends: readonly string[]) {
		const found = new Set(start.map(({ to }) => to));
		// A set can grow while it is iterated.
		for (const node of found)
			for (const wire of ends.includes(node) ? [] : from(node))
				if (!calls.has(wire)) found.add(wire.to);
		return found;
	}
	return {
		...{ ...workflow, wires, from, isTrigger, agents, outputsOf, toolsOf, calls, reach },
		/** The connections of triggers, and of nodes that nothing leads to. */
		entries: wires.filter((wire) => isTrigger(wire.from) || !entered.has(wire.from)),
		/** The nodes in the branches of the tools of an agent. */
		inside: (agent: INode) => reach(callsOf(agent), agent.name),
	};
}

/** Whether this is an *Execute step* on a node in the branch of a tool: it ends before the result comes back. */
export function isStepInBranch(context: IExecuteFunctions): boolean {
	const { destination } = workflowOf(context);
	if (destination === undefined) return false;
	const { agents, inside } = readDrawing(context);
	return agents.some((agent) => inside(agent).has(destination));
}

const SHIFTED =
	'n8n keeps connections by position: after a tool was removed, each later tool leads to the branch of another. Check where each tool output leads';
const between = (name: string) =>
	`Connect its output to the nodes that run it, and the last of them to the input of ${name}`;
const back = (name: string) => `Connect the last node of the branch to the input of ${name}`;

/** A removed tool leaves its connection, or an empty slot, which alone means nothing: n8n never removes it. */
const removedTool: Rule = ({ connections = {}, entries, ...drawing }, agent) => {
	const { from, isTrigger, outputsOf, reach } = drawing;
	const { name, onError } = agent;
	const outputs = outputsOf(agent);
	const end = outputs.length - (onError === 'continueErrorOutput' ? 0 : 1);
	const left = from(name).find(({ output }) => output >= end);
	const lost = `are left of an output that no longer exists, to ${left?.to}`;
	if (left) return ['Connections', lost, `${SHIFTED}, and delete the connection without a label`];
	if ((connections[name]?.['main'] ?? []).length <= end) return undefined;
	const isOrphan = (wire: Wire) =>
		wire.from !== name && !isTrigger(wire.from) && reach([wire], name).has(name);
	const orphan = entries.find(isOrphan)?.from;
	const connect = `${SHIFTED} and connect them again. Delete ${orphan} only if no tool needs it`;
	if (orphan) return [`Nothing leads to ${orphan},`, 'which leads back to this node', connect];
	const failed = outputs.at(-1)!.wires;
	const branch = `leads to ${failed[0]?.to}, the branch of a tool`;
	return reach(failed, name).has(name) ? ['Error', branch, SHIFTED] : undefined;
};

const straightBack: Rule = ({ outputsOf }, agent) => {
	const found = outputsOf(agent).find(({ wires }) => wires.some(({ to }) => to === agent.name));
	const use = 'Only tool branches lead back. Connect this output to the nodes that use it';
	const hint = found?.isTool ? between(agent.name) : use;
	return found && [found.label, 'leads straight back to the input', hint];
};

const executedStep: Rule = ({ destination, nodes }, { name }) =>
	destination === name
		? ['Execute step', 'runs this node without the branches of its tools', wholeRun(nodes)]
		: undefined;

/** How to run the whole workflow: n8n has no button for one with a chat. */
export function wholeRun(nodes: Drawing['nodes']): string {
	const isChat = Object.values(nodes).some((node) => node?.type === CHAT_TRIGGER_NODE_TYPE);
	return isChat
		? 'Click Open chat below and send a message, which runs the whole workflow'
		: 'Execute the whole workflow instead';
}

const noBranch: Rule = ({ toolsOf }, agent) => {
	const tool = toolsOf(agent).find(({ wires }) => wires.length === 0);
	return tool && [tool.label, 'has no branch', between(agent.name)];
};

const TAKEN = 'If it handles errors, connect it to Error: a new tool takes over its connection';

const notBack: Rule = ({ toolsOf, outputsOf, reach }, agent) => {
	const { name, onError } = agent;
	const tool = toolsOf(agent).find(({ wires }) => !reach(wires, name).has(name));
	const isTaken =
		onError === 'continueErrorOutput' && outputsOf(agent).at(-1)!.wires.length === 0;
	const hint = isTaken ? `${back(name)}. ${TAKEN}` : back(name);
	return tool && [tool.label, 'has a branch that does not lead back', hint];
};

/** The results of the calls of one agent would be questions for the other, unless that one answers into the branch. */
const otherAgent: Rule = ({ agents, calls, from, reach, inside }, own) => {
	const ends = agents.map(({ name }) => name);
	const isLeading = (node: string) =>
		!ends.includes(node) && [...reach(from(node))].some((each) => ends.includes(each));
	const branch = inside(own);
	for (const other of agents.filter(({ name }) => name !== own.name)) {
		const theirs = inside(other);
		const shared = [...branch].find((node) => theirs.has(node) && isLeading(node));
		const outcomes = from(other.name).filter((wire) => !calls.has(wire));
		const isAsked = branch.has(other.name) && !reach(outcomes, own.name).has(own.name);
		if (shared !== undefined || isAsked)
			return [
				'Tool branches',
				`lead to the agent ${other.name} as well${shared === undefined ? '' : `, through ${shared}`}`,
				`Each result would be a question for the other agent. Give each agent nodes of its own, connect ${other.name} behind Answer, or lead its answers back to ${own.name}`,
			];
	}
	return undefined;
};

/** Without Reset n8n goes on in the list of an earlier call: the next calls come back at once, as their own results. */
const loopWithoutReset: BranchRule = (drawing, { name }, { name: loop, ...node }, branch) => {
	const { wires, entries, from, reach } = drawing;
	const after = reach(from(loop), name);
	if (node.type !== LOOP || node.disabled === true || !after.has(name)) return undefined;
	const ways = wires
		.filter(({ from: way, to }) => to === loop && (way === name || branch.has(way)))
		.map((wire) => wire.from);
	const isInLoop = (way: string) => way !== name && (way === loop || after.has(way));
	const before = ways.filter((way) => !isInLoop(way));
	const text = String(objectOf(node.parameters['options'])['reset']).replaceAll('\\', '');
	const isRight =
		!text.includes('$prevNode') ||
		before.every((way) => text.includes(way)) ||
		ways.some((way) => isInLoop(way) && text.includes(way));
	if (RESETTING.test(text) && isRight) {
		const batch = batchOutput(node.typeVersion);
		const each = reach(
			from(loop).filter(({ output }) => output === batch),
			name,
		);
		const first = `n8n would pass on the first batch only. Lead the last node of the loop to ${loop}, and the output done to ${name}`;
		const away = `leads to ${name} from its output loop, and not back to itself`;
		return each.has(name) && !each.has(loop) ? [loop, away, first] : undefined;
	}
	if (reach(entries, name).has(loop))
		return [loop, 'is in the branch of a tool, and the questions pass it', back(name)];
	const isNew = before.map((way) => `$prevNode.name === ${JSON.stringify(way)}`);
	return [
		loop,
		`has no expression for Reset that tells the items of ${before.join(' and ')} from those of the loop`,
		`Without it, n8n returns the calls of the next round at once. Set its option Reset to {{ ${isNew.join(' || ')} }}`,
	];
};

/** A node with several inputs waits for items at each of them. Those from outside come with one call, and for the next with none. */
const outsideItems: BranchRule = ({ wires, entries, from, reach }, { name }, node, branch) => {
	const received = wires.filter(({ to }) => to === node.name);
	const other = received.find((wire) => wire.from !== name && !branch.has(wire.from))?.from;
	const isJoin = node.name !== name && received.some(({ input }) => input > 0);
	// A node through which all questions come is no part of the branch.
	const isPart = () =>
		reach(entries, name, node.name).has(name) && reach(from(node.name), name).has(name);
	if (other === undefined || !isJoin || !isPart()) return undefined;
	const read = `They come once, and not again with the next call. Delete that connection, and read them by an expression such as {{ $(${JSON.stringify(other)}).all() }}, or in a sub-workflow`;
	return [node.name, `gets items of ${other}, which no tool call brings`, read];
};

/** n8n passes the call on at once: it would be its own result. */
const detached: BranchRule = ({ from }, agent, { name, parameters, disabled }) => {
	const isWaiting = objectOf(parameters['options'])['waitForSubWorkflow'] !== false;
	const isLast = from(name).some(({ to }) => to === agent.name);
	const problem =
		'does not wait for its sub-workflow, so that the result would be the call itself';
	const wait =
		'Switch on Wait For Sub-Workflow Completion, or add Edit Fields behind it, with what the model is to know';
	return isWaiting || !isLast || disabled === true ? undefined : [name, problem, wait];
};

/** The rules for all agents; for those that call tools through their outputs; and for each node in the branches of these. */
const RULES: readonly Rule[] = [removedTool, straightBack];
const TOOL_RULES: readonly Rule[] = [executedStep, noBranch, notBack, otherAgent];
const BRANCH_RULES: readonly BranchRule[] = [loopWithoutReset, outsideItems, detached];

/**
 * Checks the drawing of this node, and of the agents behind it, which would fail after this one was paid for.
 *
 * @param needsBranches Whether tool calls can leave the node.
 * @throws InputError that names the output and says what to draw.
 */
export function checkDrawings(context: IExecuteFunctions, needsBranches: boolean): void {
	const leadsBack = canPlanRuns(context) && runDataOf(context) !== undefined;
	if (needsBranches && !leadsBack) throw new InputError('Tool branches', NO_WAY_BACK, OTHER_N8N);
	const drawing = readDrawing(context);
	if (drawing.connections === undefined) return;
	const own = nodeOf(context);
	const behind = drawing.reach(drawing.from(own.name));
	const others = drawing.agents.filter(
		({ name, onError }) =>
			name !== own.name && behind.has(name) && onError?.startsWith('continue') !== true,
	);
	for (const agent of [own, ...others]) {
		const mayCall = agent.parameters['toolSource'] !== 'json' && entriesOf(agent).length > 0;
		const isCalling = agent === own ? needsBranches : mayCall;
		const branch = isCalling ? drawing.inside(agent) : new Set<string>();
		const inBranch = (rule: BranchRule): Rule[] =>
			[...branch].map((name) => () => rule(drawing, agent, drawing.nodes[name]!, branch));
		const rules = isCalling ? [...RULES, ...TOOL_RULES] : RULES;
		for (const rule of [...rules, ...BRANCH_RULES.flatMap(inBranch)]) {
			const mistake = rule(drawing, agent);
			if (mistake) throw new InputError(...mistake);
		}
	}
}

const NO_WAY_BACK = 'cannot run in this engine of n8n: it leads nothing back to a node';
const OTHER_N8N =
	'Nothing was sent. If the settings of the workflow have engineType v2, remove it. Otherwise use a version of n8n that the documentation of this package names';
