import { createRequire } from 'node:module';
import { join } from 'node:path';

import { N8N_HOME } from '../../lab/paths';

/**
 * A process of its own: loads the nodes of packages as n8n does, and prints the milliseconds that each took. n8n's own
 * modules are there before, as in a running n8n.
 */
const folders = process.argv.slice(2);
const ofN8n = createRequire(join(N8N_HOME, 'node_modules', 'n8n', 'package.json'));
ofN8n('reflect-metadata');
const { PackageDirectoryLoader } = ofN8n('n8n-core') as {
	PackageDirectoryLoader: new (folder: string) => { loadAll(): Promise<void> };
};

async function load(): Promise<void> {
	const times: number[] = [];
	for (const folder of folders) {
		const startMs = performance.now();
		await new PackageDirectoryLoader(folder).loadAll();
		times.push(performance.now() - startMs);
	}
	console.log(JSON.stringify(times));
	process.exit(0);
}

void load();
