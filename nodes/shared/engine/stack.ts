import { internalsOf } from './internals';

/**
 * The node runs that are due, in their order: what is put there runs.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js
 * Without it: undefined, see `canPlanRuns`.
 */
export function stackOf(context: object) {
	return internalsOf(context).runExecutionData?.executionData?.nodeExecutionStack;
}

/**
 * Whether the stack is the one that n8n works off: what is put there runs, and a suspended execution goes on. In n8n's engine
 * 2.0 each step has a stack that nothing reads. The engine that reads it does not start without hooks, which a step lacks.
 *
 * n8n 2.41.1, n8n-core/dist/execution-engine/workflow-execute.js; engine 2.0: @n8n/node-engine-compatibility/dist/v1-adapters.js
 * Without it: no run is planned and nothing suspended; a node that needs it says so before it pays.
 */
export function canPlanRuns(context: object): boolean {
	const { hooks } = internalsOf(context).additionalData ?? {};
	return stackOf(context) !== undefined && hooks !== undefined;
}
