import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { INodeParameters } from 'n8n-workflow';

import { AgentVideoApi } from '../credentials/AgentVideoApi.credentials';
import { ROOT } from '../lab/paths';
import { loadNode, NODE_NAMES } from './nodePages';
import type { FilledForm, FormOwner } from './savedForms';

/** Folder with one file per released version of the package: what workflows of that version contain. */
export const SAVED_FOLDER = join(ROOT, 'test', 'fixtures', 'saved');

/** The parameters of a node in a workflow of a released version. */
export interface SavedForm {
	readonly saved: INodeParameters;
	/** What the form showed beside them: the defaults of the fields that were not changed. */
	readonly defaults: INodeParameters;
}

/** What workflows of a released version contain of one node, tool or credential. */
export interface SavedOwner {
	readonly name: string;
	readonly typeVersion: number;
	readonly forms: readonly SavedForm[];
}

/** A node that runs with parameters of a released version, and the requests that it sent then. */
export interface SavedRun {
	/** Name of the node type. */
	readonly node: string;
	readonly parameters: INodeParameters;
	readonly requests: readonly { readonly path: string; readonly body?: object }[];
}

/** What workflows of a released version contain. */
export interface SavedVersion {
	readonly owners: readonly SavedOwner[];
	readonly runs: readonly SavedRun[];
}

/** Everything that has a form today: the nodes, the tools that n8n makes of them, and the credential. */
export async function formOwners(): Promise<readonly FormOwner[]> {
	const nodes = await Promise.all(NODE_NAMES.map(loadNode));
	const owners = nodes.flatMap(({ description }) => {
		const { name, version, properties, usableAsTool } = description;
		const owner = { name, typeVersion: latestOf(version), properties };
		return usableAsTool === undefined ? [owner] : [owner, { ...owner, name: `${name}Tool` }];
	});
	const { name, properties } = new AgentVideoApi();
	return [...owners, { name, typeVersion: 1, properties }];
}

const latestOf = (version: number | readonly number[]) => Math.max(...[version].flat());

/** Leaves out of what was shown what was saved, too. */
export function withoutSaved({ saved, shown }: FilledForm): SavedForm {
	const defaults = Object.entries(shown).filter(
		([name, value]) => !isDeepStrictEqual(saved[name], value),
	);
	return { saved, defaults: Object.fromEntries(defaults) };
}

/** The versions that are stored. */
export function savedVersions(): readonly string[] {
	return readdirSync(SAVED_FOLDER).map((file) => basename(file, '.json'));
}

/** What workflows of a released version contain. */
export function readSaved(version: string): SavedVersion {
	return JSON.parse(readFileSync(join(SAVED_FOLDER, `${version}.json`), 'utf8')) as SavedVersion;
}
