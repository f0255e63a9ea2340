import type {
	EngineRequest,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	IPairedItemData,
	ISourceData,
} from 'n8n-workflow';

import { applyStarted, openCalls, type CallRecord } from '../client/chat/conversation';
import { parseJson } from '../client/json';
import { toDataObject } from '../shared/run/dataObject';
import { sourceOf } from './begin';
import { actionId } from './toolResults';
import type { AgentState, OpenCall, ConversationSlot } from './state';
import { ENVELOPE, linkedCallOf } from './itemLinking';

/** Indexes of the outputs. */
const ANSWER = 0;
const STOPPED = 1;
const FIRST_TOOL = 2;
/** Index of an action that uses no input item. */
const NO_ITEM = -1;

/** An empty list for each output: Answer, Stopped, then the tools. */
export function noOutput(state: AgentState | undefined): INodeExecutionData[][] {
	const tools = state === undefined ? 0 : outputsForTools(state);
	return Array.from({ length: FIRST_TOOL + tools }, () => []);
}

/**
 * The outputs with the next tool calls for the branches: one, or all of the round. They are open from here on. Calls of
 * connected tool nodes are not among them: `requestToolNodes` takes those first.
 */
export function emitCalls(state: AgentState, nowMs: number): INodeExecutionData[][] {
	const outputs = noOutput(state);
	const pending = pendingCalls(state);
	for (const { call, record } of state.settings.allAtOnce ? pending : pending.slice(0, 1)) {
		const slot = state.slots[call.slot]!;
		const names = slot.tools.map((tool) => tool.function.name);
		const tool = state.settings.singleOutput ? 0 : names.indexOf(record.name);
		outputs[FIRST_TOOL + tool]!.push({
			json: {
				...(record.arguments as IDataObject),
				[ENVELOPE]: {
					id: call.callId,
					tool: record.name,
					round: record.round,
					conversation: call.slot,
				},
			},
			pairedItem: linkToOrigin(state, slot),
		});
		slot.conversation = applyStarted(slot.conversation!, call.callId, nowMs);
		state.open.push(call);
	}
	return outputs;
}

/**
 * The request to n8n's engine to run the pending calls of connected tool nodes; undefined if there are none.
 *
 * The engine merges the arguments into the input item with the given index, so that the expressions of a tool node see
 * its fields. In later runs the input items are results of tool branches: then the fields of the original item are sent
 * along with the arguments.
 */
export function requestToolNodes(
	context: IExecuteFunctions,
	state: AgentState,
	nowMs: number,
): EngineRequest | undefined {
	const pending = pendingCalls(state, ({ toolNodes }, { name }) => toolNodes[name] !== undefined);
	if (pending.length === 0) return undefined;

	state.open = pending.map(({ call }) => call);
	const isFirstRun = isSameRun(sourceOf(context), state.source);
	const actions = pending.map(({ call, record }) => {
		const slot = state.slots[call.slot]!;
		slot.conversation = applyStarted(slot.conversation!, call.callId, nowMs);
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
			id: actionId(call),
			metadata: { itemIndex: isFirstRun ? slot.item : NO_ITEM },
		};
	});
	return { actions: actions, metadata: {} };
}

/** Adds the outcomes of these conversations to the outputs, unless they have left the node before. */
export function emitOutcomes(
	state: AgentState,
	slots: readonly ConversationSlot[],
	outputs: INodeExecutionData[][],
): INodeExecutionData[][] {
	for (const slot of slots) {
		const outcome = slot.emitted ? undefined : outcomeOf(slot);
		if (outcome === undefined) continue;
		slot.emitted = true;
		const { output, ...item } = outcome;
		outputs[output]!.push({ ...item, pairedItem: linkToOrigin(state, slot) });
	}
	return outputs;
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
): void {
	const isFirstRun = isSameRun(sourceOf(context), state.source);
	if (isFirstRun || context.getNode().onError !== 'continueErrorOutput') return;
	for (const item of outputs[ANSWER]!.filter(({ json }) => json['error'] !== undefined)) {
		const origin = item.pairedItem as IPairedItemData;
		item.pairedItem = context.getInputData().findIndex((_item, index) => {
			const linked = linkedCallOf(context, index);
			return linked.kind === 'call' && state.slots[linked.call.slot]?.item === origin.item;
		});
	}
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
function pendingCalls(
	state: AgentState,
	wanted: (slot: ConversationSlot, record: CallRecord) => boolean = () => true,
): { call: OpenCall; record: CallRecord }[] {
	return state.slots.flatMap((slot, index) =>
		(slot.conversation === undefined ? [] : openCalls(slot.conversation))
			.filter((record) => wanted(slot, record))
			.map((record) => ({ call: { slot: index, callId: record.id }, record })),
	);
}

function outputsForTools({ settings, slots }: AgentState): number {
	if (settings.singleOutput) return 1;
	return Math.max(
		0,
		...slots.map(({ tools, toolNodes }) => tools.length - Object.keys(toolNodes).length),
	);
}

function isSameRun(a: ISourceData | null, b: ISourceData | null): boolean {
	return a?.previousNode === b?.previousNode && a?.previousNodeRun === b?.previousNodeRun;
}

/** Link to the input item of the first run: in later runs the input items are results of tool branches. */
function linkToOrigin({ source }: AgentState, { item }: ConversationSlot): IPairedItemData {
	return source === null ? { item } : { item, sourceOverwrite: source };
}
