import type { IBinaryData, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';

/** An execution as saved by n8n. While it is running, it contains no output of nodes. */
export interface Execution {
	readonly id: string;
	readonly status: string;
	readonly data: Pick<IRunExecutionData, 'resultData' | 'executionData'>;
}

/** An execution as n8n's REST API returns it: `data` is serialized with flatted, and `undefined` at the very start. */
export interface SavedExecution {
	readonly id: string;
	readonly status: string;
	readonly data: string;
}

/** Final states of an execution. */
const FINAL: readonly string[] = ['success', 'error', 'crashed', 'canceled'];

/** Deserializes an execution from n8n's REST API. */
export async function readSaved({ id, status, data }: SavedExecution): Promise<Execution> {
	const { parse } = await import('flatted');
	const saved = parse(data) as Execution['data'] | undefined;
	return { id, status, data: saved ?? { resultData: { runData: {} } } };
}

/** Whether the execution has ended, successfully or not. */
export function isFinal({ status }: Pick<Execution, 'status'>): boolean {
	return FINAL.includes(status);
}

/** The items of one output of a node, from all its runs. Empty if it has not run. */
export function outputItems(
	{ data }: Execution,
	node: string,
	output = 0,
): readonly INodeExecutionData[] {
	const runs = data.resultData.runData[node] ?? [];
	return runs.flatMap(({ data: outputs }) => outputs?.['main']?.[output] ?? []);
}

/** Where an item came out: in an output of a run of a node. */
export type Place = readonly [node: string, run: number, output: number, item: number];

/** An item that came out of a node, to connections of a type such as `main`. */
export interface PlacedItem {
	readonly item: INodeExecutionData;
	readonly type: string;
	readonly place: Place;
}

/** All items that came out of a node. */
export function placedItems({ data }: Execution, node: string): readonly PlacedItem[] {
	const runs = data.resultData.runData[node] ?? [];
	return runs.flatMap(({ data: outputs = {} }, run) =>
		Object.entries(outputs).flatMap(([type, list]) =>
			list.flatMap((items, output) =>
				(items ?? []).map((item, index) => ({
					item,
					type,
					place: [node, run, output, index],
				})),
			),
		),
	);
}

/** The nodes that an item went into, with the places of the items that came of it. */
export function nodesBehind(execution: Execution, [from, fromRun, output, index]: Place) {
	const isFrom = ({ pairedItem = index }: INodeExecutionData) =>
		[pairedItem].flat().some((each) => index === (typeof each === 'object' ? each.item : each));
	return Object.entries(execution.data.resultData.runData).flatMap(([name, runs]) => {
		const first = runs.findIndex(({ source }) =>
			source.some(
				(each) =>
					each?.previousNode === from &&
					(each.previousNodeRun ?? 0) === fromRun &&
					(each.previousNodeOutput ?? 0) === output,
			),
		);
		// A loop gives items out in later runs, too.
		const after = placedItems(execution, name).filter(
			({ item, type, place: [, run] }) => type === 'main' && run >= first && isFrom(item),
		);
		return first < 0 ? [] : [{ name, places: after.map(({ place }) => place) }];
	});
}

/** Item counts and duration of a node in an execution. */
export interface NodeSummary {
	readonly node: string;
	/** Number of items per output, over all runs. */
	readonly items: readonly number[];
	/** Milliseconds, over all runs. */
	readonly timeMs: number;
}

/** Summarizes each node, in the order in which they started. */
export function summarize(execution: Execution): readonly NodeSummary[] {
	return Object.entries(execution.data.resultData.runData).map(([node, runs]) => ({
		node,
		items: (runs[0]?.data?.['main'] ?? []).map(
			(_items, output) => outputItems(execution, node, output).length,
		),
		timeMs: runs.reduce((sum, { executionTime }) => sum + executionTime, 0),
	}));
}

/** Returns a binary property of an item. */
export function binaryOf(item: INodeExecutionData, property: string): IBinaryData {
	const binary = item.binary?.[property];
	if (binary === undefined) throw new Error(`The item has no binary "${property}"`);
	return binary;
}

/** The name of the failed node and its error message; empty if the execution did not fail. */
export function failureOf({ data }: Execution): string {
	const { error, lastNodeExecuted } = data.resultData;
	if (error === undefined) return '';
	const { message, description } = error as { message: string; description?: string | null };
	const said = [message, description].filter(Boolean).join(' – ');
	return lastNodeExecuted ? `${lastNodeExecuted}: ${said}` : said;
}
