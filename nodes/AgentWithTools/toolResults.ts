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

/** What a branch has brought back for one call. */
interface Returned {
	readonly call: OpenCall;
	readonly items: readonly INodeExecutionData[];
}

/**
 * Gives the items that came in to the calls that are out.
 *
 * With one call out everything belongs to it, whatever the branch did with the items; only a return of another
 * call, which comes late, is told by its linked. With several calls out linked decides.
 *
 * @returns Whether anything came for a call that is out.
 * @throws InputError when several calls are out and the linked of an item was lost.
 */
export function takeReturns(context: IExecuteFunctions, state: AgentState, nowMs: number): boolean {
	const items = context.getInputData();
	const linkedCalls = items.map((_item, index) => linkedCallOf(context, index));
	const isOut = (call: OpenCall) => state.open.some((open) => sameCall(open, call));

	if (state.open.length === 1) {
		const late = linkedCalls.every((linked) => linked.kind === 'call' && !isOut(linked.call));
		if (late) return false;
		settle(state, { call: state.open[0]!, items }, nowMs);
		return true;
	}

	const returned: { call: OpenCall; items: INodeExecutionData[] }[] = [];
	for (const [index, linked] of linkedCalls.entries()) {
		if (linked.kind !== 'call') throw lost();
		if (!isOut(linked.call)) continue;
		const known = returned.find(({ call }) => sameCall(call, linked.call));
		if (known === undefined) returned.push({ call: linked.call, items: [items[index]!] });
		else known.items.push(items[index]!);
	}
	for (const each of returned) settle(state, each, nowMs);
	return returned.length > 0;
}

/** Gives the results of n8n's own tool nodes to their calls; a retried run gets them twice. */
export function takeResponses(state: AgentState, response: EngineResponse, nowMs: number): void {
	for (const { action, data } of response.actionResponses) {
		const call = state.open.find(
			({ slot, callId }) => action.id === actionId({ slot, callId }),
		);
		if (call === undefined) continue;
		const items = data.data?.['ai_tool']?.[0] ?? [];
		const failure = data.error === undefined ? [] : [{ json: { error: data.error.message } }];
		settle(state, { call, items: items.length > 0 ? items : failure }, nowMs);
	}
}

/** Name of a call among the engine's actions. */
export function actionId({ slot, callId }: OpenCall): string {
	return `${slot}:${callId}`;
}

function settle(state: AgentState, { call, items }: Returned, nowMs: number): void {
	const slot = state.slots[call.slot]!;
	const values = items.map(({ json }) => withoutEnvelope(json));
	const outcome = {
		result: JSON.stringify(values.length === 1 ? values[0] : values),
		failed: values.some(
			({ error }) => error !== undefined && error !== null && error !== false,
		),
	};
	slot.conversation = applyResult(slot.conversation!, call.callId, outcome, nowMs);
	state.open = state.open.filter((open) => !sameCall(open, call));
}

/** A branch that passes its items on would send the call back to the model. */
function withoutEnvelope(json: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(json).filter(([key]) => key !== ENVELOPE));
}

function sameCall(a: OpenCall, b: OpenCall): boolean {
	return a.slot === b.slot && a.callId === b.callId;
}

function lost(): InputError {
	return new InputError(
		'Tool Calls',
		'came back without the link to the call they belong to',
		'Set Run Tool Calls to One at a Time, or keep item linking in the branch (Code nodes: return pairedItem)',
	);
}
