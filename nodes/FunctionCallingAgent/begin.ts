import type { IExecuteFunctions } from 'n8n-workflow';

import { startConversation } from '../client/chat/conversation';
import { readOutput } from '../shared/chat/finishReply';
import { recall } from '../shared/chat/memory';
import { readMessages } from '../shared/chat/messages';
import { readFallbacks, readRequestFields } from '../shared/chat/requestOptions';
import { readJsonFormat } from '../shared/chat/responseFormat';
import { sourceOf } from '../shared/run/engine';
import { n8nService, type Service } from '../shared/run/host';
import { failSlot } from './askModel';
import { findMistake, readDrawing } from './drawing';
import { readSettings } from './properties';
import { countOwnTools, type AgentState, type Batch, type ConversationSlot } from './state';
import { readToolNodes, readTools, type ToolNodes } from './tools';

/**
 * Begins one conversation for each of these input items. All parameters are read here: in later runs of the node the
 * input items are those that came back from the tool branches.
 *
 * @param questions The indexes of the items, and whether they were made from outcomes of this node.
 * @throws InputError when a field or the drawing of the workflow is invalid, unless the node continues on errors; then
 *   the conversation has a failure.
 */
export async function beginBatch(
	context: IExecuteFunctions,
	state: AgentState,
	questions: readonly { readonly item: number; readonly isFromOutcome: boolean }[],
): Promise<Batch> {
	const slots = questions.map(({ item }): ConversationSlot => ({
		item,
		number: state.conversations++,
		json: {},
		tools: [],
		toolNodes: {},
		request: {},
		conversation: undefined,
		files: {},
	}));
	const source = sourceOf(context);
	function fail(failed: readonly ConversationSlot[], error: unknown): void {
		for (const slot of failed) {
			if (slot.failure === undefined) failSlot(context, slot, error);
		}
	}

	try {
		const service = await n8nService(context);
		const settings = readSettings(context, slots[0]!.item);
		const toolNodes = await readToolNodes(context);
		for (const slot of slots) {
			try {
				Object.assign(slot, await readSlot(context, slot.item, service, toolNodes));
			} catch (error) {
				fail([slot], error);
			}
		}
		const drawing = readDrawing(context);
		const needsBranches = slots.some((slot) => countOwnTools(slot) > 0);
		const mistake = drawing && findMistake(drawing, needsBranches);
		if (mistake === undefined) return { source, settings, slots };
		fail(slots, mistake);
		// The error itself may lead back: it would come out again forever.
		const leaving = slots.filter((_slot, index) => !questions[index]!.isFromOutcome);
		return { source, settings, slots: leaving };
	} catch (error) {
		fail(slots, error);
		return { source, settings: undefined, slots };
	}
}

async function readSlot(
	context: IExecuteFunctions,
	item: number,
	service: Service,
	toolNodes: ToolNodes,
): Promise<Partial<ConversationSlot>> {
	const { declarations, nodes } = toolNodes;
	const own = readTools(context, item, toolNodes);
	const request = readRequestFields(context, item, service);
	const asked = readMessages(context, item, service);
	const { messages, ...memory } = await recall(context, item, asked);
	return {
		json: declarations.length > 0 ? context.getInputData()[item]!.json : {},
		tools: [...own, ...declarations],
		toolNodes: nodes,
		output: readOutput(context, item),
		request,
		fallbacks: readFallbacks(context, item, service),
		format: readJsonFormat(context, item),
		...memory,
		conversation: startConversation(messages),
	};
}
