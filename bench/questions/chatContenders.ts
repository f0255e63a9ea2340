import { withSubNodes, workflow } from '../../test/e2e/support/buildWorkflow';
import type { Workflow } from '../../lab/n8n/workflow';
import {
	httpRequest,
	langchain,
	openAiModel,
	ourNode,
	modelById,
	splitItems,
	webhook,
} from '../n8n/nodes';
import type { Contender } from '../question';
import { modelName } from '../server/behavior';

/** A workflow that sends many chat requests from its node `Chats`. */
export interface ChatContender extends Contender {
	readonly workflow: (serverUrl: string, path: string, delayMs: number) => Workflow;
}

/** Requests in flight, for all contenders that can limit them. */
export const CONCURRENCY = 50;
/** The node that is measured. */
export const MEASURED_NODE = 'Chats';

const PROMPT = '={{ $json.prompt }}';

const trigger = (path: string) => [webhook(path, 'lastNode'), splitItems()];

function viaHttpRequest(batching: (delayMs: number) => object): ChatContender['workflow'] {
	return (serverUrl, path, delayMs) => {
		const body = JSON.stringify({ model: modelName({ delayMs }) }).slice(0, -1);
		const json = `=${body}, "messages": [{ "role": "user", "content": {{ JSON.stringify($json.prompt) }} }] }`;
		const url = `${serverUrl}/v1/chat/completions`;
		return workflow(path, [
			...trigger(path),
			httpRequest(MEASURED_NODE, url, json, batching(delayMs)),
		]);
	};
}

/** All contenders; this package comes first. */
export const CHAT_CONTENDERS = {
	ours: {
		name: `Chat Completion, concurrency ${CONCURRENCY}`,
		isBounded: true,
		workflow: (_serverUrl, path, delayMs) =>
			workflow(path, [
				...trigger(path),
				ourNode(MEASURED_NODE, 'chatCompletion', {
					prompt: PROMPT,
					model: modelById(modelName({ delayMs })),
					streaming: 'off',
					options: { concurrency: CONCURRENCY },
				}),
			]),
	},
	oursStreamed: {
		name: `Chat Completion, concurrency ${CONCURRENCY}, streamed`,
		workflow: (_serverUrl, path, delayMs) =>
			workflow(path, [
				...trigger(path),
				ourNode(MEASURED_NODE, 'chatCompletion', {
					prompt: PROMPT,
					model: modelById(modelName({ delayMs })),
					options: { concurrency: CONCURRENCY },
				}),
			]),
	},
	httpBatched: {
		name: `HTTP Request, batches of ${CONCURRENCY}`,
		isBounded: true,
		note: `about ${CONCURRENCY} requests are in flight`,
		workflow: viaHttpRequest((delayMs) => ({
			batching: { batch: { batchSize: CONCURRENCY, batchInterval: Math.max(1, delayMs) } },
		})),
	},
	httpUnlimited: {
		name: 'HTTP Request, no batching',
		note: 'sends all requests at once',
		workflow: viaHttpRequest(() => ({})),
	},
	chain: {
		name: `Basic LLM Chain + OpenAI Chat Model, batches of ${CONCURRENCY}`,
		isBounded: true,
		workflow: (serverUrl, path, delayMs) =>
			withSubNodes(
				workflow(path, [
					...trigger(path),
					langchain(MEASURED_NODE, 'chainLlm', 1.9, {
						promptType: 'define',
						text: PROMPT,
						batching: { batchSize: CONCURRENCY, delayBetweenBatches: 0 },
					}),
				]),
				MEASURED_NODE,
				[[openAiModel(serverUrl, modelName({ delayMs })), 'ai_languageModel']],
			),
	},
} as const satisfies Readonly<Record<string, ChatContender>>;

/** The webhook's body for so many items. */
export function prompts(count: number): { readonly items: readonly object[] } {
	return {
		items: Array.from({ length: count }, (_, index) => ({ prompt: `Idea number ${index}?` })),
	};
}
