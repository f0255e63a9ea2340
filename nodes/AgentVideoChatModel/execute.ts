import type { ISupplyDataFunctions, SupplyData } from 'n8n-workflow';

import { loadAiNodeSdk } from '../shared/chat/aiNodeSdk';
import { readCallLimits } from '../shared/chat/callOptions';
import { readImages } from '../shared/chat/messages';
import { readRequestFields, readResponseFormat } from '../shared/chat/requestOptions';
import { readRetry } from '../shared/form/callOptions';
import { n8nService } from '../shared/run/host';
import { inOneLine, toNodeError } from '../shared/run/nodeErrors';
import { chatModel } from './chatModel';

/**
 * Supplies the chat model that the fields describe to the connected agent or chain.
 *
 * @throws NodeOperationError when a field has an invalid value.
 */
export async function supplyChatModel(
	context: ISupplyDataFunctions,
	itemIndex: number,
): Promise<SupplyData> {
	try {
		const sdk = loadAiNodeSdk();
		const service = await n8nService(context);
		const model = chatModel(context, {
			sdk,
			http: service.http,
			request: {
				...readResponseFormat(context, itemIndex),
				...readRequestFields(context, itemIndex, service),
			},
			...readCallLimits(context, itemIndex),
			retry: readRetry(context, itemIndex),
			imageUrls: readImages(context, itemIndex, service),
		});
		const supplied = sdk.supplyModel(context, model);
		estimateByLength(supplied.response as Adapter);
		return supplied;
	} catch (error) {
		throw inOneLine(toNodeError(context.getNode(), error, itemIndex));
	}
}

/** What n8n's SDK makes of a chat model, for LangChain. */
interface Adapter {
	readonly callbacks?: { estimateTokensFromStringList?: (texts: string[]) => Promise<number> }[];
	bindTools?: (tools: unknown) => Adapter;
}

/**
 * Lets n8n's log estimate tokens by length: its tokenizer takes minutes for 64 kB without a word boundary, and n8n does
 * nothing else meanwhile. The log prefers the numbers of the service.
 */
function estimateByLength(model: Adapter): Adapter {
	for (const callback of model.callbacks ?? [])
		callback.estimateTokensFromStringList = async (texts) =>
			await Promise.resolve(Math.ceil(texts.join('').length / 4));
	const { bindTools } = model;
	if (bindTools) model.bindTools = (tools) => estimateByLength(bindTools.call(model, tools));
	return model;
}
