import type { Answerer } from '../../client/chat/sendChat';
import { InputError } from '../../client/errors';
import type { ChatRequest } from '../../client/chat/types';
import { readChoice } from '../../client/values';
import { chatRetryGroup } from '../form/retryOptions';
import type { Service } from '../run/host';
import type { NodeContext } from '../run/nodeContext';
import { readModel, readText } from '../run/parameters';
import { readChatFields } from './requestOptions';

/**
 * The fields of a chat request that the form of an item gives, without its messages: application, model and options.
 *
 * @throws InputError that names the field with a value the service would reject.
 */
export function readRequestFields(
	context: NodeContext,
	itemIndex: number,
	service: Service,
): Omit<ChatRequest, 'messages'> {
	const isApp = isAnsweredByApp(context, itemIndex);
	const model = readModel(context, itemIndex, isApp ? 'options.appModel' : 'model');
	return {
		...(isApp ? appField(readText(context, 'appCode', itemIndex).trim(), service) : {}),
		...(model === '' ? {} : { model }),
		...readChatFields(context, itemIndex),
	};
}

/**
 * What the item is sent to in turn when Model or App Code cannot take it: more codes of the same kind.
 *
 * @throws InputError as `appField`.
 */
export function readFallbacks(
	context: NodeContext,
	itemIndex: number,
	service: Service,
): readonly Answerer[] {
	const isApp = isAnsweredByApp(context, itemIndex);
	return chatRetryGroup.options.fallbacks
		.read(context, itemIndex)
		.map((code) => (isApp ? appField(code, service) : { model: code }));
}

function isAnsweredByApp(context: NodeContext, itemIndex: number): boolean {
	const chosen: unknown = context.getNodeParameter('answeredBy', itemIndex, 'model');
	return readChoice(chosen, 'Answered By', ['model', 'app']) === 'app';
}

/**
 * The app code as a field of the request; none where the key ends with one. The specification does not say which of two
 * app codes the service takes, so one beside that of the key is an error.
 *
 * @throws InputError when there is none, or both.
 */
export function appField(appCode: string, { hasApp }: Service): Pick<ChatRequest, 'app_code'> {
	if (appCode === '' && !hasApp)
		throw new InputError('App Code', 'is empty', 'Enter it, or use a key that ends with it');
	if (appCode !== '' && hasApp) {
		throw new InputError(
			'App Code',
			'is entered, but the API Key of the credential ends with an app code as well',
			'Leave App Code empty, or use a credential whose key has none',
		);
	}
	return appCode === '' ? {} : { app_code: appCode };
}
