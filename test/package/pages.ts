import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';

/** The text of a file of the repository. */
export const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8');

/** The type name of a node in n8n, by that of its folder. */
export const typeNameOf = (name: string) => `${name[0]!.toLowerCase()}${name.slice(1)}`;

/** Removes of a page what Prettier decides: the width of columns, and backslashes. */
export const plain = (text: string) => text.replace(/[\s\\-]+/g, ' ').trim();

/** The text below a heading of the second level; empty without one. */
export const sectionOf = (page: string, heading: string) =>
	page.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? '';

/** The anchors that GitHub gives the headings of a page. */
export const anchorsOf = (page: string) =>
	[...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
		heading!
			.toLowerCase()
			.replace(/[^\w\- ]/g, '')
			.replace(/ /g, '-'),
	);
