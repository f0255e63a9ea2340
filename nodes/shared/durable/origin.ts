import { hash } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { executionOf } from '../engine/execution';

/**
 * What identifies the execution of a node across n8n's *Retry*. n8n keeps one random token of an execution in all its retries; being a secret, it is
 * hashed. In an n8n without it a retry is recognized by the execution that it retries.
 */
export async function originOf(context: IExecuteFunctions) {
	const { current, isRetry, isRetried, chain } = executionOf(context);
	const root = (await chain()).at(-1)!;
	const secretOf = ({ token, retriedId, id }: typeof current) => token ?? retriedId ?? id;
	const isAlone = isRetried && root !== current;
	return {
		/** The same for an execution and all its retries, also if it crashed and left no data; differs by workflow and node. */
		origin: hash(
			'sha256',
			[secretOf(root), context.getWorkflow().id, context.getNode().id].join(' '),
		),
		/** ID of the execution that a person sees: of a sub-workflow the execution that called it, unless it is retried itself. */
		root: isAlone ? current.id : root.id,
		/** Identifies this execution and its own retries: all calls of a sub-workflow by one execution have the same origin. */
		own: hash('sha256', secretOf(current)).slice(0, 16),
		/** Whether only the calls of this execution's own tries are repeated: a sub-workflow's execution is retried by itself. */
		isAlone,
		/** Whether the execution is a retry. */
		isRetry,
		/**
		 * Whether the position of a call tells which one it is. In a sub-workflow all calls have the same: a retry that kept runs
		 * of the calling workflow does not repeat all of them.
		 */
		hasPosition: root === current || isAlone || !root.keepsCalls,
	};
}
