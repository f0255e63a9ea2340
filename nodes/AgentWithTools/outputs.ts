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
import { sourceOf } from './begin';
import { actionId } from './toolResults';
import type { AgentState, OpenCall, ConversationSlot } from './state';
import { ENVELOPE, linkedCallOf } from './itemLinking';

/** Outputs before those of the tools. */
const ANSWER = 0;
const STOPPED = 1;
const FIRST_TOOL = 2;
/** Index of no item at all. */
const NO_ITEM = -1;

/** One list of items per output; the last ones are the tools'. */
export function noOutput(state: AgentState | undefined): INodeExecutionData[][] {
	const tools = state === undefined ? 0 : outputsForTools(state);
	return Array.from({ length: FIRST_TOOL + tools }, () => []);
}

/**
 * The next calls for branches: one, or all that wait; those of tool nodes have been requested before. They count as out
 * from here on.
 */
export function handOutCalls(state: AgentState, nowMs: number): INodeExecutionData[][] {
	const outputs = noOutput(state);
	const waiting = callsOf(state);
	for (const { call, record } of state.settings.allAtOnce ? waiting : waiting.slice(0, 1)) {
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
			pairedItem: originOf(state, slot),
		});
		slot.conversation = applyStarted(slot.conversation!, call.callId, nowMs);
		state.open.push(call);
	}
	return outputs;
}

/**
 * The request to the engine for the calls of n8n's own tool nodes; none where no such call polls.
 *
 * The engine lays the arguments over the item of this run with the given index, so that the expressions of a tool node
 * find its fields. In later runs those items are what branches brought back: the item of the first run goes along then.
 */
export function requestTools(
	context: IExecuteFunctions,
	state: AgentState,
	nowMs: number,
): EngineRequest | undefined {
	const waiting = callsOf(state, ({ toolNodes }, { name }) => toolNodes[name] !== undefined);
	if (waiting.length === 0) return undefined;

	state.open = waiting.map(({ call }) => call);
	const isFirstRun = isSameRun(sourceOf(context), state.source);
	const actions = waiting.map(({ call, record }) => {
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
	return { actions, metadata: {} };
}

/** The outcomes of these conversations that have not left the node yet, put on their outputs. */
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
		outputs[output]!.push({ ...item, pairedItem: originOf(state, slot) });
	}
	return outputs;
}

/**
 * Links failures anew where they go to an error output. n8n looks for the item that they are linked to among those of
 * this run, to add its fields, and ends the execution where the item came in with an earlier one; a link that is a plain
 * number it leaves alone.
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
	const story = {
		rounds,
		tool_calls: calls.map(toLog),
		usage,
		messages,
	} as unknown as IDataObject;
	if (phase.kind === 'stopped')
		return { output: STOPPED, json: { reason: phase.reason, ...story } };
	if (answer === undefined) return undefined;
	return { output: ANSWER, ...answer, json: { ...answer.json, ...story } };
}

function toLog({ id, name, arguments: args, round, result, failed, durationMs }: CallRecord) {
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

function callsOf(
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

/** Links to the input item of the first run: the items of later runs are what the branches made. */
function originOf({ source }: AgentState, { item }: ConversationSlot): IPairedItemData {
	return source === null ? { item } : { item, sourceOverwrite: source };
}
