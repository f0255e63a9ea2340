import type { IExecuteFunctions } from 'n8n-workflow';

/**
 * Keeps n8n from adding an empty item to the first output of this run, as its setting *Always Output Data* does: the run
 * is one of many, and the items of another one are the output.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: with that setting an empty item goes on.
 */
export function ignoreAlwaysOutputData(context: IExecuteFunctions): void {
	const data = context.getExecuteData();
	data.node = { ...data.node, alwaysOutputData: false };
}

/**
 * Makes an error of this run end the execution, whatever *On Error* says.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: with *On Error: Continue* the error is an item.
 */
export function stopOnError(context: IExecuteFunctions): void {
	const data = context.getExecuteData();
	data.node = { ...data.node, onError: 'stopWorkflow' };
	context.continueOnFail = () => false;
}
