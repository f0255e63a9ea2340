import { existsSync, rmSync } from 'node:fs';
import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { N8N_HOME } from '../paths';

/** n8n's SQLite database in a user folder. */
export const DATABASE = join('.n8n', 'database.sqlite');
/** A database without data, see `migrateOnce`. It leaves with the installation whose migrations it has. */
export const MIGRATED = join(N8N_HOME, 'node_modules', '.lab-migrated', 'database.sqlite');

/** Creates a temporary user folder for n8n, by default with a migrated database if there is one. */
export async function newUserFolder({ migrated = true } = {}): Promise<string> {
	const userFolder = await mkdtemp(join(tmpdir(), 'n8n-lab-'));
	// This process may end while the database is copied.
	const remove = () => {
		rmSync(userFolder, { recursive: true, force: true });
	};
	process.once('exit', remove);
	if (migrated && existsSync(MIGRATED)) {
		await mkdir(join(userFolder, '.n8n'));
		await cp(MIGRATED, join(userFolder, DATABASE));
	}
	process.off('exit', remove);
	return userFolder;
}
