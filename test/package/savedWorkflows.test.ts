/**
 * The workflow that the README offers, and those of released versions: their parameters are shown as before, and their nodes send the same requests. A new
 * name or default of a field needs a new node version, as docs/versions.md says.
 */
import type { IConnections, INode } from 'n8n-workflow';

import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import {
	formOwners,
	readSaved,
	savedVersions,
	type SavedOwner,
} from '../../scripts/savedWorkflows';
import { shownParameters, unsupportedValues, type FormOwner } from '../../scripts/savedForms';
import { serviceFor } from '../emulator/support/service';
import { allItems, NODE_TYPES, runNode, runWorkflow, type Wires } from '../support/engine';
import { read } from './pages';

const versions = savedVersions();
const service = serviceFor('all', { clock: 'real', videoSeconds: 1 });
const credential = () => ({ baseUrl: service.url, apiKey: 'demo-key' });

let owners: readonly FormOwner[];
beforeAll(async () => {
	owners = await formOwners();
});

test("the README's workflow to paste makes a video", async () => {
	const [, json] = /```json\n(.*?)```/s.exec(read('README.md'))!;
	const { nodes, connections } = JSON.parse(json!) as {
		nodes: INode[];
		connections: IConnections;
	};
	const wires: Wires = Object.fromEntries(
		Object.entries(connections).map(([name, { main }]) => [
			name,
			main!.map((targets) => (targets ?? []).map(({ node }) => node)),
		]),
	);
	const ours = nodes.filter(({ type }) => type in NODE_TYPES);
	const credentials = { agentVideoApi: { id: '1', name: EXAMPLE_CREDENTIAL } };
	const drawn = ours.map((node) => ({ ...node, id: node.name, credentials }));
	const first = wires['Start']![0]![0]!;
	const result = await runWorkflow(drawn, wires, first, { credential: credential() });
	expect(result.error).toBeUndefined();
	const [videos = []] = allItems(result, ours.at(-1)!.name);
	const types = videos.map(({ binary = {} }) =>
		Object.values(binary).map(({ mimeType }) => mimeType),
	);
	expect(types).toStrictEqual([['video/mp4']]);
});

/** What has a form today, in the version that a workflow has saved. */
function ownerOf({ name, typeVersion }: SavedOwner): FormOwner {
	const owner = owners.find((each) => each.name === name);
	if (owner === undefined) throw new Error(`${name} no longer exists`);
	return { ...owner, typeVersion };
}

test('the version in package.json is stored, with its first release', () => {
	const { version } = JSON.parse(read('package.json')) as {
		version: string;
	};
	const [major, minor] = version.split('.');
	expect(versions).toContain(`${major}.${minor}.0`);
});

describe.each(versions)('workflows of %s', (version) => {
	const { owners: stored, runs } = readSaved(version);

	test.each(stored)('$name shows what it showed', (owner) => {
		// New fields may appear beside those that it had.
		for (const { saved, defaults } of owner.forms)
			expect(shownParameters(ownerOf(owner), saved)).toMatchObject({ ...saved, ...defaults });
	});

	test.each(stored)('the lists of $name offer what was chosen', (owner) => {
		const wrong = owner.forms.flatMap(({ saved }) => unsupportedValues(ownerOf(owner), saved));
		expect(wrong).toStrictEqual([]);
	});

	test.each(runs)('$node sends what it sent', async ({ node, parameters, requests }) => {
		service.journal.clear();
		await runNode(node, { parameters, credential: credential() });
		const sent = service.journal.entries.map(({ path, body }) => ({ path, body }));
		expect(sent).toMatchObject(requests);
	});
});
