import type { IExecuteFunctions } from 'n8n-workflow';

import { startConversation } from '../client/chat/conversation';
import { InputError } from '../client/errors';
import { readMessages } from '../shared/chat/messages';
import { readRequestFields } from '../shared/chat/requestFields';
import { engineOf, sourceOf } from '../shared/run/engine';
import { n8nService } from '../shared/run/host';
import { toNodeError } from '../shared/run/nodeErrors';
import { failSlot } from './askModel';
import { findMistake, type Drawing } from './drawing';
import { isSingleOutput, readSettings } from './options';
import type { AgentState, Batch, ConversationSlot } from './state';
import { readToolNodes, type ToolNodes } from './toolNodes';
import { readTools } from './tools';

/** An input item that begins a conversation. */
interface Question {
	/** Index of the item. */
	readonly item: number;
	/** Whether it was made from an outcome of this node. */
	readonly isFromOutcome: boolean;
}

/**
 * Begins one conversation for each of these input items. All parameters are read here: in later runs of the node the
 * input items are those that came back from the tool branches.
 *
 * @throws InputError when a field or the drawing of the workflow is invalid, unless the node continues on errors; then
 *   the conversation has a failure.
 */
export async function beginBatch(
	context: IExecuteFunctions,
	state: AgentState,
	questions: readonly Question[],
): Promise<Batch> {
	const slots = questions.map(({ item }) => emptySlot(item, state.conversations++));
	const batch = { source: sourceOf(context), slots };
	function fail(failed: readonly ConversationSlot[], error: unknown): void {
		for (const slot of failed) {
			if (!context.continueOnFail()) throw toNodeError(context.getNode(), error, slot.item);
			if (slot.failure === undefined) failSlot(context, slot, error);
		}
	}

	try {
		const service = await n8nService(context);
		const settings = readSettings(context, service, slots[0]!.item);
		const toolNodes = await readToolNodes(context);
		for (const slot of slots) {
			try {
				Object.assign(slot, await readSlot(context, slot.item, toolNodes));
			} catch (error) {
				fail([slot], error);
			}
		}
		const drawing = readDrawing(context);
		const mistake = drawing && findMistake(drawing, slots.some(hasOwnTools));
		if (mistake === undefined) return { ...batch, settings };
		fail(slots, mistake);
		// The error itself may lead back: it would come out again forever.
		return {
			...batch,
			settings,
			slots: slots.filter((_slot, i) => !questions[i]!.isFromOutcome),
		};
	} catch (error) {
		fail(slots, error);
		return { ...batch, settings: undefined };
	}
}

/** The node as it is drawn; undefined in an n8n that does not show it. */
export function readDrawing(context: IExecuteFunctions): Drawing | undefined {
	const { connections, isTrigger } = engineOf(context);
	if (connections === undefined) return undefined;
	const { name, onError } = context.getNode();
	return {
		name,
		connections,
		toolOutputs: readToolOutputs(context),
		hasErrorOutput: onError === 'continueErrorOutput',
		isTrigger,
	};
}

/** What the errors call the outputs for tool calls, in their order. */
export function readToolOutputs(context: IExecuteFunctions): string[] {
	if (isSingleOutput(context)) return ['Tool Calls'];
	const tools = context.getNodeParameter('tools.tool', 0, []) as readonly { name?: string }[];
	return tools.map(({ name = '' }, index) => `Tool ${name.trim() || index + 1}`);
}

async function readSlot(
	context: IExecuteFunctions,
	item: number,
	{ declarations, nodes }: ToolNodes,
): Promise<Partial<ConversationSlot>> {
	const service = await n8nService(context);
	const own = readTools(context, item);
	const repeated = own.find((tool) => Object.hasOwn(nodes, tool.function.name));
	if (repeated !== undefined) {
		throw new InputError(
			'Tool Nodes',
			`repeat the name ${repeated.function.name} of a tool of this node`,
			'Rename one of the two',
		);
	}
	return {
		json: declarations.length > 0 ? context.getInputData()[item]!.json : {},
		tools: [...own, ...declarations],
		toolNodes: nodes,
		request: readRequestFields(context, item),
		conversation: startConversation(readMessages(context, item, service)),
	};
}

function hasOwnTools({ tools, toolNodes }: ConversationSlot): boolean {
	return tools.length > Object.keys(toolNodes).length;
}

function emptySlot(item: number, number: number): ConversationSlot {
	return {
		item,
		number,
		json: {},
		tools: [],
		toolNodes: {},
		request: {},
		conversation: undefined,
		files: {},
		emitted: false,
	};
}
