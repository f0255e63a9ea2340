import type { IDataObject } from 'n8n-workflow';

import { reply } from '../faults/answers';
import type { Circumstances, Outcome } from '../faults/operations';
import { runNode } from '../support/engine';

/** A node that downloads files. */
export interface FileOperation {
	readonly title: string;
	/** Requests to the service for another URL of a file, which cost nothing. */
	readonly freePolls?: number;
	/** The body with which the service names the files. */
	answer(links: readonly string[], text?: string): object;
	run(circumstances: Circumstances, options: IDataObject): Promise<Outcome>;
}

const chat = (title: string, node: string, parameters: IDataObject): FileOperation => ({
	title,
	answer: (links, text = links.map((link) => `[film](${link})`).join(' ')) =>
		JSON.parse(reply(text).pieces.join('')) as object,
	run: async (circumstances, options) => {
		const result = await runNode(node, {
			...circumstances,
			parameters: {
				streaming: 'off',
				...parameters,
				options: { downloadMedia: true, ...options },
			},
		});
		return { ...result, items: result.outputs.flat() };
	},
});

/** Every node that downloads files. */
export const FILE_OPERATIONS: readonly FileOperation[] = [
	{
		title: 'Wait for Video',
		freePolls: 1,
		answer: ([video_url]) => ({ task_id: 'task-1', status: 'completed', video_url }),
		run: async (circumstances, options) => {
			const result = await runNode('waitForVideo', {
				...circumstances,
				items: [{ task_id: 'task-1' }],
				parameters: { options },
			});
			return { ...result, items: result.outputs.flat() };
		},
	},
	chat('Chat Completion', 'chatCompletion', { prompt: 'Show me' }),
	chat('Agent with Tools', 'functionCallingAgent', { prompt: 'Show me' }),
	chat('Super Assistant', 'superAssistant', { appCode: 'app', message: 'Show me' }),
];
