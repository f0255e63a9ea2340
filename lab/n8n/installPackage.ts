import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { withBuildLock } from '../services/buildLock';
import { ROOT } from '../paths';

/**
 * Installs the built package into an n8n user folder, as n8n installs a community package.
 *
 * The files are copied, not linked: through a link Node would resolve the project's own n8n-workflow, and n8n would not
 * recognize the errors of the nodes as its own classes.
 *
 * @throws Error if the package has not been built.
 */
export async function installPackage(userFolder: string): Promise<void> {
	const manifest = join(ROOT, 'package.json');
	const { name, version } = JSON.parse(await readFile(manifest, 'utf8')) as {
		name: string;
		version: string;
	};
	const nodes = join(userFolder, '.n8n', 'nodes');
	const home = join(nodes, 'node_modules', name);

	await mkdir(home, { recursive: true });
	await cp(manifest, join(home, 'package.json'));
	await withBuildLock(() => cp(join(ROOT, 'dist'), join(home, 'dist'), { recursive: true }));
	await writeFile(
		join(nodes, 'package.json'),
		JSON.stringify({
			name: 'installed-nodes',
			private: true,
			dependencies: { [name]: version },
		}),
	);
}
