import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { n8nClock } from '../../nodes/shared/engine/context';
import { nodeState } from '../../nodes/shared/run/nodeContext';
import type { Run } from '../../nodes/shared/run/run';

/** An object with only the given members: access to any other one throws. */
function strict<T extends object>(members: Partial<T>): T {
	return new Proxy(members as T, {
		get: (target, name) => {
			if (name === 'runExecutionData' || name === 'node' || name in target)
				return Reflect.get(target, name) as unknown;
			throw new Error(`Unexpected use of ${String(name)}`);
		},
	});
}

/** An n8n context with only the given members, and without an execution. */
export const strictContext = (members: Partial<IExecuteFunctions>) =>
	strict<IExecuteFunctions>(members);

/** A run of a node with only the given members. */
export const strictRun = (members: Partial<Run>) => strict<Run>(members);

/** What a sub-node uses of its run, in no chat. Its state is kept in `values`. */
export function subNodeRun(values: Record<string, unknown>, service: object): Run {
	const context = strictContext({
		getContext: () => values,
		getExecutionCancelSignal: () => undefined,
	});
	return strictRun({
		node: { name: 'Model' } as INode,
		clock: n8nClock(context),
		state: (key) => nodeState(context, key),
		reader: 'owner',
		service: () => service as ReturnType<Run['service']>,
		isAwaited: false,
		isDrawn: false,
		isStreamed: false,
		withoutSecrets: (value) => value,
		keys: [],
	});
}
