import type {
	EngineResponse,
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { applyResult } from '../client/chat/conversation';
import { InputError } from '../client/errors';
import type { AgentState, OpenCall } from './state';
import { ENVELOPE, linkedCallOf } from './itemLinking';

/** The items that came back for one tool call. */
interface ReturnedItems {
	readonly call: OpenCall;
	readonly items: readonly INodeExecutionData[];
}

/**
 * Applies the input items of this run, which came back from the tool branches, as results of the open calls.
 *
 * With one open call all items are its result, even if the branch lost item linking; only items that are linked to
 * another call are late and ignored. With several open calls item linking decides.
 *
 * @returns Whether an open call has its result now.
 * @throws InputError when several calls are open and an item has lost its link.
 */
export function applyReturnedItems(
	context: IExecuteFunctions,
	state: AgentState,
	nowMs: number,
): boolean {
	const items = context.getInputData();
	const linkedCalls = items.map((_item, index) => linkedCallOf(context, index));
	const isOpen = (call: OpenCall) => state.open.some((open) => isSameCall(open, call));

	if (state.open.length === 1) {
		const isLate = linkedCalls.every(
			(linked) => linked.kind === 'call' && !isOpen(linked.call),
		);
		if (isLate) return false;
		applyItems(state, { call: state.open[0]!, items }, nowMs);
		return true;
	}

	const returned: { call: OpenCall; items: INodeExecutionData[] }[] = [];
	for (const [index, linked] of linkedCalls.entries()) {
		if (linked.kind !== 'call') throw lostLink();
		if (!isOpen(linked.call)) continue;
		const known = returned.find(({ call }) => isSameCall(call, linked.call));
		if (known === undefined) returned.push({ call: linked.call, items: [items[index]!] });
		else known.items.push(items[index]!);
	}
	for (const each of returned) applyItems(state, each, nowMs);
	return returned.length > 0;
}

/** Applies the results of connected tool nodes. When n8n retries the node it sends the same results again: no effect. */
export function applyToolResponses(
	state: AgentState,
	response: EngineResponse,
	nowMs: number,
): void {
	for (const { action, data } of response.actionResponses) {
		const call = state.open.find(
			({ slot, callId }) => action.id === actionId({ slot, callId }),
		);
		if (call === undefined) continue;
		const items = data.data?.['ai_tool']?.[0] ?? [];
		const failure = data.error === undefined ? [] : [{ json: { error: data.error.message } }];
		applyItems(state, { call, items: items.length > 0 ? items : failure }, nowMs);
	}
}

/** ID of a call among the actions of an engine request. */
export function actionId({ slot, callId }: OpenCall): string {
	return `${slot}:${callId}`;
}

function applyItems(state: AgentState, { call, items }: ReturnedItems, nowMs: number): void {
	const slot = state.slots[call.slot]!;
	const values = items.map(({ json }) => withoutEnvelope(json));
	const outcome = {
		result: JSON.stringify(values.length === 1 ? values[0] : values),
		failed: values.some(
			({ error }) => error !== undefined && error !== null && error !== false,
		),
	};
	slot.conversation = applyResult(slot.conversation!, call.callId, outcome, nowMs);
	state.open = state.open.filter((open) => !isSameCall(open, call));
}

/** Removes `tool_call`: a branch that returns its input unchanged would send it to the model. */
function withoutEnvelope(json: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(json).filter(([key]) => key !== ENVELOPE));
}

function isSameCall(a: OpenCall, b: OpenCall): boolean {
	return a.slot === b.slot && a.callId === b.callId;
}

function lostLink(): InputError {
	return new InputError(
		'Tool results',
		'came back without the link to their tool call',
		'Set Run Tool Calls to One at a Time, or keep item linking in the branch (Code nodes: return pairedItem)',
	);
}
