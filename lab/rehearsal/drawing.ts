import type { INode } from 'n8n-workflow';

import type { Workflow } from '../n8n/workflow';

/** A connection between two nodes, in the direction in which items or calls go. */
interface Wire {
	readonly from: string;
	readonly to: string;
	readonly output: number;
}

type Targets = readonly (readonly { readonly node: string }[] | null)[];

/** Whether a node calls the workflow that it is in. A JSON text or a file may name it, too. */
export const callsItself = ({ type, parameters }: Pick<INode, 'type' | 'parameters'>) =>
	/executeWorkflow$|toolWorkflow$/.test(type) &&
	['database', undefined].includes(parameters['source'] as string | undefined) &&
	JSON.stringify(parameters['workflowId'] ?? '').includes('$workflow.id');

/** The wires of a workflow. A sub-node is called by its node, and a trigger by a node that calls the workflow. */
function wiresOf({ nodes, connections }: Workflow): readonly Wire[] {
	const drawn = Object.entries(connections).flatMap(([name, types]) =>
		Object.entries(types as Record<string, Targets | undefined>).flatMap(
			([type, outputs = []]) =>
				outputs.flatMap((targets, output) =>
					(targets ?? []).map(({ node }): Wire =>
						type === 'main'
							? { from: name, to: node, output }
							: { from: node, to: name, output: -1 },
					),
				),
		),
	);
	const called = nodes.filter(({ type }) => type.endsWith('.executeWorkflowTrigger'));
	const calls = nodes
		.filter(callsItself)
		.flatMap(({ name: from }) => called.map(({ name: to }) => ({ from, to, output: -1 })));
	return [...drawn, ...calls];
}

/**
 * All nodes that are reached from one, without it unless a loop leads back.
 *
 * @param isEnd Nodes that are reached, but not passed.
 */
function walk(
	start: string,
	next: (name: string) => readonly string[],
	isEnd: (name: string) => boolean = () => false,
): readonly string[] {
	const found = new Set<string>();
	const left = [...next(start)];
	for (let name = left.shift(); name !== undefined; name = left.shift()) {
		if (found.has(name)) continue;
		found.add(name);
		if (!isEnd(name)) left.push(...next(name));
	}
	return [...found];
}

/** Looks up what lies before and behind the nodes of a workflow. */
export function readDrawing(workflow: Workflow) {
	const wires = wiresOf(workflow);
	const to = (name: string) => wires.filter((wire) => wire.from === name).map((wire) => wire.to);
	const from = (name: string) =>
		wires.filter((wire) => wire.to === name).map((wire) => wire.from);
	/** Nodes that the parameters of a node name, such as with `$('Name')`. */
	const named = (name: string) => {
		const node = workflow.nodes.find((each) => each.name === name);
		const text = JSON.stringify(node?.parameters ?? {});
		const quoted = (other: string) => [`'${other}'`, `\\"${other}\\"`];
		return workflow.nodes
			.map((each) => each.name)
			.filter((other) => other !== name && quoted(other).some((each) => text.includes(each)));
	};
	const behind = (name: string) => walk(name, to);
	return {
		behind,
		/** Whether more than one output of a node leads on. */
		isFork: (name: string) => wires.some((wire) => wire.from === name && wire.output > 0),
		/** The nodes of a list that give a node its data, the nearest of each way. */
		sources: (name: string, list: readonly string[]) => {
			const isListed = (each: string) => list.includes(each);
			const next = (each: string) => [...from(each), ...named(each)];
			return walk(name, next, isListed).filter(isListed);
		},
		/** The nodes of a loop that a node is in. */
		loop: (name: string) => behind(name).filter((each) => behind(each).includes(name)),
		/** The nodes that ran, and from which the way to a node was not taken. */
		ends: (name: string, hasRun: (each: string) => boolean) =>
			walk(name, from, hasRun).filter(hasRun),
	};
}
