import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { MODULES } from '../engine/installedN8n';

/** Loads all nodes and credentials, and prints why some did not. */
const LOAD_ALL = `
const { join } = require('node:path');
const [modules, ...packages] = process.argv.slice(1);
const failures = [];
let loaded = 0;
for (const name of packages) {
	const { nodes, credentials } = require(join(modules, name, 'package.json')).n8n;
	for (const file of [...nodes, ...credentials])
		try {
			require(join(modules, name, file));
			loaded++;
		} catch ({ message }) {
			failures.push(file + ': ' + message.split('\\n')[0]);
		}
}
console.log(JSON.stringify({ failures, loaded }));
// Some open what would keep the process alive.
process.exit();
`;

// n8n lists a node that does not load as unknown, and goes on.
it("loads every node of n8n's two packages", async () => {
	const packages = ['n8n-nodes-base', '@n8n/n8n-nodes-langchain'];
	const child = await promisify(execFile)(process.execPath, [
		...['-e', LOAD_ALL, MODULES],
		...packages,
	]);
	const { failures, loaded } = JSON.parse(child.stdout.trim().split('\n').at(-1)!) as {
		failures: readonly string[];
		loaded: number;
	};
	expect(failures).toEqual([]);
	expect(loaded).toBeGreaterThan(900);
}, 120_000);
