import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { format, resolveConfig } from 'prettier';

import { ROOT } from '../lab/paths';
import { GENERATED_PARTS, replacePart } from './generatedDocs';

/** Writes every generated part into its page. */
async function writeDocs(): Promise<void> {
	for (const { page, content, build } of GENERATED_PARTS) {
		const file = join(ROOT, page);
		const text = replacePart(await readFile(file, 'utf8'), content, await build());
		const options = { ...(await resolveConfig(file)), filepath: file };
		await writeFile(file, await format(text, options));
	}
}

void writeDocs();
