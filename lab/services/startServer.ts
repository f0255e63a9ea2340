import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startProgram } from './startProgram';

const START_LIMIT_MS = 30_000;

/** The account that a program runs as; by default that of this process. */
export interface RunAs {
	readonly uid: number;
	readonly gid: number;
}

/** A running server with its own data folder. */
export interface Server {
	/** TCP port on the loopback address. */
	readonly port: number;
	/** Stops it and removes its data. Can be called more than once. */
	readonly stop: () => Promise<void>;
}

/**
 * Starts a server program of the operating system with a new data folder. It stops when this process ends.
 *
 * @param prepare Fills the empty data folder.
 * @param args Receives the data folder, returns the arguments.
 * @param readyLine Text in its log when it accepts connections.
 * @throws Error with the end of its log if it exits or is not ready after 30 seconds.
 */
export async function startServer(server: {
	readonly program: string;
	readonly port: number;
	readonly args: (folder: string) => readonly string[];
	readonly readyLine: string;
	readonly runAs?: RunAs;
	readonly prepare?: (folder: string) => Promise<void>;
}): Promise<Server> {
	const { program, port, runAs } = server;
	const folder = await mkdtemp(join(tmpdir(), 'n8n-lab-server-'));
	const removeFolder = async () => {
		await rm(folder, { recursive: true, force: true });
	};
	try {
		if (runAs !== undefined) await chown(folder, runAs.uid, runAs.gid);
		await server.prepare?.(folder);
		const { stop } = await startProgram(
			'setpriv',
			// The kernel sends SIGTERM to the server when this process ends, even if it is killed.
			['--pdeathsig=TERM', ...identity(runAs), '--', program, ...server.args(folder)],
			{
				name: program,
				cwd: folder,
				stdio: ['ignore', 'pipe', 'pipe'],
				limitMs: START_LIMIT_MS,
				isReady: (log) => log.includes(server.readyLine),
			},
		);
		return {
			port,
			stop: async () => {
				await stop();
				await removeFolder();
			},
		};
	} catch (error) {
		await removeFolder();
		throw error;
	}
}

function identity(runAs: RunAs | undefined): readonly string[] {
	if (runAs === undefined) return [];
	return [`--reuid=${runAs.uid}`, `--regid=${runAs.gid}`, '--clear-groups'];
}
