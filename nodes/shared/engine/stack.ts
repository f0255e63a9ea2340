import { internalsOf } from './internals';

/** The node runs that are due, in their order; undefined where n8n keeps them elsewhere. What is put there runs. */
export function stackOf(context: object) {
	return internalsOf(context).runExecutionData?.executionData?.nodeExecutionStack;
}

/**
 * Whether the stack is the one that n8n's engine works off: what is put there runs, and a suspended execution goes on. Ask
 * this before planning a run or suspending the execution. In n8n's engine 2.0 each step has a stack of its own, which
 * nothing reads. The engine that reads it does not start without hooks, which a step of engine 2.0 does not have.
 */
export function canPlanRuns(context: object): boolean {
	return (
		stackOf(context) !== undefined && internalsOf(context).additionalData?.hooks !== undefined
	);
}
