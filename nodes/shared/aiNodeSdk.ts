import type { JsonObject } from '../client/json';

/** The part of n8n's SDK for AI nodes that this package uses. */
interface AiNodeSdk {
	getParametersJsonSchema(tool: { readonly inputSchema: unknown }): JsonObject;
}

/** n8n's SDK for AI nodes, or nothing where this n8n has none. */
export function loadAiNodeSdk(): AiNodeSdk | undefined {
	try {
		return require('@n8n/ai-node-sdk') as AiNodeSdk;
	} catch {
		return undefined;
	}
}
