import type { INode } from 'n8n-workflow';

import { canceledError } from '../../nodes/client/http/failures';
import { mapItems } from '../../nodes/shared/run/mapItems';
import { strictContext } from '../support/strictContext';

test('canceling stops the items that have not begun, also with Continue On Fail', async () => {
	const context = strictContext({
		getInputData: () => [{ json: {} }, { json: {} }, { json: {} }],
		getNode: () => ({ name: 'Tested', type: 'tested' }) as INode,
		getContext: () => ({}),
		getExecutionCancelSignal: () => undefined,
		continueOnFail: () => true,
		isStreaming: () => false,
	});
	const begun: number[] = [];
	const work = (itemIndex: number) => {
		begun.push(itemIndex);
		return Promise.reject(canceledError());
	};
	await expect(mapItems(context, () => ({ concurrency: 1 }), work)).rejects.toThrow('canceled');
	expect(begun).toStrictEqual([0]);
});
