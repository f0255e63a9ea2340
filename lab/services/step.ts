import { Listr } from 'listr2';

import type { Running } from './Running';

/** Interval of progress updates in milliseconds. A log file gets fewer than a terminal. */
const REFRESH_MS = process.stdout.isTTY ? 1_000 : 15_000;

/** What a step shows from then on, too: its output hides what else is written to a terminal. */
const STOPPING = 'Stopping …';

let isStopping = false;

/** Whether a person has interrupted the program: then failures are expected. */
export const isInterrupted = () => isStopping;

/**
 * Stops what a program has started when a person interrupts it. A step that fails from then on does not end, and shows no
 * error.
 *
 * @param exitCode The exit code of the program, at its end.
 */
export function stopOnSignals(running: Running, exitCode: () => number): void {
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => {
			if (!isStopping) console.error(`\n${STOPPING}`);
			isStopping = true;
			void running.stop().finally(() => process.exit(exitCode()));
		});
	}
}

/**
 * Runs one step of a program and shows its title, its progress and its duration.
 *
 * @param work Receives a function that shows its progress in one line.
 * @returns The result of `work`.
 * @throws What `work` throws.
 */
export async function step<T>(
	title: string,
	work: (showProgress: (text: string) => void) => Promise<T>,
): Promise<T> {
	const results: T[] = [];
	const startMs = Date.now();
	const seconds = () => `${Math.round((Date.now() - startMs) / 1000)} s`;

	const list = new Listr(
		{
			title,
			task: async (_context, task) => {
				let progress = '';
				const show = () =>
					(task.output = [isStopping ? STOPPING : progress, seconds()]
						.filter(Boolean)
						.join(' · '));
				const timer = setInterval(show, REFRESH_MS);
				try {
					results.push(
						await work((text) => {
							if (text === progress) return;
							progress = text;
							show();
						}),
					);
				} catch (error) {
					if (isStopping) await new Promise(() => undefined);
					throw error;
				} finally {
					clearInterval(timer);
				}
				task.title = `${title} (${seconds()})`;
			},
		},
		{ registerSignalListeners: false, rendererOptions: { showErrorMessage: false } },
	);
	await list.run();
	return results[0]!;
}
