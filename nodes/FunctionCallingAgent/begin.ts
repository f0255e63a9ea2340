import type { IDataObject, IExecuteFunctions, ISourceData } from 'n8n-workflow';

import { startConversation } from '../client/chat/conversation';
import { checkTools } from '../client/chat/tools';
import { asJson } from '../client/json';
import { readMessages } from '../shared/chat/messages';
import { readRequestFields } from '../shared/chat/requestFields';
import { toNodeError } from '../shared/run/nodeErrors';
import { n8nService } from '../shared/run/host';
import { failureJson } from '../shared/run/mapItems';
import { readSettings } from './options';
import type { AgentState, ConversationSlot } from './state';
import { readToolNodes, type ToolNodes } from './toolNodes';
import { readTools } from './tools';

/**
 * Begins one conversation per input item. All parameters are read here: in later runs of the node the input items are
 * those that came back from the tool branches.
 */
export async function beginAgent(context: IExecuteFunctions): Promise<AgentState> {
	const items = context.getInputData();
	const toolNodes = await readToolNodes(context);
	const slots: ConversationSlot[] = [];
	for (const [item] of items.entries()) {
		try {
			slots.push(await beginSlot(context, item, toolNodes));
		} catch (error) {
			const nodeError = toNodeError(context.getNode(), error, item);
			if (!context.continueOnFail()) throw nodeError;
			slots.push(failedSlot(item, failureJson(nodeError, error)));
		}
	}
	return {
		settings: readSettings(context, await n8nService(context)),
		source: sourceOf(context),
		slots,
		open: [],
		retries: 0,
	};
}

async function beginSlot(
	context: IExecuteFunctions,
	item: number,
	{ declarations, nodes }: ToolNodes,
): Promise<ConversationSlot> {
	const service = await n8nService(context);
	const declared = [...readTools(context, item), ...declarations];
	const hasToolNodes = Object.keys(nodes).length > 0;
	return {
		item,
		json: hasToolNodes ? context.getInputData()[item]!.json : {},
		tools: checkTools(declared.map(asJson), 'Tools'),
		toolNodes: nodes,
		request: readRequestFields(context, item),
		conversation: startConversation(readMessages(context, item, service)),
		emitted: false,
	};
}

/** A slot without a conversation, for an item with invalid fields. */
function failedSlot(item: number, failure: IDataObject): ConversationSlot {
	return {
		item,
		json: {},
		tools: [],
		toolNodes: {},
		request: {},
		conversation: undefined,
		failure,
		emitted: false,
	};
}

/** The source of the input items; null where n8n throws because there is none, as in a tool run. */
export function sourceOf(context: IExecuteFunctions): ISourceData | null {
	try {
		return context.getInputSourceData();
	} catch {
		return null;
	}
}
