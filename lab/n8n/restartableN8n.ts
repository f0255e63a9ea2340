import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { N8N_HOME } from '../paths';
import { freePort } from '../services/freePort';
import { runCommand } from '../services/runCommand';
import { N8nClient } from './N8nClient';
import { n8nEnvironment } from './n8nEnvironment';
import { startN8n } from './startN8n';
import { DATABASE, newUserFolder } from './userFolder';

/** Environment variables of an n8n process. */
type Settings = Readonly<Record<string, string>>;

/** A real n8n that can be killed and started again: same user folder, database and address. */
export interface RestartableN8n {
	readonly url: string;
	/** Stays signed in: a restart keeps sessions. */
	readonly client: N8nClient;
	/** n8n's SQLite database. */
	readonly database: string;
	/** ID of the process that runs now. */
	pid(): number;
	/** Sends SIGKILL to n8n and its task runner. */
	kill(): Promise<void>;
	/** Starts n8n again. */
	start(settings?: Settings): Promise<void>;
	/** Changes the log from which n8n, when it starts, learns what was running. Call it between `kill` and `start`. */
	editEventLog(edit: (lines: readonly string[]) => readonly string[]): Promise<void>;
	/** Runs a command of n8n on its data, such as `export:entities`. Call it between `kill` and `start`. */
	run(...command: readonly string[]): Promise<void>;
	/** Stops n8n and removes its data. */
	stop(): Promise<void>;
}

/**
 * Starts n8n with default settings, without its editor.
 *
 * @param always Environment variables of each start.
 */
export async function startRestartableN8n(always: Settings = {}): Promise<RestartableN8n> {
	const userFolder = await newUserFolder();
	let n8n = await startN8n({ userFolder, settings: always, editor: false });
	const { url } = n8n;
	return {
		url,
		client: await N8nClient.signIn(url),
		database: join(userFolder, DATABASE),
		pid: () => n8n.pid,
		kill: () => n8n.kill(),
		start: async (settings = {}) => {
			n8n = await startN8n({
				userFolder,
				port: Number(new URL(url).port),
				settings: { ...always, ...settings },
				editor: false,
			});
		},
		editEventLog: async (edit) => {
			const log = join(userFolder, '.n8n', 'n8nEventLog.log');
			const lines = (await readFile(log, 'utf8')).split('\n');
			await writeFile(log, edit(lines).join('\n'));
		},
		run: async (...command) => {
			const [port, brokerPort] = [Number(new URL(url).port), await freePort()];
			await runCommand(
				process.execPath,
				[join(N8N_HOME, 'node_modules', 'n8n', 'bin', 'n8n'), ...command],
				{ cwd: userFolder, env: n8nEnvironment({ userFolder, port, brokerPort }) },
			);
		},
		stop: async () => {
			await n8n.stop();
			await rm(userFolder, { recursive: true, force: true });
		},
	};
}
