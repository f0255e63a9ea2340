import { setTimeout as sleep } from 'node:timers/promises';

import pidusage from 'pidusage';

const LOOK_INTERVAL_MS = 50;
const MEGABYTE = 2 ** 20;

/** What a process took while something was going on. */
export interface ProcessUse {
	/** Milliseconds of CPU time, of all its threads. */
	readonly cpuMs: number;
	/** Most memory seen, in MB (resident set). */
	readonly peakMb: number;
	/** Memory before, in MB. */
	readonly beforeMb: number;
}

/** Watches a process while `work` runs. */
export async function watchProcess<T>(
	pid: number,
	work: () => Promise<T>,
): Promise<{ readonly result: T; readonly use: ProcessUse }> {
	const before = await pidusage(pid);
	let peak = before.memory;
	const running = new AbortController();
	const watching = (async () => {
		while (!running.signal.aborted) {
			peak = Math.max(peak, (await pidusage(pid)).memory);
			await sleep(LOOK_INTERVAL_MS);
		}
	})();
	try {
		const result = await work();
		const after = await pidusage(pid);
		const use = {
			cpuMs: after.ctime - before.ctime,
			peakMb: Math.max(peak, after.memory) / MEGABYTE,
			beforeMb: before.memory / MEGABYTE,
		};
		return { result, use };
	} finally {
		running.abort();
		await watching;
	}
}
