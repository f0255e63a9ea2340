import { stopSharedN8n } from './sharedN8n';

/** Stops what globalSetup has left running. */
export default async function globalTeardown(): Promise<void> {
	await stopSharedN8n();
}
