import type { EngineRequest, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { applyStarted, type CallRecord, type StopReason } from '../client/chat/conversation';
import type { Advice } from '../client/errors';
import { asJson, objectOf, parseJson, type JsonObject } from '../client/json';
import { counted } from '../client/values';
import { hintMissingFiles } from '../shared/files/download';
import { forVisitors } from '../shared/chat/chatStream';
import { leave, leftIn, takeBack } from '../shared/engine/rest';
import { linkTools, ranBehind, runDataOf, runIndexOf } from '../shared/engine/runs';
import { isConnected, workflowOf } from '../shared/engine/workflow';
import { FIRST_TOOL } from '../shared/run/nodeContext';
import { ofRetry, withoutKeys } from '../shared/run/nodeErrors';
import type { Run } from '../shared/run/run';
import { ANSWER, isStepInBranch, STOPPED, wholeRun } from './drawing';
import { placeOf, toCallJson } from './matching';
import {
	branchCalls,
	dueCalls,
	stepOf,
	type AgentState,
	type Call,
	type ConversationSlot,
} from './state';

/** Index of an action that uses no input item. */
const NO_ITEM = -1;

/** Key of the tools whose results are missing in the execution's custom data: there or `none`. */
const OPEN_CALLS = 'agent_video_open_calls';

const NO_ANSWER = 'I stopped without an answer:';
/** What the user of a chat reads when a limit has stopped the conversation. */
export const STOPPED_TEXTS: Readonly<Record<StopReason, string>> = {
	max_rounds: `${NO_ANSWER} it took too many steps. Ask for less at once`,
	max_tool_calls: `${NO_ANSWER} it took too many tool calls. Ask for less at once`,
	repeated_tool_call: `${NO_ANSWER} I repeated the same tool call. Ask in other words`,
};
/** What prevents that a limit stops a conversation. */
const PREVENTION: Readonly<Record<StopReason, string>> = {
	max_rounds: 'raise Maximum Rounds, or ask for less at once',
	max_tool_calls: 'raise Maximum Tool Calls, or ask for less at once',
	repeated_tool_call: 'describe the tool more clearly, or ask in other words',
};
const UNSEEN = ['Conversations left through', 'which has no connection'] as const;

/**
 * The request to n8n's engine to run the pending calls of connected tool nodes; undefined if there are none.
 *
 * The engine merges the arguments into the input item with the given index, so that the expressions of a tool node see
 * its fields. In later runs the input items are results of tool branches: then the fields of the original item are sent
 * along with the arguments. A request has one source for all links: the calls of the next batch follow in another one.
 */
export function requestToolNodes(
	context: IExecuteFunctions,
	state: AgentState,
): EngineRequest | undefined {
	const isOfNode = ({ slot, record }: Call) => Object.hasOwn(slot.toolNodes!, record.name);
	const calls =
		dueCalls(state)
			.find((due) => due.some(isOfNode))
			?.filter(isOfNode) ?? [];
	if (calls.length === 0) return undefined;
	linkTools(context, calls[0]!.slot.source!);
	const actions = calls.map((call) => {
		const { slot, record } = call;
		const { nodeName, ...tool } = slot.toolNodes![record.name]!;
		const isFirstRun = slot.arrival === state.arrivals;
		start(call);
		return {
			actionType: 'ExecutionNodeAction' as const,
			nodeName,
			input: {
				...(isFirstRun ? {} : ownFields(slot, record.name)),
				...(record.arguments as object),
				...tool,
			},
			type: 'ai_tool' as const,
			id: actionId(call),
			metadata: { itemIndex: isFirstRun ? slot.item : NO_ITEM },
		};
	});
	return { actions, metadata: {} };
}

/**
 * The fields of the item, for the expressions of a tool node, without those that are for the model to say: an argument that
 * it leaves out has its default. `$fromAI` reads them in `query` first, where a webhook has what its caller wrote.
 */
function ownFields({ json, tools }: ConversationSlot, name: string): JsonObject {
	const { parameters } = tools!.find((tool) => tool.function.name === name)!.function;
	const names = Object.keys(objectOf(objectOf(parameters)['properties']));
	const fields = withoutKeys(json!, names);
	const query = withoutKeys(objectOf(fields['query']), names);
	return { ...fields, ...('query' in fields && { query }) };
}

/**
 * ID of a call among the actions of all engine requests: in a Retry n8n gives the results of an earlier round again, in which
 * a model may have used the same ID.
 */
export function actionId({ slot, record }: Call): string {
	return `${slot.number}:${record.round}:${record.id}`;
}

/**
 * The outputs of this run: the next tool calls of every batch that has none out, and the outcomes that are due. Calls of
 * connected tool nodes are not among them: `requestToolNodes` takes those first.
 *
 * @param again The calls that leave once more, in a Retry.
 */
export function emit(
	run: Run,
	state: AgentState,
	again: readonly Call[] = [],
): INodeExecutionData[][] {
	const { context } = run;
	const counts = state.batches.flat().map(({ toolOutputs = 0 }) => toolOutputs);
	const length = FIRST_TOOL + Math.max(0, ...counts);
	const outputs = Array.from({ length }, (): INodeExecutionData[] => []);
	const next = dueCalls(state).flatMap((calls) =>
		calls[0]?.slot.options!.runCalls === 'allAtOnce' ? calls : calls.slice(0, 1),
	);
	const called = [...again, ...next];
	// n8n makes values for all expressions first, which takes a fifth of the round.
	const index = runIndexOf(context) ?? Number(context.getWorkflowDataProxy(0).$runIndex);
	for (const call of called) {
		const { slot, record } = call;
		const tool = slot.tools!.findIndex(({ function: { name } }) => name === record.name);
		const output = FIRST_TOOL + Math.min(tool, slot.toolOutputs! - 1);
		start(call, placeOf({ run: index, output, item: outputs[output]!.length }));
		outputs[output]!.push({ json: toCallJson(call), pairedItem: linkToOrigin(slot) });
	}

	// Failures never leave together with tool calls: *Retry On Fail* would run the node again and repeat the calls.
	const isDue = (slot: ConversationSlot) =>
		hasOutcome(slot) && (called.length === 0 || slot.failure === undefined);
	const due = state.batches.filter((slots) => slots.every(isDue));
	const ended = due.flat();
	const hasErrorOutput = run.node.onError === 'continueErrorOutput';
	for (const slot of ended) {
		const { output, json, binary } = endedItem(slot);
		const files = { ...slot.files, ...binary };
		// n8n adds the fields of the linked item to a failure, but looks for that item only in the input of this run, and
		// stops the execution when the item came in with an earlier run. It skips that step for a link that is a number.
		const isLost = hasErrorOutput && slot.failure && slot.arrival !== state.arrivals;
		outputs[output]!.push({
			json,
			...(Object.keys(files).length === 0 ? {} : { binary: files }),
			pairedItem: isLost ? returnedItem(state, slot) : linkToOrigin(slot),
		});
	}

	// n8n discards the outputs and runs the node again if the first item is an error, until the tries are used up.
	const hasFailed = outputs[ANSWER]![0]?.json['error'] !== undefined;
	if (hasFailed && run.isTriedAgain) {
		for (const slot of ended) {
			// Failed requests are sent again; everything else stays as it is.
			if (slot.conversation?.phase.kind === 'asking') delete slot.failure;
		}
	} else state.batches = state.batches.filter((batch) => !due.includes(batch));

	const stopped = ended.filter((slot) => stepOf(slot) === 'stopped');
	const isUnseen = stopped.length > 0 && !isConnected(context, STOPPED);
	if (isUnseen) run.hint(UNSEEN.join(' Stopped, '));
	const hasErrors = hasErrorOutput && ended.some(({ failure }) => failure);
	if (hasErrors && !isConnected(context, context.getNodeOutputs().length - 1))
		run.hint(UNSEEN.join(' Error, '));
	// Of the last node n8n shows other outputs than the first one in a chat only.
	const isShown = run.reader === 'visitor' && (run.isLive || run.messages.length > 0);
	const isRead = isUnseen && isShown && !isConnected(context, ANSWER);
	if (isUnseen && !isRead && !context.continueOnFail()) state.lost = [...state.lost, ...stopped];
	planEnd(run, state, called.length > 0);
	hintMissingFiles(run, outputs.flat(), 'media');
	return outputs.map((items, output) => (output < FIRST_TOOL ? forVisitors(run, items) : items));
}

/**
 * Turns the end of an execution while tool calls are open into an error: a branch that ends without an item never runs the
 * node again, and n8n ends the execution with success. The same for conversations that leave through Stopped where nothing
 * takes them. The calls also leave a hint in the run's output and a value in the execution's custom data, by which the
 * execution can be found in n8n's list.
 *
 * @param calledNow Whether this run has sent calls out.
 */
function planEnd(run: Run, state: AgentState, calledNow: boolean): void {
	const { context } = run;
	const isStep = isStepInBranch(context);
	const calls = branchCalls(state);
	const tools = toolsOf(calls);
	if (calledNow) {
		const step = isStep
			? `. "Execute step" ends here. ${wholeRun(workflowOf(context).nodes)}`
			: '';
		run.hint(`Waiting for ${tools.join(', ')}${step}`, 'info');
	}

	takeBack(context);
	const ends = [...openEnd(isStep ? [] : calls), ...stoppedEnd(state.lost)];
	if (ends.length > 0) {
		const message = ends.map((end) => end.message).join('. ');
		const advice = ends.map((end) => end.advice as Advice);
		const retry = ofRetry(run, ends.map((end) => end.retry).join('. '));
		const error = { kind: 'failed', message, advice, details: {} } as const;
		leave(context, [...context.getInputData().keys()], { error, retry, open: tools });
	}
	const missing = new Set([...tools, ...leftIn(context).flatMap(({ open = [] }) => open)]);
	const { customData } = context as Partial<IExecuteFunctions>;
	if (missing.size > 0 || customData?.get(OPEN_CALLS) !== undefined)
		run.setCustomData(OPEN_CALLS, [...missing].join(', ') || 'none');
}

/** The end of an execution in which tool calls are open. */
function openEnd(calls: readonly Call[]) {
	if (calls.length === 0) return [];
	const names = toolsOf(calls);
	const tools = `${names.length === 1 ? 'Tool' : 'Tools'} ${names.join(', ')}`;
	const end = {
		message: `${tools} returned no item for ${counted(calls.length, 'call')}`,
		advice: 'The branch has ended before it reached this node again. Switch on Always Output Data in the settings of its last node, connect every output of its nodes, error outputs as well, and let no Merge wait for two ways of which only one has items',
		retry: 'Retry sends these calls out again, and asks the model for nothing twice',
	};
	return [end];
}

/** Which nodes have run in the branches of these calls, for the error of the end. */
export function toBranchText({ context, node }: Run, calls: readonly Call[]): string {
	const { name } = node;
	const places = new Map(calls.map(({ record }) => [record.name, record.place!.split('/')]));
	const texts = [...places].map(([tool, [run, output]]) => {
		const start = { node: name, run: Number(run), output: Number(output) };
		const nodes = [...ranBehind(runDataOf(context) ?? {}, start)];
		return `In the branch of ${tool} ran: ${nodes.join(', ') || 'nothing'}`;
	});
	return texts.join('. ');
}

/** The end of an execution in which conversations were lost at Stopped. */
function stoppedEnd(lost: readonly ConversationSlot[]) {
	if (lost.length === 0) return [];
	const reasons = new Set(lost.map((slot) => endedItem(slot).json['reason'] as StopReason));
	const remedies = [...reasons].map((reason) => `${reason}: ${PREVENTION[reason]}`);
	const end = {
		message: `Stopped has no connection, and ${counted(lost.length, 'conversation')} left through it`,
		advice: `Connect it, or prevent what has stopped them. ${remedies.join('. ')}`,
		retry: 'With Stopped connected, a Retry with the currently saved workflow sends them out again, free of charge',
	};
	return [end];
}

function toolsOf(calls: readonly Call[]): string[] {
	return [...new Set(calls.map(({ record }) => record.name))];
}

/** Whether a conversation has ended. */
export function hasOutcome(slot: ConversationSlot): boolean {
	return ['answered', 'stopped', 'failed'].includes(stepOf(slot) ?? '');
}

/** The item of a conversation that has ended, and the output for it. */
function endedItem(slot: ConversationSlot): INodeExecutionData & { readonly output: number } {
	const { conversation, failure, answer } = slot;
	if (failure !== undefined) return { output: ANSWER, json: failure };
	const { phase, rounds, calls, usage, messages } = conversation!;
	const details = slot.hasDetails === true ? { tool_calls: calls.map(toOutput), messages } : {};
	const summary = asJson({ rounds, usage, ...details });
	if (phase.kind !== 'stopped')
		return { output: ANSWER, ...answer, json: { ...answer!.json, ...summary } };
	const { reason } = phase;
	return { output: STOPPED, json: { output: STOPPED_TEXTS[reason], reason, ...summary } };
}

/** A tool call in the output of an outcome. */
function toOutput({ id, name, arguments: args, round, ...ended }: CallRecord) {
	const { result: text, failed = false, durationMs = 0 } = ended;
	const result = text === undefined ? null : (parseJson(text) ?? text);
	return { id, name, arguments: args, result, failed, round, duration: durationMs / 1000 };
}

/** Marks a call as started; with its place if it leaves through an output. */
function start({ slot, record }: Call, place?: string): void {
	slot.conversation = applyStarted(slot.conversation!, record.id, Date.now(), place);
}

/** Link to the input item of the first run: in later runs the input items are results of tool branches. */
function linkToOrigin({ source, item }: ConversationSlot) {
	return source === null ? { item } : { item, sourceOverwrite: source };
}

/** Index of the input item of this run that is a result of a conversation. */
function returnedItem({ arrivals }: AgentState, { returned }: ConversationSlot): number {
	return returned?.arrival === arrivals ? returned.item : NO_ITEM;
}
