import { startEmulator, type Emulator } from '../../../emulator/startEmulator';
import { buildPackage } from '../../../lab/n8n/buildPackage';
import { installLab } from '../../../lab/n8n/installLab';
import { N8nClient } from '../../../lab/n8n/N8nClient';
import { startN8n, type N8n } from '../../../lab/n8n/startN8n';
import { say } from './say';

/** Milliseconds to get everything ready, an install of n8n included. */
export const SET_UP_LIMIT_MS = 15 * 60_000;
/** Milliseconds for a workflow to run. */
export const RUN_LIMIT_MS = 2 * 60_000;

/** A real n8n with the package in it, and the service for it. */
export interface Session {
	readonly emulator: Emulator;
	readonly n8n: N8n;
	readonly client: N8nClient;
	/** Stops what was started, in the opposite order. */
	stop(): Promise<void>;
}

/**
 * Starts the emulator and n8n, and signs in; what has started is stopped again when something does not.
 *
 * @param settings Variables of n8n's environment on top of the lab's own.
 */
export async function startSession(
	options: { videoSeconds: number },
	settings: Readonly<Record<string, string>> = {},
): Promise<Session> {
	await installLab({ onProgress: say });
	await buildPackage();
	const emulator = await startEmulator(options);
	try {
		const n8n = await startN8n({ settings });
		const stop = async () => {
			await n8n.stop();
			await emulator.stop();
		};
		try {
			return { emulator, n8n, client: await N8nClient.signIn(n8n.url), stop };
		} catch (error) {
			await n8n.stop();
			throw error;
		}
	} catch (error) {
		await emulator.stop();
		throw error;
	}
}
