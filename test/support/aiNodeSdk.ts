import type { AiNodeSdk } from '../../nodes/shared/chat/aiNodeSdk';

type Sdk = Pick<AiNodeSdk, 'supplyModel'>;

/**
 * Stands in for n8n's SDK for AI nodes, which only a whole n8n has: hands the model over as it is, where n8n wraps it
 * for LangChain.
 */
export const supplyModel: Sdk['supplyModel'] = (_context, model) => ({ response: model });
