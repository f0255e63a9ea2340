import { createRequire } from 'node:module';
import { join } from 'node:path';

import { N8N_HOME } from '../../lab/paths';

/**
 * A process of its own: loads the nodes of one package as n8n does, and prints the milliseconds that it took. n8n's own
 * modules are there before, as in a running n8n.
 */
const [folder = ''] = process.argv.slice(2);
const ofN8n = createRequire(join(N8N_HOME, 'node_modules', 'n8n', 'package.json'));
ofN8n('reflect-metadata');
const { PackageDirectoryLoader } = ofN8n('n8n-core') as {
	PackageDirectoryLoader: new (folder: string) => { loadAll(): Promise<void> };
};

const startMs = performance.now();
void new PackageDirectoryLoader(folder).loadAll().then(() => {
	console.log((performance.now() - startMs).toFixed(3));
	process.exit(0);
});
