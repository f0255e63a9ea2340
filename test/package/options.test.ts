import type { INodeProperties, INodePropertyCollection } from 'n8n-workflow';

import { NODE_TYPES } from '../support/engine';

/** What a person can read through without losing the overview. */
const MAX_OPTIONS = 20;
/** Its replies, its tool calls, and those of one reply are limited each by a number of its own. */
const MAX_OF_AGENT = 21;

const nodes = Object.entries(NODE_TYPES).filter(([type]) => !type.startsWith('test.'));

/** The names of the options of a node, of groups the names inside. One that a tool has in another form counts once. */
function optionsOf(properties: readonly INodeProperties[]): readonly string[] {
	const { options = [] } = properties.find(({ name }) => name === 'options')!;
	const names = (options as INodeProperties[]).flatMap((option) =>
		option.type === 'fixedCollection'
			? (option.options as INodePropertyCollection[]).flatMap(({ values }) =>
					values.map(({ displayName }) => displayName),
				)
			: [option.displayName],
	);
	return [...new Set(names)];
}

test.each(nodes)('%s has no more options than a person reads', (type, { description }) => {
	const max = type.endsWith('functionCallingAgent') ? MAX_OF_AGENT : MAX_OPTIONS;
	expect(optionsOf(description.properties).length).toBeLessThanOrEqual(max);
});

test.each(nodes)('the options of %s are in the order of their labels', (_type, node) => {
	const { options = [] } = node.description.properties.find(({ name }) => name === 'options')!;
	const labels = (options as INodeProperties[]).map(({ displayName }) => displayName);
	expect(labels).toStrictEqual(labels.toSorted((a, b) => a.localeCompare(b)));
});
