import type { ISupplyDataFunctions, SupplyData } from 'n8n-workflow';

import { InputError } from '../client/errors';
import { loadAiNodeSdk } from '../shared/chat/aiNodeSdk';
import { readIdleTimeoutMs } from '../shared/chat/callOptions';
import { readImages } from '../shared/chat/messages';
import { readRequestFields } from '../shared/chat/requestFields';
import { readRetry } from '../shared/form/retryOptions';
import { n8nService } from '../shared/run/host';
import { inOneLine, toNodeError } from '../shared/run/nodeErrors';
import { chatModel } from './chatModel';

/**
 * Supplies the chat model that the fields describe to the connected agent or chain.
 *
 * @throws NodeOperationError when this n8n has no SDK for AI nodes, or a field has an invalid value.
 */
export async function supplyChatModel(
	context: ISupplyDataFunctions,
	itemIndex: number,
): Promise<SupplyData> {
	try {
		const sdk = loadAiNodeSdk();
		if (sdk === undefined) throw noSdk();

		const service = await n8nService(context);
		const model = chatModel(context, {
			sdk,
			http: service.http,
			request: readRequestFields(context, itemIndex),
			idleTimeoutMs: readIdleTimeoutMs(context, itemIndex),
			retry: readRetry(context, itemIndex),
			imageUrls: readImages(context, itemIndex, service),
		});
		return sdk.supplyModel(context, model);
	} catch (error) {
		throw inOneLine(toNodeError(context.getNode(), error, itemIndex));
	}
}

function noSdk(): InputError {
	return new InputError(
		'This n8n',
		'does not support chat models of community packages',
		'Update n8n to 2.41 or later, or use the Chat Completion node',
	);
}
