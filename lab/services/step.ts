import { Listr } from 'listr2';

/** Interval of progress updates in milliseconds. A log file gets fewer than a terminal. */
const REFRESH_MS = process.stdout.isTTY ? 1_000 : 15_000;

let isStopping = false;

/** Before a program stops what its steps use: a step that fails from now on does not end, and shows no error. */
export function expectFailures(): void {
	isStopping = true;
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
					(task.output = [progress, seconds()].filter(Boolean).join(' · '));
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
