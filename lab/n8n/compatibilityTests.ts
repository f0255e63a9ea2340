import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { ROOT } from '../paths';

/** A row of the compatibility table: a feature, and the test with a real n8n that checks it. */
export interface CompatibilityRow {
	readonly what: string;
	/** Folder of the node under nodes/; not set if the test is about no single node. */
	readonly node?: string;
	/** File name of the test in test/e2e/ or test/release/. */
	readonly file: string;
}

/** The rows of the compatibility table. */
export const COMPATIBILITY_ROWS: readonly CompatibilityRow[] = [
	{ what: 'Chat Completion', node: 'ChatCompletion', file: 'chatAnswers.test.ts' },
	...[
		{ what: 'workflows', file: 'agentDrawings.test.ts' },
		{ what: 'modes', file: 'agentModes.test.ts' },
	].map(({ what, file }) => ({
		what: `Agent with Tools, ${what}`,
		node: 'FunctionCallingAgent',
		file,
	})),
	{ what: 'Super Assistant', node: 'SuperAssistant', file: 'memory.test.ts' },
	{ what: 'Agent Video Chat Model', node: 'AgentVideoChatModel', file: 'chatModel.test.ts' },
	{ what: 'Create Video', node: 'CreateVideo', file: 'createVideo.test.ts' },
	{ what: 'Wait for Video, suspended', node: 'WaitForVideo', file: 'kills.test.ts' },
	...[
		{ what: 'sub-workflows', file: 'ledgerCalls.test.ts' },
		{ what: 'stops and time limits', file: 'ledgerStops.test.ts' },
		{ what: 'kills', file: 'kills.test.ts' },
	].map(({ what, file }) => ({ what: `Ledger, ${what}`, file })),
	{ what: 'Idempotency keys and limits, in queue mode', file: 'queueMode.test.ts' },
	{ what: 'Memory', file: 'memory.test.ts' },
	{ what: 'Collecting videos', file: 'kills.test.ts' },
	{ what: 'Batch and chat examples, credential', file: 'demo.test.ts' },
];

/**
 * Checks that every row names a test that exists, and that every node of package.json has a row.
 *
 * @throws Error that lists the missing tests, or the nodes without a row.
 */
export function checkCompatibilityRows(rows: readonly CompatibilityRow[]): void {
	const exists = (file: string) =>
		['e2e', 'release'].some((folder) => existsSync(join(ROOT, 'test', folder, file)));
	const missing = rows.filter(({ file }) => !exists(file));
	if (missing.length > 0) {
		const names = missing.map(({ file }) => file).join(', ');
		throw new Error(`lab/n8n/compatibilityTests.ts names tests that do not exist: ${names}`);
	}
	const { n8n } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
		n8n: { nodes: readonly string[] };
	};
	const untested = n8n.nodes
		.map((file) => basename(file, '.node.js'))
		.filter((node) => !rows.some((row) => row.node === node));
	if (untested.length > 0) {
		const names = untested.join(', ');
		throw new Error(`lab/n8n/compatibilityTests.ts has no test for these nodes: ${names}`);
	}
}
