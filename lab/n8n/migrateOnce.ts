import { existsSync } from 'node:fs';
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { OTHER_N8N } from '../paths';
import { startN8n } from './startN8n';
import { DATABASE, MIGRATED, newUserFolder } from './userFolder';

/**
 * Starts the pinned n8n once, and keeps its migrated database for new user folders: the migrations are a third of a start.
 * Other versions have other tables, and are tested once.
 */
export async function migrateOnce(): Promise<void> {
	if (OTHER_N8N !== undefined || existsSync(MIGRATED)) return;
	const userFolder = await newUserFolder();
	try {
		const n8n = await startN8n({ userFolder, withPackage: false, editor: false });
		await n8n.stop();
		const copy = join(userFolder, 'copy.sqlite');
		const database = new DatabaseSync(join(userFolder, DATABASE));
		// They are encrypted with the key in this folder. n8n makes new ones.
		database.exec('DELETE FROM deployment_key');
		database.prepare('VACUUM INTO ?').run(copy);
		database.close();
		await mkdir(dirname(MIGRATED), { recursive: true });
		// An interrupted copy must not be taken for a whole one.
		await cp(copy, `${MIGRATED}.part`);
		await rename(`${MIGRATED}.part`, MIGRATED);
	} finally {
		await rm(userFolder, { recursive: true, force: true });
	}
}
