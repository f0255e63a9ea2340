import type { INode } from 'n8n-workflow';

import { node } from '../../test/e2e/support/buildWorkflow';
import { withCredential } from './credentials';

export const OURS = 'n8n-nodes-agent-video';
const LANGCHAIN = '@n8n/n8n-nodes-langchain';

/** A webhook that responds when the last node finishes, streams, or responds through a Respond to Webhook node. */
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

/** Splits `items` of the request body into one n8n item each. */
export function splitItems(): INode {
	return node('Items', 'n8n-nodes-base.splitOut', 1, {
		parameters: { fieldToSplitOut: 'body.items' },
	});
}

/** A node of this package. */
export function ourNode(name: string, type: string, parameters: object): INode {
	return withCredential(node(name, `${OURS}.${type}`, 1, { parameters }), 'agentVideoApi');
}

/** An HTTP Request node that posts a JSON body; `jsonBody` may be an expression. */
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

/** An OpenAI Chat Model node with the server as its base URL. */
export function openAiModel(serverUrl: string, model: string): INode {
	const parameters = {
		model: { __rl: true, mode: 'id', value: model },
		responsesApiEnabled: false,
		options: { baseURL: `${serverUrl}/v1` },
	};
	const subNode = node('OpenAI Model', `${LANGCHAIN}.lmChatOpenAi`, 1.3, { parameters });
	return withCredential(subNode, 'openAiApi');
}

/** One of n8n's LangChain nodes. */
export function langchain(
	name: string,
	type: string,
	version: number,
	parameters: object = {},
): INode {
	return node(name, `${LANGCHAIN}.${type}`, version, { parameters });
}

/** A model chosen by id, as the editor saves it. */
export function modelById(value: string) {
	return { __rl: true, mode: 'id', value };
}
