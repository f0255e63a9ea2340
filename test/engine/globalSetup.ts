import { installLab } from '../../lab/n8n/installLab';

/** Installs the n8n that the contract looks at, unless its folder is given. */
export default async function globalSetup(): Promise<void> {
	if (process.env['CONTRACT_N8N'] === undefined) await installLab();
}
