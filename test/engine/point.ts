import type { Context, Flow, Imitation, InstalledN8n } from './installedN8n';

/** One thing that the nodes need of n8n and that n8n does not promise. */
export interface Point {
	/** Its number, which stays. */
	readonly n: number;
	readonly name: string;
	/** The exports of nodes/shared/engine that need it. */
	readonly usedBy: readonly string[];
	/** What the installed n8n does, as plain values. */
	observe(n8n: InstalledN8n): unknown;
	/** What it does where the nodes work. */
	readonly expected: unknown;
	/** Imitates an n8n without it. */
	readonly without: Imitation;
	/** What such an n8n does: what the nodes would be up against. */
	readonly lost: unknown;
	/** What n8n's engine 2.0 does: the same, something else, or undefined where it is not asked. */
	readonly engine2?: 'same' | { readonly instead: unknown };
	/** What versions before this one do. Where it is not there yet, `lost` is left out. The documentation says what follows. */
	readonly before?: {
		readonly version: string;
		readonly expected: unknown;
		readonly lost?: unknown;
	};
}

/** What this version of n8n is to do, and what an imitation of it without the point does. */
export function wanted(
	{ before, expected, lost }: Point,
	version: string,
): { readonly expected: unknown; readonly lost?: unknown } {
	const isBefore = before !== undefined && compare(version, before.version) < 0;
	return isBefore ? before : { expected, lost };
}

function compare(a: string, b: string): number {
	const [of, other] = [a, b].map((version) => version.split('.').map(Number));
	const index = of!.findIndex((part, at) => part !== other![at]);
	return index < 0 ? 0 : of![index]! - other![index]!;
}

/** What a point does in this n8n; an error as its message. */
export async function observed(point: Point, n8n: InstalledN8n): Promise<unknown> {
	try {
		return await point.observe(n8n);
	} catch (error) {
		return `throws: ${(error as Error).message}`;
	}
}

/** Lets the node Video of a tiny workflow look at its context. */
export async function inNode<T>(
	n8n: InstalledN8n,
	look: (context: Context) => Promise<T> | T,
	{ nodes, ...flow }: Partial<Flow> = {},
): Promise<T> {
	let seen: { readonly value: T } | undefined;
	const ran = await n8n.run({
		...flow,
		nodes: {
			Video: {
				credentials: { agentVideoApi: { id: '1', name: 'Agent Video API' } },
				work: async (context) => {
					seen = { value: await look(context) };
					return [[]];
				},
			},
			...nodes,
		},
	});
	if (seen === undefined) throw new Error(ran.error);
	return seen.value;
}
