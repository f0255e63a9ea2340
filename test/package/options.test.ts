import type { INodeProperties } from 'n8n-workflow';

import { NODE_TYPES } from '../support/engine';

const nodes = Object.entries(NODE_TYPES).filter(([type]) => !type.startsWith('test.'));

test.each(nodes)('the options of %s are in the order of their labels', (_type, node) => {
	const { options = [] } = node.description.properties.find(({ name }) => name === 'options')!;
	const labels = (options as INodeProperties[]).map(({ displayName }) => displayName);
	expect(labels).toStrictEqual(labels.toSorted((a, b) => a.localeCompare(b)));
});
