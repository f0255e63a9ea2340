import type { IDataObject } from 'n8n-workflow';

import { runNode } from './engine';

/** The nodes that take replies, by their names in the table of verdicts. */
export const CHAT_NODES = {
	reply: ['chatCompletion', { prompt: 'Hi' }],
	assistant: ['superAssistant', { appCode: 'a', message: 'Hi', session: 'new' }],
	agent: ['functionCallingAgent', { prompt: 'Hi' }],
	model: ['agentVideoChatModel', {}],
} as const;

export type ChatNodeName = keyof typeof CHAT_NODES;
export const CHAT_NODE_NAMES = Object.keys(CHAT_NODES) as ChatNodeName[];

/** What a person sees of one call: the output item, or the error with all that it says. */
export interface Seen {
	readonly json: IDataObject;
	/** Message, advice and details of the error; empty if there is none. */
	readonly error: string;
	/** The texts below the output. */
	readonly hints: readonly string[];
}

/** Asks once through a node, in n8n's engine; the chat model through a chain. */
export async function askThrough(
	node: ChatNodeName,
	stream: boolean,
	baseUrl: string,
	parameters: IDataObject = {},
	ofCredential: object = {},
): Promise<Seen> {
	const [type, usual] = CHAT_NODES[node];
	const credential = { baseUrl, apiKey: 'k', ...ofCredential };
	const own = { ...usual, streaming: stream ? 'auto' : 'off', output: 'detailed', ...parameters };
	const { error, outputs, hints } = await runNode(type, {
		credential,
		stream,
		parameters: node === 'model' ? parameters : own,
	});
	const { message, description, context } = (error ?? {}) as Partial<Error> & {
		readonly description?: string;
		readonly context?: object;
	};
	return {
		json: outputs.flat()[0]?.json ?? {},
		error: error ? [message, description, JSON.stringify(context)].join('\n') : '',
		hints,
	};
}
