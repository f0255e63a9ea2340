import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { INodeType } from 'n8n-workflow';

import { ROOT } from '../lab/paths';

interface Manifest {
	readonly name: string;
	readonly n8n: { readonly nodes: readonly string[] };
}

/** The codex file of a node: how n8n's node search lists it. */
export interface Codex {
	readonly node: string;
	readonly categories: readonly string[];
	readonly subcategories: { readonly AI: readonly string[] };
	readonly resources: {
		readonly primaryDocumentation: readonly { readonly url: string }[];
	};
}

const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

export const PACKAGE_NAME = manifest.name;

/** The nodes that package.json registers, by the name of their folder and class. */
export const NODE_NAMES: readonly string[] = manifest.n8n.nodes.map((file) =>
	basename(file, '.node.js'),
);

/** Loads a node of nodes/ by its name. */
export async function loadNode(name: string): Promise<INodeType> {
	// The extension is needed: without it, the codex file of the same name would be loaded.
	const file = join(ROOT, 'nodes', name, `${name}.node.ts`);
	const classes = (await import(file)) as Readonly<Record<string, new () => INodeType>>;
	return new classes[name]!();
}

/** Reads the codex file of a node; undefined when there is none. */
export function readCodex(name: string): Codex | undefined {
	const file = join(ROOT, 'nodes', name, `${name}.node.json`);
	return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Codex) : undefined;
}

/** The page of a node in docs/: the file that its codex links to as primary documentation. */
export function pageOf(name: string): string | undefined {
	const url = readCodex(name)?.resources.primaryDocumentation[0]?.url ?? '';
	return /\/docs\/([\w-]+\.md)$/.exec(url)?.[1];
}
