import type { IDataObject, IExecuteData, IExecuteFunctions, INode } from 'n8n-workflow';

import { nodeState } from '../../nodes/shared/run/nodeContext';
import { isTriedAgain } from '../../nodes/shared/engine/tries';
import { strictContext } from '../support/strictContext';

test('values are stored in the node context, each under its key, until they are cleared', () => {
	const stored: IDataObject = {};
	const context = strictContext({ getContext: () => stored });
	const first = nodeState<{ count: number }>(context, 'first');
	const second = nodeState<number>(context, 'second');
	expect(first.get()).toBeUndefined();

	first.set({ count: 1 }).count += 1;
	second.set(5);
	expect(nodeState(context, 'first').get()).toStrictEqual({ count: 2 });
	expect(stored).toStrictEqual({ first: { count: 2 }, second: 5 });

	first.clear();
	expect(first.get()).toBeUndefined();
	expect(second.get()).toBe(5);
});

test('whether a run is tried again does not depend on how often that is asked', () => {
	const data = {} as IExecuteData;
	// n8n makes a context for each try, and for all of them one entry.
	const beginTry = () =>
		strictContext({
			getExecuteData: () => data,
			getNode: () => ({ retryOnFail: true, maxTries: 3 }) as INode,
			helpers: {} as IExecuteFunctions['helpers'],
		});
	const asked = [1, 2, 3].map(() => {
		const context = beginTry();
		return [isTriedAgain(context), isTriedAgain(Object.create(context) as typeof context)];
	});
	expect(asked).toStrictEqual([
		[true, true],
		[true, true],
		[false, false],
	]);
});
