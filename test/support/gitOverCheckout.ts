import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ROOT } from '../../lab/paths';

/**
 * Runs git over the files of this checkout with an empty repository elsewhere, so that the tests also run in an unpacked
 * archive.
 *
 * @returns What git prints.
 * @throws Error if git fails.
 */
export function gitOverCheckout(...args: readonly string[]): string {
	const folder = mkdtempSync(join(tmpdir(), 'empty-repository-'));
	try {
		execFileSync('git', ['init', '--quiet', folder]);
		const place = [`--git-dir=${join(folder, '.git')}`, `--work-tree=${ROOT}`];
		return execFileSync('git', [...place, ...args], { cwd: ROOT, encoding: 'utf8' });
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
