import type { ISupplyDataFunctions, SupplyData } from 'n8n-workflow';

import { chatFields, extraFields } from '../client/chat/readFields';
import { InputError } from '../client/errors';
import { loadAiNodeSdk } from '../shared/chat/aiNodeSdk';
import { readTimeoutSeconds } from '../shared/chat/callOptions';
import { readImages } from '../shared/chat/messages';
import { inOneLine, toNodeError } from '../shared/run/nodeErrors';
import { n8nService } from '../shared/run/host';
import { readModel, readText } from '../shared/run/parameters';
import { readRetry } from '../shared/form/retryOptions';
import { chatModel } from './chatModel';

/**
 * The chat model that the fields describe, for the agent or chain that the node is connected to.
 *
 * @throws NodeOperationError when this n8n has no SDK for AI nodes, or a field is wrong.
 */
export async function supplyChatModel(
	context: ISupplyDataFunctions,
	itemIndex: number,
): Promise<SupplyData> {
	try {
		const sdk = loadAiNodeSdk();
		if (sdk === undefined) throw noSdk();

		const service = await n8nService(context);
		const appCode = readText(context, 'appCode', itemIndex).trim();
		const model = readModel(context, itemIndex);
		const request = {
			...(appCode === '' ? {} : { app_code: appCode }),
			...(model === '' ? {} : { model }),
			...chatFields(
				context.getNodeParameter('options', itemIndex, {}) as object as Record<
					string,
					unknown
				>,
			),
			...extraFields(context.getNodeParameter('options.extraBody', itemIndex, '{}')),
		};
		const idleTimeoutMs = readTimeoutSeconds(context, itemIndex) * 1000;
		const retry = readRetry(context, itemIndex);
		return sdk.supplyModel(
			context,
			chatModel(context, {
				sdk,
				http: service.http,
				request,
				imageUrls: readImages(context, itemIndex, service),
				idleTimeoutMs,
				retry,
			}),
		);
	} catch (error) {
		throw inOneLine(toNodeError(context.getNode(), error, itemIndex));
	}
}

function noSdk(): InputError {
	return new InputError(
		'This n8n',
		'has no support for chat models of community packages',
		'Update n8n to 2.41 or later, or use the Chat Completion node',
	);
}
