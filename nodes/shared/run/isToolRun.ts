import type { IExecuteFunctions } from 'n8n-workflow';

/** Whether the node runs as a tool of an AI agent: n8n gives such a node a type of its own. */
export function isToolRun(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}
