import { chatFields, extraFields } from '../../client/chat/readFields';
import type { ChatRequest } from '../../client/chat/types';
import type { NodeContext } from '../run/nodeContext';
import { readModel, readText } from '../run/parameters';

/**
 * The fields of a chat request that the form of an item gives, without its messages: application, model, the options of
 * CHAT_FIELDS, and extra body fields.
 *
 * @throws InputError that names the field with a value the service would reject.
 */
export function readRequestFields(
	context: NodeContext,
	itemIndex: number,
): Omit<ChatRequest, 'messages'> {
	const appCode = readText(context, 'appCode', itemIndex).trim();
	const model = readModel(context, itemIndex);
	const options: object = context.getNodeParameter('options', itemIndex, {});
	return {
		...(appCode === '' ? {} : { app_code: appCode }),
		...(model === '' ? {} : { model }),
		...chatFields({ ...options }),
		...extraFields(context.getNodeParameter('options.extraBody', itemIndex, '{}')),
	};
}
