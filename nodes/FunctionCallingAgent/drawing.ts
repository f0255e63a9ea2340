import type { IExecuteFunctions } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { engineOf } from '../shared/run/engine';
import { isSingleOutput } from './properties';

/** Indexes of the outputs. */
export const ANSWER = 0;
export const STOPPED = 1;
export const FIRST_TOOL = 2;

type Drawing = NonNullable<ReturnType<typeof readDrawing>>;

/** The node as it is drawn in the workflow; undefined in an n8n that does not show it. */
export function readDrawing(context: IExecuteFunctions) {
	const { connections, isTrigger } = engineOf(context);
	if (connections === undefined) return undefined;
	const { name, onError } = context.getNode();
	const hasErrorOutput = onError === 'continueErrorOutput';
	return { name, connections, toolOutputs: readToolOutputs(context), hasErrorOutput, isTrigger };
}

/** What the errors call the outputs for tool calls, in their order. */
export function readToolOutputs(context: IExecuteFunctions): string[] {
	if (isSingleOutput(context)) return ['Tool Calls'];
	const tools = context.getNodeParameter('tools.tool', 0, []) as readonly { name?: string }[];
	return tools.map(({ name = '' }, index) => `Tool ${name.trim() || index + 1}`);
}

const STRAIGHT = 'leads straight back to the input';
const SHIFTED =
	'n8n keeps connections by position: after a tool was removed, each later tool leads to the branch of another. Check where each tool output leads';

/**
 * Finds what keeps a tool call from coming back as a result, before the first request is paid for.
 *
 * @param needsBranches Whether tool calls can leave the node.
 * @returns The error that names the output and says what to draw; undefined if nothing is wrong.
 */
export function findMistake(drawing: Drawing, needsBranches: boolean): InputError | undefined {
	const [mistake] = [
		...findRemovedTools(drawing),
		...findStraightReturns(drawing),
		...(needsBranches ? findWrongBranches(drawing) : []),
	];
	return mistake;
}

/** The names of the nodes in the branches of the tools, with the node itself. */
export function loopNodes(drawing: Drawing): ReadonlySet<string> {
	const { name, toolOutputs } = drawing;
	const outputs = toolOutputs.flatMap((_label, index) => targetsOf(drawing, FIRST_TOOL + index));
	return new Set([name, ...reachable(drawing, outputs)]);
}

/**
 * What a removed tool leaves: its connection, or an additional empty slot and the branch of the last tool, to which
 * nothing leads any more. n8n never removes the slot, so alone it means nothing.
 */
function* findRemovedTools(drawing: Drawing): Generator<InputError> {
	const { name, connections, toolOutputs, hasErrorOutput } = drawing;
	const errorOutput = FIRST_TOOL + toolOutputs.length;
	const outputs = errorOutput + (hasErrorOutput ? 1 : 0);
	const slots = connections[name]?.['main'] ?? [];
	for (const target of slots.slice(outputs).flatMap((each) => each ?? [])) {
		yield new InputError(
			'Connections',
			`are left of an output that no longer exists, to ${target.node}`,
			`${SHIFTED}, and delete the connection without a label`,
		);
	}
	if (slots.length <= outputs) return;
	for (const orphan of orphans(drawing)) {
		yield new InputError(
			`Nothing leads to ${orphan},`,
			'which leads back to this node',
			`${SHIFTED} and connect them again. Delete ${orphan} only if no tool needs it`,
		);
	}
	const failed = hasErrorOutput ? targetsOf(drawing, errorOutput) : [];
	if (reachable(drawing, failed).has(name)) {
		yield new InputError('Error', `leads to ${failed[0]!}, the branch of a tool`, SHIFTED);
	}
}

function* findStraightReturns(drawing: Drawing): Generator<InputError> {
	const { name, toolOutputs, hasErrorOutput } = drawing;
	const outputs = new Map([
		[ANSWER, 'Answer'],
		[STOPPED, 'Stopped'],
		...(hasErrorOutput ? [[FIRST_TOOL + toolOutputs.length, 'Error'] as const] : []),
	]);
	for (const [output, label] of outputs) {
		if (!targetsOf(drawing, output).includes(name)) continue;
		yield new InputError(
			label,
			STRAIGHT,
			'Only tool branches lead back. Connect this output to the nodes that use it',
		);
	}
}

function* findWrongBranches(drawing: Drawing): Generator<InputError> {
	const { name, toolOutputs } = drawing;
	const between = `Connect its output to the nodes that run it, and the last of them to the input of ${name}`;
	for (const [index, label] of toolOutputs.entries()) {
		const targets = targetsOf(drawing, FIRST_TOOL + index);
		if (targets.length === 0) yield new InputError(label, 'has no branch', between);
		else if (targets.includes(name)) yield new InputError(label, STRAIGHT, between);
		else if (!reachable(drawing, targets).has(name)) {
			yield new InputError(
				label,
				'has a branch that does not lead back',
				`Connect the last node of the branch to the input of ${name}`,
			);
		}
	}
}

/** The names of the nodes that an output leads to. */
export function targetsOf({ name, connections }: Drawing, output: number): string[] {
	return (connections[name]?.['main']?.[output] ?? []).map(({ node }) => node);
}

/** The nodes on the ways from these nodes. The ways end at the node of the drawing. */
function reachable({ name, connections }: Drawing, from: readonly string[]): Set<string> {
	const found = new Set(from);
	// A set can grow while it is iterated.
	for (const node of found) {
		const outputs = node === name ? [] : (connections[node]?.['main'] ?? []);
		outputs.flatMap((each) => each ?? []).forEach((target) => found.add(target.node));
	}
	return found;
}

/** The nodes that lead to the node of the drawing although nothing leads to them and they start no execution. */
function orphans(drawing: Drawing): string[] {
	const { name, connections, isTrigger } = drawing;
	const targets = new Set(
		Object.values(connections).flatMap(({ main = [] }) =>
			main.flatMap((each) => (each ?? []).map(({ node }) => node)),
		),
	);
	return Object.keys(connections).filter(
		(node) =>
			node !== name &&
			!targets.has(node) &&
			connections[node]?.['main'] !== undefined &&
			!isTrigger(node) &&
			reachable(drawing, [node]).has(name),
	);
}
