import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';
import { MUTANTS } from './mutants';
import { SECTIONS } from './statements';

test.each(MUTANTS)('the mutant of $breaks can be applied', ({ breaks, file, from, to }) => {
	expect(readFileSync(join(ROOT, file), 'utf8').split(from)).toHaveLength(2);
	expect(to).not.toBe(from);
	const statements = SECTIONS.flatMap((section) => section.statements);
	for (const id of breaks)
		expect(statements.find((each) => each.id === id)?.proofs).not.toHaveLength(0);
});
