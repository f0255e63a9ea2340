/**
 * Workflows of released versions: their parameters are shown as before, and their nodes send the same requests. A new
 * name or default of a field needs a new node version, as docs/versions.md says.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { startEmulator, type Emulator } from '../../emulator/startEmulator';
import { ROOT } from '../../lab/paths';
import {
	formOwners,
	readSaved,
	savedVersions,
	type SavedForm,
	type SavedOwner,
} from '../../scripts/savedWorkflows';
import { shownParameters, unsupportedValues, type FormOwner } from '../../scripts/savedForms';
import { runNode } from '../support/engine';

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

/** What has a form today, in the version that a workflow has saved. */
function ownerOf({ name, typeVersion }: SavedOwner): FormOwner {
	const owner = owners.find((each) => each.name === name);
	if (owner === undefined) throw new Error(`${name} no longer exists`);
	return { ...owner, typeVersion };
}

/** Expects that the form shows what it showed; new fields may appear beside it. */
function expectShown(owner: FormOwner, { saved, defaults }: SavedForm): void {
	expect(shownParameters(owner, saved)).toMatchObject({ ...saved, ...defaults });
}

test('the version in package.json is stored, with its first release', () => {
	const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
		version: string;
	};
	const [major, minor] = version.split('.');
	expect(versions).toContain(`${major}.${minor}.0`);
});

describe.each(versions)('workflows of %s', (version) => {
	const { owners: stored, runs } = readSaved(version);

	test.each(stored)('$name shows what it showed', (owner) => {
		for (const form of owner.forms) expectShown(ownerOf(owner), form);
	});

	test.each(stored)('the lists of $name offer what was chosen', (owner) => {
		const wrong = owner.forms.flatMap(({ saved }) => unsupportedValues(ownerOf(owner), saved));
		expect(wrong).toStrictEqual([]);
	});

	test.each(runs)('$node sends what it sent', async ({ node, parameters, requests }) => {
		emulator.journal.clear();
		await runNode(node, {
			parameters,
			credential: { baseUrl: emulator.url, apiKey: 'demo-key' },
		});
		const sent = emulator.journal.entries.map(({ path, body }) => ({ path, body }));
		expect(sent).toMatchObject(requests);
	});
});

describe('what a version may not change', () => {
	const property: INodeProperties = {
		displayName: 'Size',
		name: 'size',
		type: 'options',
		default: 'small',
		options: ['small', 'large'].map((value) => ({ name: value, value })),
	};
	const saved: INodeParameters = { size: 'large' };
	const owner = (change: Partial<INodeProperties>): FormOwner => ({
		name: 'tested',
		typeVersion: 1,
		properties: [{ ...property, ...change }],
	});

	test.each([
		['its name', { name: 'dimensions' }, saved],
		['its default', { default: 'large' }, {}],
		['the condition that shows it', { displayOptions: { show: { kind: ['photo'] } } }, saved],
	])('a field: %s', (_, change, parameters: INodeParameters) => {
		const form = {
			saved: parameters,
			defaults: shownParameters(owner({}), parameters),
		};
		expectShown(owner({}), form);
		expect(() => {
			expectShown(owner(change), form);
		}).toThrow(/small|large/);
	});

	test('a list: its values', () => {
		expect(unsupportedValues(owner({}), saved)).toStrictEqual([]);
		const shorter = owner({ options: [{ name: 'small', value: 'small' }] });
		expect(unsupportedValues(shorter, saved)).toStrictEqual(['size: "large"']);
	});
});
