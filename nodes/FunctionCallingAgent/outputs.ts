import type {
	EngineRequest,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IPairedItemData,
} from 'n8n-workflow';

import {
	applyStarted,
	openCalls,
	type CallRecord,
	type StopReason,
} from '../client/chat/conversation';
import { asJson, parseJson } from '../client/json';
import { ANSWER, FIRST_TOOL, STOPPED } from './drawing';
import { ENVELOPE, type Envelope } from './matching';
import {
	countOwnTools,
	hasDetails,
	isCurrent,
	isFree,
	type AgentState,
	type Batch,
	type ConversationSlot,
} from './state';
import { actionId } from './toolResults';

/** Index of an action that uses no input item. */
const NO_ITEM = -1;

/** Range and default of n8n's setting Max. Tries. */
const TRIES = { min: 2, max: 5, default: 3 };

/** What the user of a chat reads when a limit has stopped the conversation. */
export const STOPPED_TEXTS: Readonly<Record<StopReason, string>> = {
	max_rounds: 'I stopped without an answer: it took too many steps. Ask for less at once',
	max_tool_calls:
		'I stopped without an answer: it took too many tool calls. Ask for less at once',
	repeated_tool_call:
		'I stopped without an answer: I repeated the same tool call. Ask in other words',
};

/** An empty list for each output: Answer, Stopped, then the tools. */
export function noOutput({ batches }: AgentState): INodeExecutionData[][] {
	const counts = batches.flatMap(({ settings, slots }) =>
		settings?.singleOutput === true ? 1 : slots.map(countOwnTools),
	);
	return Array.from({ length: FIRST_TOOL + Math.max(0, ...counts) }, () => []);
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

/** Adds the outcomes of a batch whose conversations have all ended to the outputs. */
export function emitOutcomes(batch: Batch, outputs: INodeExecutionData[][]): void {
	for (const slot of batch.slots) {
		const { output, ...item } = outcomeOf(slot)!;
		const binary = { ...slot.files, ...item.binary };
		outputs[output]!.push({
			...item,
			...(Object.keys(binary).length === 0 ? {} : { binary }),
			pairedItem: linkToOrigin(batch, slot),
		});
	}
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

/**
 * Whether n8n will discard these outputs and run the node again: *Retry On Fail* does so when the first item of the
 * first output is an error, until the tries are used up.
 */
export function willBeRetried(
	context: IExecuteFunctions,
	{ retries }: AgentState,
	outputs: readonly INodeExecutionData[][],
): boolean {
	const { retryOnFail, maxTries } = context.getNode();
	const failed = outputs[0]?.[0]?.json['error'] !== undefined;
	// As n8n does: 0 means the default, too.
	const wanted = maxTries === undefined || maxTries === 0 ? TRIES.default : maxTries;
	const tries = Math.min(TRIES.max, Math.max(TRIES.min, wanted));
	return retryOnFail === true && failed && retries + 1 < tries;
}

/** Resets the discarded outcomes for the next try: failed requests are sent again; everything else stays as it is. */
export function prepareRetry(state: AgentState, discarded: readonly Batch[]): void {
	state.retries += 1;
	for (const slot of discarded.flatMap(({ slots }) => slots)) {
		if (slot.conversation?.phase.kind === 'asking') delete slot.failure;
	}
}

/** Whether a conversation has ended. */
export function hasOutcome(slot: ConversationSlot): boolean {
	return outcomeOf(slot) !== undefined;
}

function outcomeOf(slot: ConversationSlot) {
	const { conversation, failure, answer } = slot;
	if (failure !== undefined) return { output: ANSWER, json: failure };
	if (conversation === undefined) return undefined;

	const { phase, rounds, calls, usage, messages } = conversation;
	const details = { tool_calls: calls.map(toOutput), messages };
	const summary = asJson({ rounds, usage, ...(hasDetails(slot) ? details : {}) });
	if (phase.kind === 'stopped') {
		const { reason } = phase;
		return { output: STOPPED, json: { output: STOPPED_TEXTS[reason], reason, ...summary } };
	}
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
	const going = slots.filter(({ failure }) => failure === undefined);
	return going.flatMap((slot) => {
		const records = slot.conversation === undefined ? [] : openCalls(slot.conversation);
		return records.map((record) => ({ slot, record }));
	});
}

function envelopeOf({ number }: ConversationSlot, { id, name, round }: CallRecord): Envelope {
	return { id, tool: name, round, conversation: number };
}

/** Link to the input item of the first run: in later runs the input items are results of tool branches. */
function linkToOrigin({ source }: Batch, { item }: ConversationSlot): IPairedItemData {
	return source === null ? { item } : { item, sourceOverwrite: source };
}
