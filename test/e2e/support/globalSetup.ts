import { buildPackage } from '../../../lab/n8n/buildPackage';
import { installLab } from '../../../lab/n8n/installLab';
import { migrateOnce } from '../../../lab/n8n/migrateOnce';
import { showProgress } from './session';
import { serveSharedN8n } from './sharedN8n';

/** Installs n8n, migrates its database and builds the package once, before jest starts its workers: two of them at a time would collide. */
export default async function globalSetup(): Promise<void> {
	await installLab({ onProgress: showProgress });
	await Promise.all([migrateOnce(), buildPackage()]);
	await serveSharedN8n();
}
