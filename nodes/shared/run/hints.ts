import type { IExecuteFunctions } from 'n8n-workflow';

import { nodeState } from './nodeContext';

/** Shows a message below the output. */
export function hint(
	context: Pick<IExecuteFunctions, 'addExecutionHints'>,
	message: string,
	type: 'info' | 'warning' = 'warning',
): void {
	context.addExecutionHints({ message, type, location: 'outputPane' });
}

/** Says below the output and in n8n's log what did not work though the node goes on; once per execution and node. */
export function mentionOnce(context: IExecuteFunctions, message: string): void {
	const said = nodeState<boolean>(context, 'mentioned');
	if (said.get() === true) return;
	said.set(true);
	context.logger.warn(message, { node: context.getNode().name });
	hint(context, message);
}
