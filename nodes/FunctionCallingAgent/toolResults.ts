import type { EngineResponse, INodeExecutionData } from 'n8n-workflow';

import { applyResult } from '../client/chat/conversation';
import { InputError } from '../client/errors';
import { withoutFileData } from '../client/fileTypes';
import type { JsonObject } from '../client/json';
import { counted } from '../client/values';
import { freeField } from '../shared/files/download';
import { DEBUG_FIELDS, STACK, toErrorText, withoutKeys } from '../shared/run/nodeErrors';
import { openRun, type Run } from '../shared/run/run';
import { arrivalOf, countReturns } from './arrival';
import { envelopeOf, matchItems, type Match } from './matching';
import { actionId } from './outputs';
import {
	beginBatch,
	branchCalls,
	failSlots,
	pendingCalls,
	type AgentState,
	type Call,
	type ConversationSlot,
} from './state';
import { ENVELOPE } from './properties';

const LOST = 'came back without the link to their tool call';
const KEEP =
	'Keep item linking in the branch (Code nodes: return pairedItem, or tool_call with each item), lead questions to this node by a connection of their own, and not through a Merge with results, or set Run Tool Calls to One at a Time';

const SAME = 'The result is the arguments of the call: no node has changed them in the branch of';

/**
 * Reads the input items of this run: applies the results among them, and begins a conversation for each question.
 *
 * @returns The run for the questions, which may have another credential.
 * @throws InputError when an item cannot be matched to its call.
 */
export async function receive(run: Run, state: AgentState): Promise<Run> {
	const { context } = run;
	const arrived = arrivalOf(context);
	const { source, items } = arrived;
	const arrival = state.arrivals + 1;
	const open = branchCalls(state);
	const matches = matchItems(arrived, open);
	const lost = matches.filter(({ kind }) => kind === 'lost');
	if (lost.length > 0) {
		const where = `${LOST} (from ${source?.previousNode})`;
		const error = new InputError('Tool results', where, KEEP);
		const failing = lost.flatMap(({ calls }) => calls.map(({ slot }) => slot));
		if (failing.length === 0) throw error;
		failSlots(run, failing, error);
	}

	for (const call of open) {
		const isResult = ({ kind, calls }: Match) => kind === 'result' && calls[0] === call;
		const item = matches.findIndex(isResult);
		if (item < 0 || call.slot.failure !== undefined) continue;
		call.slot.returned = { arrival, item };
		const failure = matches[item]!.error;
		const failed = failure && [{ json: { error: toErrorText(failure) } }];
		const result = failed ?? items.filter((_item, index) => isResult(matches[index]!));
		const [first] = result;
		const json = JSON.stringify(withoutKeys(first!.json, [ENVELOPE]));
		// An empty item may also be what Always Output Data has made.
		const isPassedOn = json !== '{}' || envelopeOf(first) !== undefined;
		const isSame = isPassedOn && json === JSON.stringify(call.record.arguments);
		if (isSame) run.hint(`${SAME} ${call.record.name}`);
		applyItems(call, result);
	}

	const slots = matches.flatMap(({ kind }, item): ConversationSlot[] => {
		if (kind !== 'question' || item >= context.getInputData().length) return [];
		return [{ number: state.conversations++, source, arrival, item, files: {} }];
	});
	let asking = run;
	if (slots.length > 0) {
		// The credential of those that are under way may be another one, by an expression.
		if (state.batches.length > 0) asking = await openRun(context);
		await beginBatch(asking, slots, countReturns(arrived));
		state.batches.push(slots);
	}
	Object.assign(state, { arrivals: arrival, source });
	const late = matches.filter(({ kind }) => kind === 'late').length;
	const text = `${counted(late, 'item')} came after the result of the tool call, and had no effect. To return all items of a branch with several ends, join the ends with a Merge.`;
	if (late > 0) run.hint(text, 'info');
	return asking;
}

/** Applies the results of connected tool nodes. When n8n retries the node it sends the same results again: no effect. */
export function applyToolResponses({ batches }: AgentState, response: EngineResponse): void {
	const pending = new Map(pendingCalls(batches.flat()).map((call) => [actionId(call), call]));
	for (const { action, data } of response.actionResponses) {
		const call = pending.get(action.id);
		if (call === undefined) continue;
		// After a Retry with the saved workflow n8n no longer knows that the node ran as a tool.
		const items = (data.data?.['ai_tool'] ?? data.data?.['main'])?.[0] ?? [];
		const failure = data.error === undefined ? [] : [{ json: { error: data.error.message } }];
		applyItems(call, items.length > 0 ? items : failure);
	}
}

/** Applies the items that came back for a call as its result (spec 2.3): one item as an object, several as a list. */
function applyItems({ slot, record }: Call, items: readonly INodeExecutionData[]): void {
	const values = items.map((item) => toValue(item, slot));
	const outcome = {
		result: withoutFileData(JSON.stringify(values.length === 1 ? values[0] : values)),
		failed: values.some((value) => isError(value['error'])),
	};
	slot.conversation = applyResult(slot.conversation!, record.id, outcome, Date.now());
}

/** The JSON of an item for the model, with a list of its files, which come out with the conversation's outcome. */
function toValue(item: INodeExecutionData, { files }: ConversationSlot): JsonObject {
	const { error, stack } = item.json;
	const isFailure = isError(error) || (typeof stack === 'string' && STACK.test(stack));
	const value = withoutKeys(item.json, [
		...(envelopeOf(item) === undefined ? [] : [ENVELOPE]),
		...(isFailure ? DEBUG_FIELDS : []),
	]);
	if (isError(error)) value['error'] = toErrorText(error);
	const kept = Object.entries(item.binary ?? {}).map(([field, file]) => {
		const free = freeField(files, field);
		files[free] = file;
		return { field: free, name: file.fileName, type: file.mimeType, size: file.fileSize };
	});
	return kept.length === 0 ? value : { binary_data: kept, ...value };
}

/** Whether the field `error` of an item tells of one: some APIs send an empty one, or 0, where there is none. */
function isError(value: unknown): boolean {
	return Boolean(value) && (typeof value !== 'object' || Object.keys(value!).length > 0);
}
