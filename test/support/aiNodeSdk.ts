import type { AiNodeSdk } from '../../nodes/shared/chat/aiNodeSdk';

type Sdk = Pick<AiNodeSdk, 'supplyModel'>;

/**
 * A stub of n8n's SDK for AI nodes, which only a complete n8n has: it returns the model unchanged, where n8n wraps it for
 * LangChain.
 */
export const supplyModel: Sdk['supplyModel'] = (_context, model) => ({ response: model });
