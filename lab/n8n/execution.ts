import type { IBinaryData, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';

/** One run of a workflow, as n8n has saved it; while it runs, with the nodes that are done. */
export interface Execution {
	readonly id: string;
	readonly status: string;
	readonly data: Pick<IRunExecutionData, 'resultData' | 'executionData'>;
}

/** An execution as n8n's REST interface gives it: the data is a flatted string, of nothing at the very start. */
export interface SavedExecution {
	readonly id: string;
	readonly status: string;
	readonly data: string;
}

/** States that an execution does not leave. */
const FINAL: readonly string[] = ['success', 'error', 'crashed', 'canceled'];

/** Unpacks what n8n's REST interface gives. */
export async function readSaved({ id, status, data }: SavedExecution): Promise<Execution> {
	const { parse } = await import('flatted');
	const saved = parse(data) as Execution['data'] | undefined;
	return { id, status, data: saved ?? { resultData: { runData: {} } } };
}

/** Whether the execution has ended, well or not. */
export function isFinal({ status }: Pick<Execution, 'status'>): boolean {
	return FINAL.includes(status);
}

/** The items that a node gave on an output, of all its runs. Empty when it has not run. */
export function outputItems(
	{ data }: Execution,
	node: string,
	output = 0,
): readonly INodeExecutionData[] {
	const runs = data.resultData.runData[node] ?? [];
	return runs.flatMap(({ data: outputs }) => outputs?.['main']?.[output] ?? []);
}

/** What a node did in an execution. */
export interface NodeSummary {
	readonly node: string;
	/** Items on each output, of all runs. */
	readonly items: readonly number[];
	/** Milliseconds, of all runs. */
	readonly timeMs: number;
}

/** What each node did, in the order in which they began. */
export function summarize(execution: Execution): readonly NodeSummary[] {
	return Object.entries(execution.data.resultData.runData).map(([node, runs]) => ({
		node,
		items: (runs[0]?.data?.['main'] ?? []).map(
			(_items, output) => outputItems(execution, node, output).length,
		),
		timeMs: runs.reduce((sum, { executionTime }) => sum + executionTime, 0),
	}));
}

/** A binary of an item. */
export function binaryOf(item: INodeExecutionData, property: string): IBinaryData {
	const binary = item.binary?.[property];
	if (binary === undefined) throw new Error(`The item has no binary "${property}"`);
	return binary;
}

/** Why an execution failed, after the name of the node if one failed; empty when it did not. */
export function failureOf({ data }: Execution): string {
	const { error, lastNodeExecuted } = data.resultData;
	if (error === undefined) return '';
	const { message, description } = error as { message: string; description?: string | null };
	const said = [message, description].filter(Boolean).join(' – ');
	return lastNodeExecuted ? `${lastNodeExecuted}: ${said}` : said;
}
