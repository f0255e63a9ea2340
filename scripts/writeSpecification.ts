import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { format } from 'prettier';

import { ROOT } from '../lab/paths';
import { specificationTable } from './specificationTable';

const INTRODUCTION = `# The specification, statement by statement

What the specification of the service says, in short sentences of our own, and the test that shows it for the nodes and for the
emulator. A *walk* is a check that runs the nodes at the emulator; an *example* is an example call, rebuilt with the nodes; any
other proof is a test file, with the title of the test.`;

/** Writes the statements of test/spec/statements.txt with their proofs, to be read, and says where. */
async function writeSpecification(): Promise<void> {
	const folder = join(ROOT, 'test-results');
	const file = join(folder, 'specification.md');
	await mkdir(folder, { recursive: true });
	const text = `${INTRODUCTION}\n\n${specificationTable()}\n`;
	await writeFile(file, await format(text, { parser: 'markdown' }));
	console.log(`Written: ${file}`);
}

void writeSpecification();
