import { withSubNodes, workflow } from '../../test/e2e/support/buildWorkflow';
import type { Workflow } from '../../lab/n8n/workflow';
import { httpRequest, langchain, openAiModel, ours, byId, splitItems, webhook } from '../lab/nodes';
import { modelName } from '../server/behaviour';

/** A way to send many chats: the workflow's node `Chats` does it. */
export interface ChatContender {
	readonly name: string;
	readonly workflow: (serverUrl: string, path: string, delayMs: number) => Workflow;
	/** Why it is no equal of the others, if so. */
	readonly note?: string;
}

/** Requests under way at once, for everybody who can hold to it. */
export const AT_ONCE = 50;
/** The node that is measured. */
export const MEASURED = 'Chats';

const PROMPT = '={{ $json.prompt }}';

const begin = (path: string) => [webhook(path, 'lastNode'), splitItems()];

function viaHttpRequest(batching: (delayMs: number) => object): ChatContender['workflow'] {
	return (serverUrl, path, delayMs) => {
		const body = JSON.stringify({ model: modelName({ delayMs }) }).slice(0, -1);
		const json = `=${body}, "messages": [{ "role": "user", "content": {{ JSON.stringify($json.prompt) }} }] }`;
		const url = `${serverUrl}/v1/chat/completions`;
		return workflow(path, [
			...begin(path),
			httpRequest(MEASURED, url, json, batching(delayMs)),
		]);
	};
}

/** Everybody who is measured; ours comes first. */
export const CHAT_CONTENDERS = {
	ours: {
		name: 'Chat Completion, 50 at once',
		workflow: (_serverUrl, path, delayMs) =>
			workflow(path, [
				...begin(path),
				ours(MEASURED, 'chatCompletion', {
					prompt: PROMPT,
					model: byId(modelName({ delayMs })),
					streaming: 'off',
					options: { concurrency: AT_ONCE },
				}),
			]),
	},
	oursStreamed: {
		name: 'Chat Completion, 50 at once, replies streamed',
		workflow: (_serverUrl, path, delayMs) =>
			workflow(path, [
				...begin(path),
				ours(MEASURED, 'chatCompletion', {
					prompt: PROMPT,
					model: byId(modelName({ delayMs })),
					options: { concurrency: AT_ONCE },
				}),
			]),
	},
	httpBatched: {
		name: 'HTTP Request, batches of 50',
		note: 'a batch leaves when the latency is over (1 ms at least), so about 50 are under way',
		workflow: viaHttpRequest((delayMs) => ({
			batching: { batch: { batchSize: AT_ONCE, batchInterval: Math.max(1, delayMs) } },
		})),
	},
	httpUnlimited: {
		name: 'HTTP Request, all at once',
		note: 'sends everything at once, which a service with a call limit refuses',
		workflow: viaHttpRequest(() => ({})),
	},
	chain: {
		name: 'Basic LLM Chain + OpenAI Chat Model, batches of 50',
		workflow: (serverUrl, path, delayMs) =>
			withSubNodes(
				workflow(path, [
					...begin(path),
					langchain(MEASURED, 'chainLlm', 1.9, {
						promptType: 'define',
						text: PROMPT,
						batching: { batchSize: AT_ONCE, delayBetweenBatches: 0 },
					}),
				]),
				MEASURED,
				[[openAiModel(serverUrl, modelName({ delayMs })), 'ai_languageModel']],
			),
	},
} as const satisfies Readonly<Record<string, ChatContender>>;

/** Items for a contender. */
export function prompts(count: number): { readonly items: readonly object[] } {
	return {
		items: Array.from({ length: count }, (_, index) => ({ prompt: `Idea number ${index}?` })),
	};
}
