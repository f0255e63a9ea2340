import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { ROOT } from '../../lab/paths';

/**
 * Runs a TypeScript program in a process of its own with a heap of 1.5 GB, and resolves with the JSON that it prints.
 * Rejects if the process dies.
 */
export async function runInSmallHeap(file: string, ...args: readonly string[]): Promise<unknown> {
	const options = ['--max-old-space-size=1536', '--import', 'tsx', file, ...args];
	const child = spawn(process.execPath, options, {
		cwd: ROOT,
		stdio: ['ignore', 'pipe', 'pipe'],
		...{ timeout: 100_000, killSignal: 'SIGKILL' },
	});
	const [printed, failure, [code, signal]] = await Promise.all([
		text(child.stdout),
		text(child.stderr),
		once(child, 'close') as Promise<[number | null, string | null]>,
	]);
	if (code === 0) return JSON.parse(printed);
	throw new Error(`The process ended with ${code ?? signal}: ${failure.slice(0, 1_000)}`);
}
