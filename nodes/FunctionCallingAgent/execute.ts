import type {
	EngineRequest,
	EngineResponse,
	IExecuteFunctions,
	INodeExecutionData,
} from 'n8n-workflow';

import { InputError, isCanceled } from '../client/errors';
import { counted } from '../client/values';
import { hintMissingFiles } from '../shared/files/download';
import { engineOf, ignoreAlwaysOutputData, sourceOf } from '../shared/run/engine';
import { hint } from '../shared/run/hints';
import { stoppingError } from '../shared/run/mapItems';
import { nodeState } from '../shared/run/nodeState';
import { askModel, failSlot } from './askModel';
import { beginBatch } from './begin';
import { FIRST_TOOL, readDrawing, readToolOutputs, STOPPED, targetsOf } from './drawing';
import { branchCalls, checkEnd, isEndCheck, watchOpenCalls } from './endCheck';
import { matchItems } from './matching';
import {
	emitCalls,
	emitOutcomes,
	hasOutcome,
	linkForErrorOutput,
	noOutput,
	pendingCalls,
	prepareRetry,
	requestToolNodes,
	willBeRetried,
} from './outputs';
import {
	isFree,
	isSameSource,
	slotOf,
	type AgentState,
	type Batch,
	type ConversationSlot,
	type OpenCall,
} from './state';
import { applyItems, applyToolResponses, toErrorText } from './toolResults';

/** Errors about items that cannot be matched to their call, by problem. */
const UNMATCHED = {
	lost: 'came back without the link to their tool call',
	contradiction: 'contradict their item linking',
} as const;

/**
 * One run of Agent with Tools: begins a conversation for each question, applies the results that came back from the
 * tools, and continues until tool calls have to leave the node or every conversation has its outcome.
 *
 * @param response Results of connected tool nodes, when n8n's engine has run them.
 * @returns The outputs; a request to run connected tool nodes; or null if this run was not needed and is not to be recorded.
 */
export async function runAgent(
	context: IExecuteFunctions,
	response?: EngineResponse,
): Promise<INodeExecutionData[][] | EngineRequest | null> {
	ignoreAlwaysOutputData(context);
	const stored = nodeState<AgentState>(context, 'agent');
	const state =
		stored.get() ??
		stored.set({ batches: [], open: [], arrivals: [], conversations: 0, retries: 0 });
	try {
		return await run(context, state, response);
	} catch (error) {
		if (!context.continueOnFail() || isCanceled(error)) throw stoppingError(context, error);
		// n8n would pass the input on as answers if the node threw with *On Error: Continue*.
		const slots = state.batches.flatMap((batch) => batch.slots);
		const going = slots.filter((slot) => !hasOutcome(slot));
		failSlots(context, state, going, error);
		return emit(context, state, new Map());
	} finally {
		if (state.batches.length === 0) stored.clear();
	}
}

async function run(
	context: IExecuteFunctions,
	state: AgentState,
	response: EngineResponse | undefined,
): Promise<INodeExecutionData[][] | EngineRequest | null> {
	let returned: ReadonlyMap<number, number> = new Map();
	if (isEndCheck(context)) {
		// None is open if Retry On Fail repeats a run that has failed them.
		const open = branchCalls(state);
		const error = open.length === 0 ? undefined : checkEnd(context, state);
		if (error !== undefined) failCalls(context, state, open, error);
		else if (open.length > 0) return null;
	} else if (response !== undefined && response.actionResponses.length > 0) {
		state.retries = 0;
		applyToolResponses(state, response, Date.now());
	} else if (!isRepeated(context, state)) {
		state.retries = 0;
		returned = await receive(context, state);
	}

	for (const batch of state.batches) {
		for (;;) {
			const asking = batch.slots.filter(
				({ conversation, failure }) =>
					failure === undefined && conversation?.phase.kind === 'asking',
			);
			const isBlocked = !isFree(state, batch) || pendingCalls(batch).length > 0;
			if (isBlocked || asking.length === 0) break;
			await askModel(context, batch, asking);
		}
	}
	return requestToolNodes(state, Date.now()) ?? emit(context, state, returned);
}

/** Whether n8n runs the node again with the items of an earlier run: *Retry On Fail*, or after connected tool nodes. */
function isRepeated(context: IExecuteFunctions, { arrivals }: AgentState): boolean {
	const source = sourceOf(context);
	return (
		context.getExecuteData().metadata?.nodeWasResumed === true ||
		arrivals.some((arrival) => isSameSource(arrival, source))
	);
}

/**
 * Reads the input items of this run: applies the results among them, and begins a conversation for each question.
 *
 * @returns The index of an input item by the number of the conversation that it is a result of.
 * @throws InputError when an item cannot be matched to its call.
 */
async function receive(
	context: IExecuteFunctions,
	state: AgentState,
): Promise<ReadonlyMap<number, number>> {
	const source = sourceOf(context);
	const items = context.getInputData();
	const { runData = {} } = engineOf(context);
	const { name: node, onError } = context.getNode();
	// n8n adds the fields of the input item, which may have a `tool_call`, to the items of an error output.
	const errorOutput =
		onError === 'continueErrorOutput' ? FIRST_TOOL + readToolOutputs(context).length : Infinity;
	const isToolOutput = (output: number) => output >= FIRST_TOOL && output < errorOutput;
	const matches = matchItems(runData, { node, source, items, isToolOutput }, branchCalls(state));
	for (const match of matches) {
		if (match.kind === 'unmatched') {
			const error = new InputError(
				'Tool results',
				UNMATCHED[match.problem],
				'Keep item linking in the branch (Code nodes: return pairedItem), or set Run Tool Calls to One at a Time',
			);
			failCalls(context, state, match.calls, error);
		}
	}

	// With On Error: Continue a node that fails passes its input on, which here is the tool call.
	const failure = source && runData[source.previousNode]?.[source.previousNodeRun ?? 0]?.error;
	const returned = new Map<number, number>();
	for (const call of [...branchCalls(state)]) {
		const indexes = matches.flatMap((match, index) =>
			match.kind === 'result' && match.call === call ? [index] : [],
		);
		if (indexes.length === 0) continue;
		returned.set(call.envelope.conversation, indexes[0]!);
		const results = failure
			? [{ json: { error: toErrorText(failure) } }]
			: indexes.map((index) => items[index]!);
		applyItems(state, call, results, Date.now());
	}

	const questions = matches.flatMap((match, item) =>
		match.kind === 'question' ? [{ item, isFromOutcome: match.isFromOutcome }] : [],
	);
	if (questions.length > 0) state.batches.push(await beginBatch(context, state, questions));
	state.arrivals.push(source);
	const late = matches.filter(({ kind }) => kind === 'late').length;
	if (late > 0) {
		hint(
			context,
			`${counted(late, 'item')} came after the result of the tool call, and had no effect. To return all items of a branch with several ends, join the ends with a Merge.`,
			'info',
		);
	}
	return returned;
}

function hintStopped(context: IExecuteFunctions, count: number): void {
	const drawing = count === 0 ? undefined : readDrawing(context);
	if (drawing === undefined || targetsOf(drawing, STOPPED).length > 0) return;
	const message =
		'A conversation has reached a limit. It left through Stopped, which has no connection.';
	hint(context, message);
}

/** The outputs of this run: the next tool calls of every batch that has none out, and the outcomes that are due. */
function emit(
	context: IExecuteFunctions,
	state: AgentState,
	returned: ReadonlyMap<number, number>,
): INodeExecutionData[][] {
	const outputs = noOutput(state);
	const openBefore = state.open.length;
	const run = context.getWorkflowDataProxy(0).$runIndex as number;
	const place = { run, nowMs: Date.now() };
	for (const batch of state.batches) {
		if (isFree(state, batch)) emitCalls(state, batch, outputs, place);
	}
	const calledNow = state.open.length > openBefore;

	const due = state.batches.filter((batch) => isDue(batch, calledNow));
	for (const batch of due) emitOutcomes(batch, outputs);
	linkForErrorOutput(context, state, outputs, returned);
	if (willBeRetried(context, state, outputs)) prepareRetry(state, due);
	else state.batches = state.batches.filter((batch) => !due.includes(batch));
	watchOpenCalls(context, state, { source: sourceOf(context), calledNow });
	hintStopped(context, outputs[STOPPED]!.length);
	hintMissingFiles(context, outputs.flat(), 'media');
	return outputs;
}

/**
 * Whether the outcomes of a batch leave the node in this run: all of them have one. Failures never leave it together with
 * tool calls: *Retry On Fail* would run the node again and repeat the calls.
 */
function isDue({ slots }: Batch, calledNow: boolean): boolean {
	const hasFailed = slots.some(({ failure }) => failure !== undefined);
	return slots.every(hasOutcome) && !(calledNow && hasFailed);
}

/** Fails the conversations of these calls, or the node if it stops on errors. */
function failCalls(
	context: IExecuteFunctions,
	state: AgentState,
	calls: readonly OpenCall[],
	error: Error,
): void {
	if (!context.continueOnFail()) throw error;
	const slots = new Set(calls.map(({ envelope }) => slotOf(state, envelope)));
	failSlots(context, state, [...slots], error);
}

function failSlots(
	context: IExecuteFunctions,
	state: AgentState,
	slots: readonly ConversationSlot[],
	error: unknown,
): void {
	for (const slot of slots) failSlot(context, slot, error);
	const numbers = slots.map(({ number }) => number);
	state.open = state.open.filter(({ envelope }) => !numbers.includes(envelope.conversation));
}
