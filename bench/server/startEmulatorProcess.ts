import { join } from 'node:path';

import axios from 'axios';

import type { Fault } from '../../emulator/faults/fault';
import { ROOT } from '../../lab/paths';
import { freePort } from '../../lab/services/freePort';
import { startProgram } from '../../lab/services/startProgram';

/** The service emulator in a process of its own, so that it takes no CPU time from the one that measures. */
export interface EmulatorProcess {
	/** Base URL without a trailing slash. */
	readonly url: string;
	readonly stop: () => Promise<void>;
}

/** Starts the emulator with these faults. */
export async function startEmulatorProcess(faults: readonly Fault[]): Promise<EmulatorProcess> {
	const port = await freePort();
	const url = `http://127.0.0.1:${port}`;
	const script = join(ROOT, 'emulator', 'cli.ts');
	const { stop } = await startProgram(
		process.execPath,
		[...process.execArgv, script, '--quiet', '--port', String(port)],
		{
			name: 'The emulator',
			cwd: ROOT,
			env: process.env,
			limitMs: 60_000,
			isReady: (log) => log.includes('Listening on'),
		},
	);
	try {
		await axios.post(`${url}/__emulator/faults`, faults, { proxy: false });
	} catch (error) {
		await stop();
		throw error;
	}
	return { url, stop };
}
