/**
 * The workflow that the README offers, and those of released versions: their parameters are shown as before, and their nodes send the same requests. A new
 * name or default of a field needs a new node version, as docs/versions.md says.
 */
import type { IConnections, INode } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { EXAMPLE_CREDENTIAL } from '../../lab/n8n/readExample';
import {
	formOwners,
	readSaved,
	savedVersions,
	type SavedOwner,
} from '../../scripts/savedWorkflows';
import { shownParameters, unsupportedValues, type FormOwner } from '../../scripts/savedForms';
import { allItems, NODE_TYPES, runNode, runWorkflow, type Wires } from '../support/engine';
import { read } from './pages';

const versions = savedVersions();

let owners: readonly FormOwner[];
let emulator: Emulator;

beforeAll(async () => {
	owners = await formOwners();
	emulator = await startEmulator();
});

afterAll(async () => {
	await emulator.stop();
});

const credentialOf = ({ url }: Emulator) => ({ baseUrl: url, apiKey: 'demo-key' });

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
	const quick = await startEmulator({ videoSeconds: 1 });
	const credential = credentialOf(quick);
	const running = runWorkflow(drawn, wires, first, { credential });
	const result = await running.finally(() => quick.stop());
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
		emulator.journal.clear();
		await runNode(node, { parameters, credential: credentialOf(emulator) });
		const sent = emulator.journal.entries.map(({ path, body }) => ({ path, body }));
		expect(sent).toMatchObject(requests);
	});
});
