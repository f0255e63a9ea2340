import type { INode } from 'n8n-workflow';

import { node } from '../../test/e2e/support/buildWorkflow';
import { withCredential } from './credentials';

export const OURS = 'n8n-nodes-agent-video';
const LANGCHAIN = '@n8n/n8n-nodes-langchain';

/** A webhook that answers at the end, with what the nodes stream, or what a node says. */
export function webhook(
	path: string,
	responseMode: 'lastNode' | 'streaming' | 'responseNode',
): INode {
	return node('Webhook', 'n8n-nodes-base.webhook', 2.1, {
		parameters: {
			httpMethod: 'POST',
			path,
			responseMode,
			...(responseMode === 'lastNode' ? { responseData: 'noData' } : {}),
		},
		webhookId: path,
	});
}

/** One item for each of the entries of the webhook's `items`. */
export function splitItems(): INode {
	return node('Items', 'n8n-nodes-base.splitOut', 1, {
		parameters: { fieldToSplitOut: 'body.items' },
	});
}

/** A node of this package. */
export function ours(name: string, type: string, parameters: object): INode {
	return withCredential(node(name, `${OURS}.${type}`, 1, { parameters }), 'agentVideoApi');
}

/** HTTP Request that posts the JSON that the expression gives. */
export function httpRequest(name: string, url: string, jsonBody: string, options = {}): INode {
	const parameters = {
		method: 'POST',
		url,
		authentication: 'genericCredentialType',
		genericAuthType: 'httpHeaderAuth',
		sendBody: true,
		specifyBody: 'json',
		jsonBody,
		options,
	};
	const request = node(name, 'n8n-nodes-base.httpRequest', 4.3, { parameters });
	return withCredential(request, 'httpHeaderAuth');
}

/** OpenAI Chat Model, led to the server by its base URL. */
export function openAiModel(serverUrl: string, model: string): INode {
	const parameters = {
		model: { __rl: true, mode: 'id', value: model },
		responsesApiEnabled: false,
		options: { baseURL: `${serverUrl}/v1` },
	};
	const subNode = node('OpenAI Model', `${LANGCHAIN}.lmChatOpenAi`, 1.3, { parameters });
	return withCredential(subNode, 'openAiApi');
}

/** n8n's own AI node of that kind. */
export function langchain(
	name: string,
	type: string,
	version: number,
	parameters: object = {},
): INode {
	return node(name, `${LANGCHAIN}.${type}`, version, { parameters });
}

/** A model by its code, as the editor saves it. */
export function byId(value: string) {
	return { __rl: true, mode: 'id', value };
}
