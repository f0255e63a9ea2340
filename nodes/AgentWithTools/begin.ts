import type { IExecuteFunctions, ISourceData } from 'n8n-workflow';

import { startConversation } from '../client/chat/conversation';
import { chatFields, extraFields } from '../client/chat/readFields';
import { checkTools } from '../client/chat/tools';
import type { JsonValue } from '../client/json';
import { readMessages } from '../shared/chat/messages';
import { toNodeError } from '../shared/run/nodeErrors';
import { n8nService } from '../shared/run/host';
import { failureJson } from '../shared/run/mapItems';
import { readModel, readText } from '../shared/run/parameters';
import { readSettings } from './options';
import type { AgentState, ConversationSlot } from './state';
import { readToolNodes, type ToolNodes } from './toolNodes';
import { readTools } from './tools';

/**
 * The state of new conversations, one per input item. All parameters are read here: in later runs of the node the
 * items before it are those that the branches made.
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
			const failure = failureJson(nodeError, error);
			slots.push({
				item,
				json: {},
				tools: [],
				toolNodes: {},
				request: {},
				conversation: undefined,
				failure,
				emitted: false,
			});
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
	const appCode = readText(context, 'appCode', item).trim();
	const model = readModel(context, item);
	const options = context.getNodeParameter('options', item, {});
	const declared = [...readTools(context, item), ...declarations];
	const hasToolNodes = Object.keys(nodes).length > 0;
	return {
		item,
		json: hasToolNodes ? context.getInputData()[item]!.json : {},
		tools: checkTools(declared as unknown as JsonValue, 'Tools'),
		toolNodes: nodes,
		request: {
			...(appCode === '' ? {} : { app_code: appCode }),
			...(model === '' ? {} : { model }),
			...chatFields(options),
			...extraFields(context.getNodeParameter('options.extraBody', item, '{}')),
		},
		conversation: startConversation(readMessages(context, item, service)),
		emitted: false,
	};
}

/** Where the items came from; n8n throws where nothing came before, as in a tool run. */
export function sourceOf(context: IExecuteFunctions): ISourceData | null {
	try {
		return context.getInputSourceData();
	} catch {
		return null;
	}
}
