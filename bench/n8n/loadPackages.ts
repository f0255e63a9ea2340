import { createRequire } from 'node:module';
import { join } from 'node:path';

import { N8N_HOME } from '../../lab/paths';

/**
 * Separate process: loads the nodes of packages with n8n's loader and prints the milliseconds for each package. Modules
 * of n8n itself are loaded first, as in a running n8n.
 */
const folders = process.argv.slice(2);
const requireFromN8n = createRequire(join(N8N_HOME, 'node_modules', 'n8n', 'package.json'));
requireFromN8n('reflect-metadata');
const { PackageDirectoryLoader } = requireFromN8n('n8n-core') as {
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
