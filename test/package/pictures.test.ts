/** The pictures of the panels show today's forms: what was in the panel when it was taken is compared with the form. */
import { readFileSync } from 'node:fs';

import { NodeHelpers, type INodeProperties } from 'n8n-workflow';

import { PICTURED_FIELDS, SUBJECTS, type PicturedFields } from '../../lab/browser/pictureSubjects';
import { fieldNames } from '../../scripts/fieldTables';
import { loadNode } from '../../scripts/nodePages';

const PICTURED = JSON.parse(readFileSync(PICTURED_FIELDS, 'utf8')) as PicturedFields;

/** The fields that n8n shows for the node of a picture, and the names of those inside their entries. */
async function shownFields({ name, node, workflow }: (typeof SUBJECTS)[number]) {
	const { description } = await loadNode(name);
	const drawn = workflow.nodes.find((each) => each.name === node)!;
	const { properties } = description;
	const values = NodeHelpers.getNodeParameters(
		properties,
		drawn.parameters,
		true,
		true,
		drawn,
		description,
	)!;
	const isShown = (property: INodeProperties) =>
		!['notice', 'hidden'].includes(property.type) &&
		NodeHelpers.displayParameter(values, property, drawn, description);
	const shown = properties.filter(isShown);
	const lists = shown.filter(({ type }) => type === 'fixedCollection');
	return { shown: shown.map(({ displayName }) => displayName), inside: fieldNames(lists) };
}

test.each(SUBJECTS)(
	'the picture of $name shows the fields of its form (npm run pictures -- $name)',
	async (subject) => {
		const { shown, inside } = await shownFields(subject);
		const pictured = PICTURED[subject.name] ?? [];
		const gone = pictured.filter((label) => ![...shown, ...inside].includes(label));
		const missing = shown.filter((label) => !pictured.includes(label));
		expect({ gone, missing }).toStrictEqual({ gone: [], missing: [] });
	},
);

test('no picture of a panel has left its fields behind', () => {
	const names = SUBJECTS.map(({ name }) => name);
	expect(Object.keys(PICTURED).filter((name) => !names.includes(name))).toStrictEqual([]);
});
