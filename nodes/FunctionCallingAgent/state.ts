import {
	isExpression,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type ISourceData,
} from 'n8n-workflow';

import { closeOpenCalls, openCalls, type CallRecord } from '../client/chat/conversation';
import { readResult, settled, valueOf, type Settled } from '../client/concurrency';
import { InputError, isCanceled } from '../client/errors';
import { asJson, objectOf } from '../client/json';
import { showNotice } from '../shared/chat/chatStream';
import { memoryKeyOf, recall } from '../shared/chat/memory';
import { readQuestion } from '../shared/chat/askForReply';
import { textOf } from '../shared/chat/schemaForm';
import { readToolNodes, type ToolNodes } from '../shared/chat/toolNodes';
import { nodeOf } from '../shared/engine/context';
import { sourceOf, stopOnError, type notesOf } from '../shared/engine/runs';
import { workflowOf } from '../shared/engine/workflow';
import { notingSigned } from '../shared/files/fileSource';
import { isSingleOutput } from '../shared/run/nodeContext';
import { failureJson, shownText, toNodeError } from '../shared/run/nodeErrors';
import { openRun, type Run } from '../shared/run/run';
import { checkDrawings, entriesOf } from './drawing';
import { agentForm, readTools, type ToolEntry } from './properties';
import { arrivalOf, checkReturns, comesOut } from './arrival';

const NO_TOOLS = [
	'Tools',
	'are missing: this agent could only answer',
	'Add a tool, connect a tool node, or use Chat Completion, which answers the same way. Nothing was sent',
] as const;

/**
 * State of the node between its runs: the loop through the tool branches runs it once per tool result. Empty between two
 * batches. n8n saves it with the execution, so it is JSON.
 */
export interface AgentState {
	/** The conversations under way, together with those of the items that reached the node with theirs. */
	batches: (readonly ConversationSlot[])[];
	/** Number of arrivals so far, and the source of the last one: *Retry On Fail* runs the node again with its items. */
	arrivals: number;
	source?: ISourceData | null;
	/** The execution that has read the fields: n8n's *Retry* is another one, perhaps with a workflow that was corrected. */
	execution: string;
	/** Number of conversations so far. */
	conversations: number;
	/** The conversations that have left through Stopped where nothing takes them: in a Retry they leave once more. */
	lost: readonly ConversationSlot[];
	/** What the run that waits for tool nodes has counted and said. */
	notes?: ReturnType<typeof notesOf>;
}

/** A conversation, with the fields of its item, which are missing if they are invalid. */
export interface ConversationSlot extends Partial<Awaited<ReturnType<typeof readSlot>>> {
	/** Number of the conversation among those under way, from 0. */
	readonly number: number;
	/** The run that its input item came from. */
	readonly source: ISourceData | null;
	/** The number of the arrival that brought its input item, from 1, and the index of the item there. */
	readonly arrival: number;
	readonly item: number;
	/** The files that the tools have returned, by their field at the outcome. */
	readonly files: NonNullable<INodeExecutionData['binary']>;
	/** The number of the arrival that brought the last result of its tools, and the index of the item there. */
	returned?: { readonly arrival: number; readonly item: number };
	/** The output item of the answer. */
	answer?: Pick<INodeExecutionData, 'json' | 'binary'>;
	/** The output of a failed item, with *On Error: Continue*. */
	failure?: INodeExecutionData['json'];
}

/** A tool call without a result, and its conversation. */
export interface Call {
	readonly slot: ConversationSlot;
	readonly record: CallRecord;
}

/** What was read of the node as the questions of a batch arrived. It is never saved, as it has the API key. */
const readings = new WeakMap<readonly ConversationSlot[], Run['reading']>();

/** Opens the run of the node for a batch, with the credential that the batch has begun with. */
export async function openFor(
	context: IExecuteFunctions,
	batch: readonly ConversationSlot[] = [],
): Promise<Run> {
	const run = await openRun(context, readings.get(batch));
	readings.set(batch, run.reading);
	return run;
}

/**
 * Begins conversations. All parameters are read here: in later runs of the node the input items are those that came back
 * from the tool branches.
 *
 * @param slots One for each input item that is a question.
 * @throws InputError when a field or the drawing of the workflow is invalid, unless the node continues on errors; then
 *   the conversation has a failure. One that has led back would come out again forever: it is thrown.
 */
export async function beginBatch(
	run: Run,
	slots: readonly ConversationSlot[],
	returns = { times: 0, last: 0 },
): Promise<void> {
	const { context } = run;
	readings.set(slots, run.reading);
	try {
		// Before the fields: without a credential all of them fail.
		run.service();
		const forms = slots.map(({ item }) => readResult(() => agentForm.read(context, item)));
		// What is invalid for all of them is one error.
		if (!forms.some((form) => 'value' in form)) valueOf(forms[0]!);
		checkReturns(returns);
		const toolNodes = await readToolNodes(run);
		checkLinks(run, slots, toolNodes);
		for (const [index, slot] of slots.entries()) {
			const fields = await settled(readSlot(run, slot.item, forms[index]!, toolNodes));
			const { conversation, memory, signed } = slot;
			// A Retry reads them again: what was paid for stays.
			const paid = conversation?.rounds ? { conversation, memory, signed } : {};
			if ('value' in fields) Object.assign(slot, fields.value, paid);
			else failSlots(run, [slot], fields.error);
		}
		checkDrawings(context, hasBranches(slots));
	} catch (error) {
		if (!comesOut(returns)) {
			stopOnError(context);
			throw toNodeError(run, error, slots.length > 1 ? undefined : slots[0]!.item);
		}
		failSlots(run, slots, error);
	}
}

/** An expression that reads the item of another node which the own one is made from, in JSON. */
const LINKED =
	/\$(?:\(|node\[)\s*\\?['"`]((?:(?!\\?['"`]\s*[)\]]).)+)\\?['"`]\s*[)\]]\W+(?:item|pairedItem|json|binary)\b/g;
const OWN_FIELDS =
	'Read it by {{ $json }}, which has the fields of the item that each call is for, or lead the items in one at a time, through Loop Over Items';

/** Whatever item a call is for, n8n links what it gives a tool node to the first one: that of somebody else. */
function checkLinks(
	{ context }: Run,
	slots: readonly ConversationSlot[],
	{ nodes }: ToolNodes,
): void {
	const { linkedItem } = arrivalOf(context);
	for (const { nodeName } of Object.values(nodes)) {
		const text = JSON.stringify(workflowOf(context).nodes[nodeName]?.parameters ?? {});
		for (const [, from = ''] of text.matchAll(LINKED)) {
			const isOther = slots.some(
				({ item }) => linkedItem(from, item) !== linkedItem(from, 0),
			);
			const problem = `reads the item of ${from}, of which n8n gives it the first one in all calls`;
			if (isOther) throw new InputError(nodeName, problem, OWN_FIELDS);
		}
	}
}

const GO_BACK = 'Put it back, or use Retry with original workflow';

/**
 * Takes what is entered now for the conversations under way, in n8n's *Retry*. Those whose items are not the input of this run
 * keep what was read of them: an expression would read the result of a tool.
 *
 * @throws InputError as `beginBatch`, and where calls of a tool would leave through the output of another one.
 */
export async function readAgain(run: Run, state: AgentState): Promise<void> {
	const { context } = run;
	const execution = context.getExecutionId();
	const slots = state.batches
		.flat()
		.filter((slot) => ['asking', 'calling'].includes(stepOf(slot) ?? ''));
	if (state.execution !== execution && slots.length > 0) {
		const input = JSON.stringify(sourceOf(context));
		const asked = slots.filter(({ source }) => JSON.stringify(source) === input);
		if (asked.length > 0) await beginBatch(run, asked);
		checkDrawings(context, hasBranches(slots));
		for (const slot of slots) checkOutputs(nodeOf(context), slot as Required<ConversationSlot>);
	}
	state.execution = execution;
}

/** n8n keeps connections by position: where a tool has moved, its calls would enter the branch of another one. */
function checkOutputs(agent: INode, slot: Required<ConversationSlot>): void {
	const names = slot.tools.map((each) => each.function.name);
	const open = openCalls(slot.conversation);
	for (const name of new Set([...names, ...open.map((each) => each.name)])) {
		const index = names.indexOf(name);
		const isThere = (each: ToolEntry, at: number) =>
			isExpression(each.name) ? at === index : textOf(each.name) === name;
		const now = isSingleOutput(agent.parameters) ? 0 : entriesOf(agent).findIndex(isThere);
		const isMoved = Math.min(index, now) < 0 || now !== Math.min(index, slot.toolOutputs - 1);
		const isOut = open.some((each) => each.name === name && each.place !== undefined);
		if (isMoved && (isOut || !Object.hasOwn(slot.toolNodes, name)))
			throw new InputError('Tools', `have ${name} no longer where its calls leave`, GO_BACK);
	}
}

const hasBranches = (slots: readonly ConversationSlot[]) =>
	slots.some(({ toolOutputs = 0 }) => toolOutputs > 0);

/** The fields of an item. */
async function readSlot(
	opened: Run,
	item: number,
	form: Settled<ReturnType<typeof agentForm.read>>,
	toolNodes: ToolNodes,
) {
	const { context } = opened;
	const { declarations, nodes } = toolNodes;
	const values = valueOf(form);
	const { output, options, streaming } = values;
	const own = readTools(values, toolNodes);
	const key = memoryKeyOf(opened, item, values);
	const run = notingSigned(opened);
	const { asked, ...question } = readQuestion(run, item, values);
	const tools = [...own, ...declarations];
	// An expression may declare none for some items.
	const isComputed =
		values.toolSource === 'json' && isExpression(context.getNode().parameters['toolsJson']);
	if (tools.length === 0 && !isComputed) throw new InputError(...NO_TOOLS);
	return {
		...question,
		/** Which files its URLs are signed for. */
		signed: run.signed,
		...(await recall(opened, key, options.memoryMessages, asked)),
		options,
		streaming,
		/** The fields of the item, for the expressions of connected tool nodes; empty if there are none. */
		json: declarations.length > 0 ? context.getInputData()[item]!.json : {},
		/** Those that run in branches, then those of the connected tool nodes. */
		tools,
		/** How many outputs they have: one each, or one for all. */
		toolOutputs: isSingleOutput(values) ? Math.min(1, own.length) : own.length,
		/** The connected tool nodes, by tool name. */
		toolNodes: nodes,
		output,
		/** Whether the outcome has all of the conversation. */
		hasDetails: output !== 'simple',
	};
}

/**
 * Fails conversations that have not failed yet: their output is the error. With the output Detailed or Raw it has the
 * conversation so far, so that a user can continue it from there.
 *
 * @param isShown Whether a streaming chat has shown the error.
 * @throws NodeApiError or NodeOperationError unless the node continues on errors, and when the execution is canceled.
 */
export function failSlots(
	run: Run,
	slots: readonly ConversationSlot[],
	error: unknown,
	isShown = false,
): void {
	for (const slot of slots.filter(({ failure }) => failure === undefined)) {
		const { item, conversation, hasDetails = false } = slot;
		const nodeError = toNodeError(run, error, slots.length > 1 ? undefined : item);
		if (!run.continuesOnFail() || isCanceled(error)) throw nodeError;
		if (!isShown && run.isLive) showNotice(run, item, shownText(run, nodeError));
		const failure = failureJson(run, nodeError, error, hasDetails);
		if (conversation !== undefined && failure['details'] !== undefined) {
			const { rounds, messages } = closeOpenCalls(conversation, 'the conversation failed');
			const more = hasDetails ? { rounds, messages } : { rounds };
			failure['details'] = asJson({ ...objectOf(failure['details']), ...more });
		}
		slot.failure = failure;
	}
}

/** The step that a conversation has reached. Undefined if its fields are invalid: it fails before anybody asks. */
export function stepOf({ failure, conversation }: ConversationSlot) {
	return failure === undefined ? conversation?.phase.kind : 'failed';
}

/** The tool calls without a result, in the order of the conversations. Those of failed ones never get any. */
export function pendingCalls(slots: readonly ConversationSlot[]): Call[] {
	const calling = slots.filter((slot) => stepOf(slot) === 'calling');
	return calling.flatMap((slot) =>
		openCalls(slot.conversation!).map((record) => ({ slot, record })),
	);
}

/** The pending calls that have left the node through an output, and wait for their result. */
export function branchCalls({ batches }: AgentState): Call[] {
	return pendingCalls(batches.flat()).filter(({ record }) => record.place !== undefined);
}

/** The pending calls of the batches that have none out, so that they can continue. */
export function dueCalls({ batches }: AgentState): Call[][] {
	return batches
		.map(pendingCalls)
		.filter((calls) => calls.every(({ record }) => record.startedAtMs === undefined));
}

/** The conversations of a batch that ask the model next: none while a call of one is pending. */
export function askingSlots(batch: readonly ConversationSlot[]): ConversationSlot[] {
	const isFree = pendingCalls(batch).length === 0;
	return batch.filter((slot) => isFree && stepOf(slot) === 'asking');
}
