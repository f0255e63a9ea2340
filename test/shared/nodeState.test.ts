import type { IDataObject } from 'n8n-workflow';

import { nodeState } from '../../nodes/shared/run/nodeContext';
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
