import type { IExecuteFunctions, ISupplyDataFunctions } from 'n8n-workflow';

import { InputError } from '../../client/errors';
import { internalsOf } from './internals';
import { stopOnError } from './nodeSettings';
import { workflowOf } from './workflow';

/** Whether the node runs as a tool of an AI agent: n8n gives such a node a type name that ends in "Tool". */
export function isToolRun(context: Pick<IExecuteFunctions, 'getNode'>): boolean {
	return context.getNode().type.endsWith('Tool');
}

/**
 * Checks that an agent gets the result of this tool. In the legacy order n8n continues the agent before it runs the tool, so
 * that the model is given an empty text. n8n passes over the errors of tools: this one is to stop the execution.
 *
 * @throws InputError where the result would be lost.
 */
export function checkToolOrder(context: IExecuteFunctions | ISupplyDataFunctions): void {
	// An older agent, and n8n's MCP trigger, run the tool within their own run.
	if (!isToolRun(context) || context.isToolExecution() || !('getExecuteData' in context)) return;
	// Without an execution n8n's own Agents run it: they wait for it.
	const { executionData } = internalsOf(context).runExecutionData ?? {};
	if (executionData === undefined || !workflowOf(context).isLegacyOrder) return;
	stopOnError(context);
	throw new InputError(
		'Execution Order',
		'is v0 (legacy), in which n8n gives the agent no result of a tool',
		'Nothing was sent. Open the Settings in the menu of the workflow, and set Execution Order to v1 (recommended)',
	);
}
