import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { LogTail } from './LogTail';

const STOP_LIMIT_MS = 10_000;

/** A running program. */
export interface Program {
	/** ID of its main process, which may have child processes. */
	readonly pid: number;
	/** The last lines of its log. */
	log(): string;
	/** Sends SIGTERM, then kills what is left of its process group. Can be called more than once. */
	readonly stop: () => Promise<void>;
	/** Kills the process group at once, like a crash. */
	kill(): Promise<void>;
}

/**
 * Starts a program in its own process group and waits until it is ready.
 *
 * @param start.name Name for error messages.
 * @param start.isReady Called five times a second with the log so far.
 * @param start.keptLines Number of log lines to keep.
 * @throws Error with the end of its log if it exits, or is not ready after `limitMs`.
 */
export async function startProgram(
	command: string,
	args: readonly string[],
	start: Pick<SpawnOptions, 'cwd' | 'env' | 'stdio'> & {
		readonly name: string;
		readonly limitMs: number;
		readonly isReady: (log: string) => boolean | Promise<boolean>;
		readonly keptLines?: number;
	},
): Promise<Program> {
	const { cwd, env, stdio } = start;
	const child = spawn(command, args, { cwd, env, stdio, detached: true });
	const log = new LogTail(start.keptLines);
	child.stdout?.on('data', (chunk: Buffer) => {
		log.add(chunk);
	});
	child.stderr?.on('data', (chunk: Buffer) => {
		log.add(chunk);
	});
	child.on('error', ({ message }) => {
		log.add(message);
	});
	try {
		await untilReady(child, start, () => log.text);
	} catch (error) {
		await stopGroup(child);
		const { message } = error as Error;
		throw new Error(`${message} The end of its log:\n${log.text}`, { cause: error });
	}
	return {
		pid: child.pid!,
		log: () => log.text,
		stop: async () => {
			await stopGroup(child);
		},
		kill: async () => {
			await killGroup(child);
		},
	};
}

async function untilReady(
	child: ChildProcess,
	{ name, limitMs, isReady }: Parameters<typeof startProgram>[2],
	log: () => string,
): Promise<void> {
	for (const deadline = Date.now() + limitMs; Date.now() < deadline;) {
		if (hasEnded(child)) throw new Error(`${name} exited (${endOf(child)}).`);
		if (await isReady(log())) return;
		await sleep(200);
	}
	throw new Error(`${name} was not ready after ${limitMs / 1000} s.`);
}

/** Sends SIGTERM to the program, which stops its children, then SIGKILL to what is left of the group. */
async function stopGroup(child: ChildProcess): Promise<void> {
	if (!hasEnded(child)) {
		const ended = once(child, 'exit', { signal: AbortSignal.timeout(STOP_LIMIT_MS) });
		child.kill('SIGTERM');
		await ended.catch(() => undefined);
	}
	await killGroup(child);
}

async function killGroup(child: ChildProcess): Promise<void> {
	const ended = hasEnded(child) ? undefined : once(child, 'exit');
	try {
		if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
	} catch {
		// The group has ended.
	}
	await ended;
}

function hasEnded(child: ChildProcess): boolean {
	// A program that could not be started has no process ID.
	return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function endOf(child: ChildProcess): string {
	return child.signalCode ?? `exit code ${child.exitCode}`;
}
