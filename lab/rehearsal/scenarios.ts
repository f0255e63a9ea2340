import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'yaml';

import type { Fault } from '../../emulator/faults/fault';

/** What goes wrong in one run of a workflow; scenarios.yaml describes the fields. */
export interface Scenario {
	readonly name: string;
	readonly title: string;
	readonly faults: readonly Fault[];
	readonly kill: boolean;
	readonly starts: number;
	readonly unless: string;
}

const ROWS = parse(readFileSync(join(__dirname, 'scenarios.yaml'), 'utf8')) as readonly Scenario[];

/** All scenarios, the normal night first. */
export const SCENARIOS = ROWS.map((row): Scenario => ({
	...{ faults: [], kill: false, starts: 1, unless: '' },
	...row,
}));
