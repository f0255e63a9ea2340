import type { INode } from 'n8n-workflow';

import { canceledError } from '../../nodes/client/http/failures';
import { mapItems } from '../../nodes/shared/run/mapItems';
import { strictRun } from '../support/strictContext';

test('canceling stops the items that have not begun, also with Continue On Fail', async () => {
	const run = strictRun({
		items: () => [{ json: {} }, { json: {} }, { json: {} }],
		node: { name: 'Tested', type: 'tested' } as INode,
		withoutSecrets: (value) => value,
		continuesOnFail: () => true,
		isTool: false,
		isStreamed: false,
	});
	const begun: number[] = [];
	const work = (itemIndex: number) => {
		begun.push(itemIndex);
		return Promise.reject(canceledError());
	};
	await expect(mapItems(run, () => ({ concurrency: 1 }), work)).rejects.toThrow('canceled');
	expect(begun).toStrictEqual([0]);
});
