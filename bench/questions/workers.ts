import { postWebhook } from '../../lab/n8n/postWebhook';
import { startQueue } from '../../lab/n8n/startQueue';
import { labOf, PRODUCTION } from '../lab/startLab';
import { toFigure, type Figure } from '../measure/figure';
import type { Bench } from '../question';
import { CHAT_CONTENDERS, prompts } from './chatContenders';

const EXECUTIONS = 8;
const ITEMS = 50;
const REPEATS = 3;
/** A service that answers at once keeps the processors busy, the other one keeps the workers waiting. */
const DELAYS = [0, 1_000] as const;

/** How long the same executions took with so many workers. */
export interface WorkersPoint {
	readonly workers: number;
	readonly delayMs: number;
	readonly ms: Figure;
}

/** What is measured here, for the method. */
export const WORKERS_METHOD = `Workers: ${EXECUTIONS} executions of ${ITEMS} items each arrive together at an n8n in queue mode (PostgreSQL, Redis, a main
process), whose workers run two executions at a time; time is that from the first request to the last answer.`;

/**
 * Runs the same executions of Chat Completion in an n8n in queue mode, with one worker and then with two.
 *
 * @throws Error when queue mode does not start, as without PostgreSQL or Redis.
 */
export async function measureWorkers({ server, say }: Bench): Promise<readonly WorkersPoint[]> {
	const queue = await startQueue({
		workers: 1,
		concurrency: 2,
		settings: PRODUCTION,
		onProgress: say,
	});
	try {
		const lab = await labOf(queue.main, server.url);
		const points: WorkersPoint[] = [];
		for (const delayMs of DELAYS) {
			const path = `workers-${delayMs}`;
			await lab.install(CHAT_CONTENDERS.ours.workflow(server.url, path, delayMs), path);
		}
		for (const workers of [1, 2]) {
			if (workers > queue.workers.length) await queue.addWorker();
			for (const delayMs of DELAYS) {
				say(`${workers} worker(s), ${delayMs} ms`);
				const times: number[] = [];
				const url = lab.webhook(`workers-${delayMs}`);
				for (let turn = 0; turn <= REPEATS; turn++) times.push(await together(url));
				// The first turn warms a new worker up.
				points.push({ workers, delayMs, ms: await toFigure(times.slice(1)) });
			}
		}
		return points;
	} finally {
		await queue.stop();
	}
}

async function together(url: string): Promise<number> {
	const startMs = performance.now();
	const answers = Array.from({ length: EXECUTIONS }, () => postWebhook(url, prompts(ITEMS)));
	await Promise.all(answers);
	return performance.now() - startMs;
}
