import type { INode } from 'n8n-workflow';

import type { Credential } from '../../lab/n8n/N8nClient';

/** The key of an account of the emulator; the measuring server takes any. */
const KEY = 'demo-key';

/** The credentials of all contenders, for the same server and key; each is named after its type. */
export function credentialsFor(url: string): readonly Credential[] {
	return [
		{ name: 'agentVideoApi', type: 'agentVideoApi', data: { baseUrl: url, apiKey: KEY } },
		{ name: 'openAiApi', type: 'openAiApi', data: { apiKey: KEY, url: `${url}/v1` } },
		{
			name: 'httpHeaderAuth',
			type: 'httpHeaderAuth',
			data: { name: 'Authorization', value: `Bearer ${KEY}` },
		},
	];
}

/** The node with the credential of this type. */
export function withCredential(node: INode, type: string): INode {
	return { ...node, credentials: { [type]: { id: '', name: type } } };
}
