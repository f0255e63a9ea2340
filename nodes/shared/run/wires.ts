import type { IConnections } from 'n8n-workflow';

/** A connection from an output of a node to an input of another one. */
export interface Wire {
	readonly from: string;
	readonly output: number;
	readonly to: string;
	readonly input: number;
}

/** The connections of a workflow. A disabled node passes the items of its first input on, to its first output. */
export function wiresOf(
	connections: IConnections,
	isDisabled: (node: string) => boolean = () => false,
): Wire[] {
	return Object.entries(connections)
		.flatMap(([from, { main = [] }]) =>
			main.flatMap((targets, output) =>
				(targets ?? []).map((target): Wire => {
					const { node: to, index: input } = target;
					return { from, output, to, input };
				}),
			),
		)
		.filter(({ from, output, to, input }) =>
			[output > 0 && from, input > 0 && to].every(
				(node) => node === false || !isDisabled(node),
			),
		);
}

/** All connections on the ways that begin with these. The ways end at the given nodes. */
export function follow(
	wires: readonly Wire[],
	from: readonly Wire[],
	ends: readonly string[],
): ReadonlySet<Wire> {
	const found = new Set(from);
	const seen = new Set(ends);
	// A set can grow while it is iterated.
	for (const { to } of found) {
		if (seen.has(to)) continue;
		seen.add(to);
		for (const wire of wires) if (wire.from === to) found.add(wire);
	}
	return found;
}

/** Whether one of the ways leads to a node. */
export function leadsTo(ways: Iterable<Wire>, node: string): boolean {
	return [...ways].some(({ to }) => to === node);
}
