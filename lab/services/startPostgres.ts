import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { freePort } from './freePort';
import { runCommand } from './runCommand';
import { startServer, type RunAs, type Server } from './startServer';
import { systemProgram } from './systemProgram';

/** The account that initdb creates, and the database with the same name. */
const ACCOUNT = 'postgres';

/** A running PostgreSQL with an empty database. */
export interface Postgres extends Server {
	readonly user: string;
	readonly password: string;
	readonly database: string;
}

/**
 * Starts PostgreSQL with an empty database on the loopback address.
 *
 * @param onProgress Called with one line when PostgreSQL is installed.
 */
export async function startPostgres(onProgress?: (text: string) => void): Promise<Postgres> {
	const program = await systemProgram('postgres', onProgress);
	const port = await freePort();
	const runAs = await unprivileged();
	const password = randomUUID();
	const server = await startServer({
		program,
		port,
		...(runAs && { runAs }),
		prepare: async (folder) => {
			await initialize(join(dirname(program), 'initdb'), folder, { password, ...runAs });
		},
		args: (folder) => [
			...['-D', join(folder, 'data'), '-h', '127.0.0.1', '-p', String(port)],
			// The socket is in the data folder. Temporary data need not survive a power failure.
			...['-k', folder, '-c', 'fsync=off', '-c', 'max_connections=100'],
		],
		readyLine: 'database system is ready to accept connections',
	});
	return { ...server, user: ACCOUNT, password, database: ACCOUNT };
}

async function initialize(
	initdb: string,
	folder: string,
	{ password, ...runAs }: { readonly password: string } & Partial<RunAs>,
): Promise<void> {
	const passwordFile = join(folder, 'password');
	await writeFile(passwordFile, password);
	const args = [
		...['-D', join(folder, 'data'), '-U', ACCOUNT, '-A', 'scram-sha-256'],
		...['--pwfile', passwordFile, '--encoding=UTF8', '--no-locale', '--no-sync'],
	];
	await runCommand(initdb, args, { cwd: folder, ...runAs });
	await rm(passwordFile);
}

/** PostgreSQL does not run as root: it runs as the account that its Debian package creates. */
async function unprivileged(): Promise<RunAs | undefined> {
	if (process.getuid?.() !== 0) return undefined;
	const id = async (option: string) =>
		Number((await promisify(execFile)('id', [option, 'postgres'])).stdout);
	return { uid: await id('-u'), gid: await id('-g') };
}
