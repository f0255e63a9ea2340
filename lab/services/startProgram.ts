import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import { LogTail } from './LogTail';

const STOP_LIMIT_MS = 10_000;

/** A program that runs until it is stopped. */
export interface Program {
	/** Its process; what it started itself are others. */
	readonly pid: number;
	/** The last lines of its log. */
	log(): string;
	/** Asks it to end, and ends it with all that it started; safe to call twice. */
	stop: () => Promise<void>;
	/** Ends it with all that it started at once, as a crash would. */
	kill(): Promise<void>;
}

/**
 * Starts a program in a process group of its own and waits until it is ready.
 *
 * @param start.name What errors call it.
 * @param start.isReady Gets the log so far, and is asked five times a second.
 * @param start.keptLines Lines of its log to keep.
 * @throws Error with the end of its log when it ends before, or is not ready after the limit, in milliseconds.
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
	child.stdout?.on('data', (piece: Buffer) => {
		log.add(piece);
	});
	child.stderr?.on('data', (piece: Buffer) => {
		log.add(piece);
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
		if (hasEnded(child)) throw new Error(`${name} ended by itself (${endOf(child)}).`);
		if (await isReady(log())) return;
		await sleep(200);
	}
	throw new Error(`${name} was not ready after ${limitMs / 1000} s.`);
}

/** SIGTERM to the program, which ends what it started; SIGKILL to all that is left. */
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
		// Nothing is left of the group.
	}
	await ended;
}

function hasEnded(child: ChildProcess): boolean {
	// What could not be started has no process id.
	return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

function endOf(child: ChildProcess): string {
	return child.signalCode ?? `exit code ${child.exitCode}`;
}
