import { relative } from 'node:path';

import { buildPackage } from '../lab/n8n/buildPackage';
import { ROOT } from '../lab/paths';
import { packPackage } from './packPackage';

/** Builds the package and packs it into the current checkout. */
async function pack(): Promise<void> {
	await buildPackage();
	console.log(relative(process.cwd(), await packPackage(ROOT)));
}

pack().catch((error: unknown) => {
	console.error((error as Error).message);
	process.exitCode = 1;
});
