import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { format, resolveConfig } from 'prettier';

import { ROOT } from '../lab/paths';
import { fieldTables } from './fieldTables';
import { loadNode, NODE_PAGES, withFields } from './nodePages';

/** Writes the field tables of the nodes into their pages. */
async function writeDocs(): Promise<void> {
	for (const [page, node] of Object.entries(NODE_PAGES)) {
		const file = join(ROOT, 'docs', page);
		const { description } = await loadNode(node);
		const text = withFields(await readFile(file, 'utf8'), fieldTables(description));
		const options = { ...(await resolveConfig(file)), filepath: file };
		await writeFile(file, await format(text, options));
	}
}

void writeDocs();
