import type {
	EngineRequest,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IPairedItemData,
} from 'n8n-workflow';

import { applyStarted, openCalls, type CallRecord } from '../client/chat/conversation';
import { parseJson } from '../client/json';
import { toDataObject } from '../shared/run/dataObject';
import { ANSWER, FIRST_TOOL, STOPPED } from './drawing';
import { ENVELOPE, type Envelope } from './matching';
import { isCurrent, isFree, type AgentState, type Batch, type ConversationSlot } from './state';
import { actionId } from './toolResults';

/** Index of an action that uses no input item. */
const NO_ITEM = -1;

/** An empty list for each output: Answer, Stopped, then the tools. */
export function noOutput(state?: AgentState): INodeExecutionData[][] {
	const tools = Math.max(0, ...(state?.batches ?? []).map(outputsForTools));
	return Array.from({ length: FIRST_TOOL + tools }, () => []);
}

/**
 * Adds the next tool calls of a batch to the outputs: one, or all of the round. They are open from here on. Calls of
 * connected tool nodes are not among them: `requestToolNodes` takes those first.
 *
 * @param run Index of this run of the node.
 */
export function emitCalls(
	state: AgentState,
	batch: Batch,
	outputs: INodeExecutionData[][],
	{ run, nowMs }: { readonly run: number; readonly nowMs: number },
): void {
	const pending = pendingCalls(batch);
	if (pending.length === 0) return;
	const { allAtOnce, singleOutput } = batch.settings!;
	for (const { slot, record } of allAtOnce ? pending : pending.slice(0, 1)) {
		const names = slot.tools.map((tool) => tool.function.name);
		const output = FIRST_TOOL + (singleOutput ? 0 : names.indexOf(record.name));
		const envelope = envelopeOf(slot, record);
		state.open.push({ envelope, position: { run, output, item: outputs[output]!.length } });
		outputs[output]!.push({
			json: { ...(record.arguments as IDataObject), [ENVELOPE]: { ...envelope } },
			pairedItem: linkToOrigin(batch, slot),
		});
		slot.conversation = applyStarted(slot.conversation!, record.id, nowMs);
	}
}

/**
 * The request to n8n's engine to run the pending calls of connected tool nodes; undefined if there are none.
 *
 * The engine merges the arguments into the input item with the given index, so that the expressions of a tool node see
 * its fields. In later runs the input items are results of tool branches: then the fields of the original item are sent
 * along with the arguments.
 */
export function requestToolNodes(state: AgentState, nowMs: number): EngineRequest | undefined {
	const pending = state.batches
		.filter((batch) => isFree(state, batch))
		.flatMap((batch) => pendingCalls(batch).map((call) => ({ batch, ...call })))
		.filter(({ slot, record }) => Object.hasOwn(slot.toolNodes, record.name));
	if (pending.length === 0) return undefined;

	const actions = pending.map(({ batch, slot, record }) => {
		const isFirstRun = isCurrent(state, batch);
		const envelope = envelopeOf(slot, record);
		state.open.push({ envelope });
		slot.conversation = applyStarted(slot.conversation!, record.id, nowMs);
		const { nodeName, isFromToolkit } = slot.toolNodes[record.name]!;
		return {
			actionType: 'ExecutionNodeAction' as const,
			nodeName,
			input: {
				...(isFirstRun ? {} : slot.json),
				...(record.arguments as IDataObject),
				...(isFromToolkit ? { tool: record.name } : {}),
			},
			type: 'ai_tool' as const,
			id: actionId(envelope),
			metadata: { itemIndex: isFirstRun ? slot.item : NO_ITEM },
		};
	});
	return { actions, metadata: {} };
}

/**
 * Adds the outcomes of these conversations of a batch to the outputs, unless they have left the node before.
 *
 * @returns The conversations whose outcome leaves the node now.
 */
export function emitOutcomes(
	batch: Batch,
	slots: readonly ConversationSlot[],
	outputs: INodeExecutionData[][],
): ConversationSlot[] {
	return slots.filter((slot) => {
		const outcome = slot.emitted ? undefined : outcomeOf(slot);
		if (outcome === undefined) return false;
		slot.emitted = true;
		const { output, ...item } = outcome;
		const binary = { ...slot.files, ...item.binary };
		outputs[output]!.push({
			...item,
			...(Object.keys(binary).length === 0 ? {} : { binary }),
			pairedItem: linkToOrigin(batch, slot),
		});
		return true;
	});
}

/**
 * Changes the links of failures that go to an error output to plain input indexes. n8n adds the fields of the linked
 * item to a failure, but looks for that item only in the input of this run, and stops the execution when the item came in
 * with an earlier run. It skips that step for a link that is a plain number.
 */
export function linkForErrorOutput(
	context: IExecuteFunctions,
	state: AgentState,
	outputs: INodeExecutionData[][],
	returned: ReadonlyMap<number, number>,
): void {
	if (context.getNode().onError !== 'continueErrorOutput') return;
	for (const batch of state.batches.filter((each) => !isCurrent(state, each))) {
		for (const { number, failure } of batch.slots) {
			const item = outputs[ANSWER]!.find(({ json }) => json === failure);
			if (item !== undefined) item.pairedItem = returned.get(number) ?? NO_ITEM;
		}
	}
}

/** Whether a conversation has ended. */
export function hasOutcome(slot: ConversationSlot): boolean {
	return outcomeOf(slot) !== undefined;
}

function outcomeOf({
	conversation,
	failure,
	answer,
}: ConversationSlot):
	({ output: number } & Pick<INodeExecutionData, 'json' | 'binary'>) | undefined {
	if (failure !== undefined) return { output: ANSWER, json: failure };
	if (conversation === undefined) return undefined;

	const { phase, rounds, calls, usage, messages } = conversation;
	const summary = toDataObject({ rounds, tool_calls: calls.map(toOutput), usage, messages });
	if (phase.kind === 'stopped')
		return { output: STOPPED, json: { reason: phase.reason, ...summary } };
	if (answer === undefined) return undefined;
	return { output: ANSWER, ...answer, json: { ...answer.json, ...summary } };
}

/** A tool call in the output of an outcome. */
function toOutput({ id, name, arguments: args, round, result, failed, durationMs }: CallRecord) {
	return {
		id,
		name,
		arguments: args,
		result: result === undefined ? null : (parseJson(result) ?? result),
		failed: failed === true,
		round,
		duration: (durationMs ?? 0) / 1000,
	};
}

/** The tool calls without a result, in the order of the conversations. */
export function pendingCalls({ slots }: Batch): { slot: ConversationSlot; record: CallRecord }[] {
	return slots
		.filter(({ failure }) => failure === undefined)
		.flatMap((slot) =>
			(slot.conversation === undefined ? [] : openCalls(slot.conversation)).map((record) => ({
				slot,
				record,
			})),
		);
}

function envelopeOf({ number }: ConversationSlot, { id, name, round }: CallRecord): Envelope {
	return { id, tool: name, round, conversation: number };
}

function outputsForTools({ settings, slots }: Batch): number {
	if (settings?.singleOutput === true) return 1;
	return Math.max(
		0,
		...slots.map(({ tools, toolNodes }) => tools.length - Object.keys(toolNodes).length),
	);
}

/** Link to the input item of the first run: in later runs the input items are results of tool branches. */
function linkToOrigin({ source }: Batch, { item }: ConversationSlot): IPairedItemData {
	return source === null ? { item } : { item, sourceOverwrite: source };
}
