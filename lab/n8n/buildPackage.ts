import { join } from 'node:path';

import { ROOT } from '../paths';
import { runCommand } from '../services/runCommand';

/**
 * Builds the package into dist/.
 *
 * @throws Error with the compiler's messages.
 */
export async function buildPackage(): Promise<void> {
	const gulp = join(ROOT, 'node_modules', 'gulp', 'bin', 'gulp.js');
	await runCommand(process.execPath, [gulp, 'build'], { cwd: ROOT });
}
