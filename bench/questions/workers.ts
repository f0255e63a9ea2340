import { postWebhook } from '../../lab/n8n/postWebhook';
import { startQueue } from '../../lab/n8n/startQueue';
import { connectInstance } from '../n8n/startInstance';
import { toFigure, type Figure } from '../measure/figure';
import type { Bench } from '../question';
import { CHAT_CONTENDERS, prompts } from './chatContenders';

const EXECUTIONS = 8;
const ITEMS = 50;
const REPEATS = 3;
/** Latencies of the server: without latency the work is CPU-bound, with it the workers mostly wait. */
const DELAYS = [0, 1_000] as const;

/** Duration of the same executions with this number of workers. */
export interface WorkersPoint {
	readonly workers: number;
	readonly delayMs: number;
	readonly ms: Figure;
}

/** Describes this measurement in the method text. */
export const WORKERS_METHOD = `Workers (full runs only): ${EXECUTIONS} executions of ${ITEMS} items each in queue
mode, with a concurrency of 2; the time is from the first request to the last response.`;

/**
 * Measures the same executions of Chat Completion in queue mode, with one worker, two and four.
 *
 * @throws Error if queue mode does not start, for example without PostgreSQL or Redis.
 */
export async function measureWorkers({
	server,
	onProgress,
}: Bench): Promise<readonly WorkersPoint[]> {
	const queue = await startQueue({
		workers: 1,
		concurrency: 2,
		onProgress: onProgress,
	});
	try {
		const n8n = await connectInstance(queue.main, server.url);
		const points: WorkersPoint[] = [];
		for (const delayMs of DELAYS) {
			const path = `workers-${delayMs}`;
			await n8n.install(CHAT_CONTENDERS.ours.workflow(server.url, path, delayMs), path);
		}
		for (const workers of [1, 2, 4]) {
			while (workers > queue.workers.length) await queue.addWorker();
			for (const delayMs of DELAYS) {
				onProgress(`${workers} worker(s), ${delayMs} ms latency`);
				const times: number[] = [];
				const url = n8n.webhook(`workers-${delayMs}`);
				for (let round = 0; round <= REPEATS; round++) times.push(await runTogether(url));
				// The first round warms up a new worker.
				points.push({ workers, delayMs, ms: await toFigure(times.slice(1)) });
			}
		}
		return points;
	} finally {
		await queue.stop();
	}
}

async function runTogether(url: string): Promise<number> {
	const startMs = performance.now();
	const responses = Array.from({ length: EXECUTIONS }, () => postWebhook(url, prompts(ITEMS)));
	await Promise.all(responses);
	return performance.now() - startMs;
}
