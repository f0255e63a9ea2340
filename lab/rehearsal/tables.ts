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

/** How a trigger is started; nodes.yaml describes the fields. */
export interface TriggerKind {
	readonly kind: 'webhook' | 'chat' | 'form' | 'none';
	readonly byPerson: boolean;
	readonly rank: number;
	readonly answers?: string;
	readonly gives?: object;
	readonly isComplete?: boolean;
}

const read = (name: string): unknown => parse(readFileSync(join(__dirname, name), 'utf8'));

/** All scenarios, the normal night first. */
export const SCENARIOS = (read('scenarios.yaml') as readonly Scenario[]).map((row): Scenario => ({
	...{ faults: [], kill: false, starts: 1, unless: '' },
	...row,
}));

export type Version = readonly [type: string, version: number];
type Table<T> = Readonly<Record<string, T>>;

/** What is known of nodes; nodes.yaml describes the fields. */
export const NODES = read('nodes.yaml') as {
	readonly local: Table<string>;
	readonly others: Table<{ readonly by: string; readonly as: Version }>;
	readonly tells: Table<readonly string[]>;
	readonly failures: Table<string>;
	readonly judges: string;
	readonly triggers: Table<TriggerKind>;
};
