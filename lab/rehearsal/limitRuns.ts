/**
 * Preloaded into the n8n of a rehearsal: stops an execution in which a node runs again and again. A loop of nodes that wait
 * for nothing keeps n8n from answering anybody, so that it cannot be stopped from outside.
 */
import Module from 'node:module';

import type { IExecuteData, IRunExecutionData } from 'n8n-workflow';

/** More runs than any loop needs that ends. */
const MAX_RUNS = 300;

type Load = (request: string, ...more: readonly unknown[]) => unknown;
type RunNode = (
	workflow: object,
	executionData: IExecuteData,
	runExecutionData: IRunExecutionData,
	runIndex: number,
	...more: readonly unknown[]
) => Promise<unknown>;

const modules = Module as unknown as { _load: Load };
const load = modules._load;

modules._load = function (this: unknown, request, ...more) {
	const loaded = load.call(this, request, ...more);
	// n8n-core 2.41.1, execution-engine/index.js. With another n8n, loops are not stopped.
	if (request === './workflow-execute') {
		const { WorkflowExecute } = loaded as {
			WorkflowExecute: { prototype: { runNode: RunNode } };
		};
		limit(WorkflowExecute.prototype);
		modules._load = load;
	}
	return loaded;
};

function limit(engine: { runNode: RunNode }): void {
	const { runNode } = engine;
	engine.runNode = async function (workflow, executionData, runExecutionData, runIndex, ...more) {
		if (runIndex >= MAX_RUNS) {
			const { node } = executionData;
			// A node that goes on after errors would go round again.
			Object.assign(node, { onError: 'stopWorkflow', continueOnFail: false });
			throw new Error(`The rehearsal has stopped this loop: it ran ${MAX_RUNS} times`);
		}
		return runNode.call(this, workflow, executionData, runExecutionData, runIndex, ...more);
	};
}
