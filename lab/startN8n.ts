import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import axios from 'axios';

import { freePort } from './freePort';
import { installPackage } from './installPackage';
import { LogTail } from './LogTail';
import { n8nEnvironment } from './n8nEnvironment';
import { N8N_HOME } from './paths';

const START_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 10_000;

export interface N8nOptions {
	/** Folder for n8n's data. Without it a new one is made, and removed at the stop. */
	readonly userFolder?: string;
	/** Wanted TCP port; another one when it is taken. */
	readonly port?: number;
}

/** A running n8n. */
export interface N8n {
	/** Address without a trailing slash. */
	readonly url: string;
	/** The last lines of its log. */
	log(): string;
	/** Stops n8n with its task runner; safe to call twice. */
	stop(): Promise<void>;
}

/**
 * Starts the lab's n8n with the built package in it, on the loopback address. It ends with this process at the latest.
 *
 * @throws Error with the end of n8n's log when it ends or is not ready after two minutes.
 */
export async function startN8n(options: N8nOptions = {}): Promise<N8n> {
	const userFolder = options.userFolder ?? (await mkdtemp(join(tmpdir(), 'n8n-lab-')));
	const removeFolder = async () => {
		if (options.userFolder === undefined)
			await rm(userFolder, { recursive: true, force: true });
	};
	try {
		await installPackage(userFolder);
		const port = await freePort(options.port);
		return await launch({ userFolder, port, brokerPort: await freePort() }, removeFolder);
	} catch (error) {
		await removeFolder();
		throw error;
	}
}

async function launch(
	settings: Parameters<typeof n8nEnvironment>[0],
	afterStop: () => Promise<void>,
): Promise<N8n> {
	const child = spawn(
		process.execPath,
		[
			'--require',
			join(__dirname, 'endWithParent.ts'),
			join(N8N_HOME, 'node_modules', 'n8n', 'bin', 'n8n'),
			'start',
		],
		{
			cwd: settings.userFolder,
			env: n8nEnvironment(settings),
			stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
			detached: true,
		},
	);
	const log = new LogTail();
	child.stdout?.on('data', (piece: Buffer) => log.add(piece));
	child.stderr?.on('data', (piece: Buffer) => log.add(piece));

	const url = `http://127.0.0.1:${settings.port}`;
	const stop = async () => {
		await stopGroup(child);
		await afterStop();
	};
	try {
		await untilReady(url, child);
	} catch (error) {
		await stop();
		const { message } = error as Error;
		throw new Error(`${message} The end of its log:\n${log.text}`, { cause: error });
	}
	return { url, log: () => log.text, stop };
}

/** `/healthz` answers before the database is ready, `/healthz/readiness` does not. */
async function untilReady(url: string, child: ChildProcess): Promise<void> {
	const deadline = Date.now() + START_LIMIT_MS;
	const readiness = axios.create({ proxy: false, timeout: 2_000, validateStatus: () => true });
	while (Date.now() < deadline) {
		if (hasEnded(child)) throw new Error(`n8n ended by itself (${endOf(child)}).`);
		const answer = await readiness.get(`${url}/healthz/readiness`).catch(() => undefined);
		if (answer?.status === 200) return;
		await sleep(200);
	}
	throw new Error(`n8n was not ready after ${START_LIMIT_MS / 1000} s.`);
}

/** SIGTERM to n8n, which ends its task runner; SIGKILL to all that is left. */
async function stopGroup(child: ChildProcess): Promise<void> {
	if (!hasEnded(child)) {
		const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_LIMIT_MS) });
		child.kill('SIGTERM');
		await ended.catch(() => undefined);
	}
	try {
		if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
	} catch {
		// Nothing is left of the group.
	}
}

function hasEnded(child: ChildProcess): boolean {
	return child.exitCode !== null || child.signalCode !== null;
}

function endOf(child: ChildProcess): string {
	return child.signalCode ?? `exit code ${child.exitCode}`;
}
