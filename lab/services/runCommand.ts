import { spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

import { LogTail } from './LogTail';

/**
 * Runs a program to its end; what it prints is shown only when it fails.
 *
 * @throws Error with the end of the output when the program fails or cannot be started.
 */
export async function runCommand(
	command: string,
	args: readonly string[],
	options: Pick<SpawnOptions, 'env' | 'uid' | 'gid'> & { readonly cwd: string },
): Promise<void> {
	const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
	const log = new LogTail();
	child.stdout.on('data', (piece: Buffer) => {
		log.add(piece);
	});
	child.stderr.on('data', (piece: Buffer) => {
		log.add(piece);
	});

	// Ctrl+C reaches both, but an end of this process alone would leave the program behind.
	const kill = () => child.kill();
	process.once('exit', kill);

	const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
	process.off('exit', kill);
	if (code === 0) return;
	throw new Error(`${command} ${args.join(' ')} failed (${signal ?? code}):\n${log.text}`);
}
