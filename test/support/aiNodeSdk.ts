import type { AiNodeSdk } from '../../nodes/shared/chat/aiNodeSdk';
import type { JsonObject } from '../../nodes/client/json';

/**
 * A stub of n8n's SDK for AI nodes, which only a complete n8n has: it returns the methods of the model, where n8n wraps them for
 * LangChain.
 */
export const supplyModel: AiNodeSdk['supplyModel'] = (_context, model) => ({
	response: {
		...model,
		chatModel: model,
		callbacks: [],
		// The package changes these methods, which nothing here calls.
		bindTools: () => undefined,
		_streamResponseChunks: () => undefined,
	},
});

/** Tool nodes of these tests declare a JSON Schema. */
export const getParametersJsonSchema: AiNodeSdk['getParametersJsonSchema'] = ({ inputSchema }) =>
	inputSchema as JsonObject;
