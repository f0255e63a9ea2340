import { buildPackage } from '../../../lab/n8n/buildPackage';
import { installLab } from '../../../lab/n8n/installLab';
import { showProgress } from './session';
import { serveSharedN8n } from './sharedN8n';

/** Installs n8n and builds the package once, before jest starts its workers: two of them at a time would collide. */
export default async function globalSetup(): Promise<void> {
	await installLab({ onProgress: showProgress });
	await buildPackage();
	await serveSharedN8n();
}
