import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startProgram } from './startProgram';

const START_LIMIT_MS = 30_000;

/** Whom a program runs as; nobody else than this process without it. */
export interface RunAs {
	readonly uid: number;
	readonly gid: number;
}

/** A running server with a data folder of its own. */
export interface Server {
	/** TCP port on the loopback address. */
	readonly port: number;
	/** Stops it and removes its data; safe to call twice. */
	stop: () => Promise<void>;
}

/**
 * Starts a server of the system in a new data folder. It ends with this process at the latest.
 *
 * @param prepare Fills the data folder, which is empty.
 * @param args Gets the data folder.
 * @param readyLine What its log says when it takes connections.
 * @throws Error with the end of its log when it ends or is not ready after 30 seconds.
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
			// The kernel ends the server when this process is gone, however that came about.
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
