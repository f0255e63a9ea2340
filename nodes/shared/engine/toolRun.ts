import type { IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';

import { internalsOf } from './internals';
import { workflowOf } from './workflow';

/**
 * Whether the node runs as a tool of an AI agent: n8n gives such a node a type name that ends in "Tool".
 *
 * n8n 2.41.1, n8n/dist/tool-generation/ai-tools.js
 * Without it: a tool answers as an ordinary node: with all fields, and with an error where a video fails.
 */
export function isToolRun(context: Pick<IExecuteFunctions, 'getNode'>): boolean {
	return context.getNode().type.endsWith('Tool');
}

/**
 * Whether n8n continues the agent of this tool before it runs the tool, as in the legacy order: the model is given an empty text.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: false; in the legacy order the result of the tool is lost.
 */
export function isToolTooLate(
	context: IExecuteFunctions | ISupplyDataFunctions,
): context is IExecuteFunctions {
	// AI Agent up to version 2.2, and n8n's MCP trigger, run the tool within their own run.
	const isOwnRun =
		isToolRun(context) && !context.isToolExecution() && 'getExecuteData' in context;
	// Without an execution n8n's own Agents run it: they wait for it.
	const { executionData } = internalsOf(context).runExecutionData ?? {};
	return isOwnRun && executionData !== undefined && workflowOf(context).isLegacyOrder;
}
