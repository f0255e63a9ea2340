import type { IExecuteData, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { fromSaved, type SavedError, type ServiceError } from '../../client/errors';
import { shorten } from '../../client/json';
import { internalsOf, nodeOf } from './context';
import { LOOP } from './workflow';
import { canPlanRuns, isToolRun, runIndexOf, runsOf, stackOf, startWaitingNode } from './runs';

/** Key of the mark in the metadata of an entry of n8n's stack. */
const MARK = 'agent_video_rest';
/** Maximum characters of the message about all that is left. */
const MAX_MESSAGE = 1_000;

/** Where an item was in the run that had it first: the index of that run of the node, and the index in its input. */
export interface Place {
	readonly run: number;
	readonly item: number;
}

/** What the run of a rest says when it fails. */
interface RestError {
	readonly error: SavedError;
	/** What a Retry does, as sentences without the last period. */
	readonly retry: string;
	/** The IDs that must not be lost. */
	readonly note?: string;
	/** The tools whose results are missing. */
	readonly open?: readonly string[];
}

interface Mark extends RestError {
	/** The execution in which the items were left. */
	readonly execution: string;
	/** The run that has left them. */
	readonly run: number | undefined;
	readonly places: readonly Place[];
}

/** What a run is: an ordinary one, or that of items which an earlier run has left. */
type Rest =
	| { readonly kind: 'none' | 'later' }
	/** `isOlder` tells whether a run came before the items were left, and not in this Retry. */
	| { readonly kind: 'retry'; readonly isOlder: (run: number) => boolean }
	| {
			readonly kind: 'end';
			readonly error: ServiceError;
			readonly note: string;
			/** What this node has left, for its items where it continues on errors. */
			readonly own: ServiceError;
	  };

const markOf = ({ metadata }: IExecuteData) =>
	(metadata as { readonly [MARK]?: Mark } | undefined)?.[MARK];

/** Whether an entry is the rest of this execution, which fails. In a retry the entries of the earlier one are ordinary. */
const isEnd = (context: IExecuteFunctions) => (entry: IExecuteData) =>
	markOf(entry)?.execution === context.getExecutionId();

/**
 * What expressions read by the index of the item or the run, or from the whole input: in a run of a part another item. `$node` too:
 * it takes the item of the same index, not the linked one.
 *
 * n8n 2.41.1, n8n-workflow/dist/cjs/workflow-data-proxy.js (getDataProxy, nodeDataGetter)
 */
const BY_INDEX =
	/\$((this)?(itemIndex|runIndex|item|items|node|position)\b|input\W+(all|first|last)\b)/i;

/**
 * Whether items of this run can be the input of another run of the node, which fails when all others have run. Otherwise
 * the node fails itself: its Retry then has all items. So it is
 * - in Loop Over Items and before it: it keeps its place in the execution, and a Retry would come out of *Done* at once;
 * - before a node with several wired inputs: what its other inputs had is used up by then;
 * - where an expression of the node reads items by index: it would pay for another one;
 * - in a sub-workflow whose caller waits: the Retry of the caller runs it with all items;
 * - in n8n's engine 2.0, whose steps have a stack that nothing reads; it has no hooks.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (connectionsByDestinationNode, parentExecution.shouldResume)
 * Without it: nothing is left where the stack is missing; without the others the cases above lose items in a Retry.
 */
export function canLeave(context: IExecuteFunctions): boolean {
	const { runExecutionData, workflow } = internalsOf(context);
	if (context.continueOnFail() || isToolRun(context) || !canPlanRuns(context)) return false;
	if (runExecutionData?.parentExecution?.shouldResume === true) return false;
	const { name: own, parameters } = nodeOf(context);
	if (BY_INDEX.test(JSON.stringify(parameters))) return false;
	// By names: a connection may lead from a node that has been removed.
	const before = workflow?.getParentNodes?.(own) ?? [];
	const after = workflow?.getChildNodes?.(own) ?? [];
	return after.every((name) => {
		const inputs = workflow?.connectionsByDestinationNode?.[name]?.['main'] ?? [];
		const wired = inputs.filter((wires) => (wires?.length ?? 0) > 0);
		const isLoop = workflow?.nodes?.[name]?.type === LOOP;
		return !before.includes(name) && !isLoop && wired.length < 2;
	});
}

/**
 * Makes items of this run the input of another run of the node. n8n has no function for that: the run is put at the
 * end of its stack, with a mark in `metadata`, which n8n saves with the execution.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (nodeExecutionStack)
 * Without it: the node ends without an error where the stack is missing; without the metadata the run is an ordinary one.
 */
export function leave(context: IExecuteFunctions, items: readonly number[], said: RestError): void {
	const stack = stackOf(context) ?? [];
	const input = context.getInputData();
	const mark: Mark = {
		...said,
		execution: context.getExecutionId(),
		run: runIndexOf(context),
		places: items.map(placesOf(context)),
	};
	const node = nodeOf(context);
	const entry: IExecuteData = {
		node,
		data: { main: [items.map((item) => input[item]!)] },
		source: context.getExecuteData().source,
		metadata: { [MARK]: mark } as object,
	};
	// The run of an agent in the branch of another one comes before the run of that one.
	const other = stack.findIndex((each) => isEnd(context)(each) && each.node.name !== node.name);
	stack.splice(other < 0 ? stack.length : other, 0, entry);
}

/**
 * Whether rests of an earlier try are still to run in this Retry. A node that throws before them would do so in each further
 * Retry, which would never reach them.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (nodeExecutionStack)
 * Without it: false; a Retry that fails early has to be repeated.
 */
export function hasRestsAhead(context: IExecuteFunctions): boolean {
	const isAhead = (entry: IExecuteData) => markOf(entry) !== undefined && !isEnd(context)(entry);
	return (stackOf(context) ?? []).some(isAhead);
}

/** What all nodes have left in this execution so far. */
export function leftIn(context: IExecuteFunctions): readonly RestError[] {
	const stack = stackOf(context) ?? [];
	return stack.filter(isEnd(context)).map((entry) => markOf(entry)!);
}

/** Takes back what this node has left in this execution. */
export function takeBack(context: IExecuteFunctions): void {
	const stack = stackOf(context) ?? [];
	const { name } = nodeOf(context);
	const isOwn = (each: IExecuteData) => each.node.name === name && isEnd(context)(each);
	for (let at = stack.findIndex(isOwn); at >= 0; at = stack.findIndex(isOwn)) stack.splice(at, 1);
}

/**
 * What this run is. In the execution that has left its items it fails, with what all nodes have left; `later` if other runs
 * are due, as in the order v0, or a Merge that can run with what it has: then it is put off, and has to return null. In a
 * Retry it is an ordinary run: each item gets the link to its place back, as n8n numbers the input of each run from 0. That
 * of an agent is put off there, too, as its calls may still be under way; while one in its branch is to fail, it stays.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (addPairedItemLineage)
 * Without it: `$('name').item` reads the item of another one.
 */
export function restOf(context: IExecuteFunctions): Rest {
	const entry = context.getExecuteData();
	const mark = markOf(entry);
	if (mark === undefined) return { kind: 'none' };
	const stack = stackOf(context) ?? [];
	const isRetry = !isEnd(context)(entry);
	const all = [entry, ...stack];
	const isHeld = heldBy(context, all);
	const isLast = isRetry ? markOf : (each: IExecuteData) => isEnd(context)(each) || isHeld(each);
	const isPutOff = !isRetry || mark.open !== undefined;
	const names = all.map(({ node }) => node.name);
	const isEarly = () => isHeld(entry) || !stack.every(isLast);
	if (isPutOff && (isEarly() || startWaitingNode(context, names))) {
		stack.push(entry);
		return { kind: 'later' };
	}
	if (isRetry) {
		const { run: left = Infinity } = mark;
		for (const [index, item] of context.getInputData().entries())
			item.pairedItem = { item: mark.places[index]!.item };
		return { kind: 'retry', isOlder: (run) => run <= left };
	}
	const marks = all.map((each) => ({ name: each.node.name, ...markOf(each)! }));
	const messages = marks.map(({ name, error }) =>
		name === entry.node.name ? error.message : `${name}: ${error.message}`,
	);
	const retries = new Set(marks.flatMap(({ retry }) => retry.split('. ')));
	const message = [shorten(messages.join('. '), MAX_MESSAGE), ...retries].join('. ');
	const notes = marks.map(({ note = '' }) => note).filter(Boolean);
	const error = fromSaved({ ...mark.error, message });
	return { kind: 'end', error, note: notes.join('. '), own: fromSaved(mark.error) };
}

/**
 * Whether the calls of an agent that an earlier try has left stay, as an agent in their branch is to fail in this one: that has the
 * questions of these calls already, and would be asked them once more.
 */
function heldBy(context: IExecuteFunctions, all: readonly IExecuteData[]) {
	const { workflow } = internalsOf(context);
	const leads = (from: string, to: string) => workflow!.getChildNodes!(from).includes(to);
	const ends = all.filter(isEnd(context)).map(({ node }) => node.name);
	return (entry: IExecuteData): boolean => {
		const { name } = entry.node;
		const isOpen = !isEnd(context)(entry) && (markOf(entry)?.open ?? []).length > 0;
		return isOpen && ends.some((end) => leads(name, end) && leads(end, name));
	};
}

/** The places by which the ledger knows the items of this run. */
function placesOf(context: IExecuteFunctions): (item: number) => Place {
	const mark = markOf(context.getExecuteData());
	const run = runsOf(context).length;
	return (item) => mark?.places[item] ?? { run, item };
}

/** The place by which the ledger knows an item of this run. */
export function placeOfItem(context: IExecuteFunctions, item: number): Place {
	return placesOf(context)(item);
}

/** The items of an output, linked to the places of the items that they come from. */
export function linkedToPlaces(
	context: IExecuteFunctions,
	items: readonly INodeExecutionData[],
): INodeExecutionData[] {
	const placeOf = placesOf(context);
	return items.map(({ pairedItem, ...item }) => {
		const from = (pairedItem as { readonly item: number } | undefined)?.item;
		return from === undefined
			? { ...item }
			: { ...item, pairedItem: { item: placeOf(from).item } };
	});
}

/**
 * Whether the items of this run are what an earlier run has left.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js (nodeExecutionStack)
 * Without it: false; the items of a rest count as those of an ordinary run.
 */
export function isRest(context: IExecuteFunctions): boolean {
	return markOf(context.getExecuteData()) !== undefined;
}
