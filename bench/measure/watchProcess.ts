import { setTimeout as sleep } from 'node:timers/promises';

import pidusage from 'pidusage';

const SAMPLE_INTERVAL_MS = 50;
const MEGABYTE = 2 ** 20;

/** CPU and memory usage of a process over a period. */
export interface ProcessUsage {
	/** CPU time of all threads, in milliseconds. */
	readonly cpuMs: number;
	/** Highest resident set size, in MB. */
	readonly peakMb: number;
	/** Resident set size at the start, in MB. */
	readonly beforeMb: number;
}

/** Samples the CPU and memory usage of a process while `work` runs. */
export async function watchProcess<T>(
	pid: number,
	work: () => Promise<T>,
): Promise<{ readonly result: T; readonly usage: ProcessUsage }> {
	const before = await pidusage(pid);
	let peak = before.memory;
	const running = new AbortController();
	const watching = (async () => {
		while (!running.signal.aborted) {
			peak = Math.max(peak, (await pidusage(pid)).memory);
			await sleep(SAMPLE_INTERVAL_MS);
		}
	})();
	try {
		const result = await work();
		const after = await pidusage(pid);
		const usage = {
			cpuMs: after.ctime - before.ctime,
			peakMb: Math.max(peak, after.memory) / MEGABYTE,
			beforeMb: before.memory / MEGABYTE,
		};
		return { result, usage };
	} finally {
		running.abort();
		await watching;
	}
}
