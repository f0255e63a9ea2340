import { Listr } from 'listr2';

/** How often a step that goes on is shown anew, in milliseconds. A log file takes fewer lines than a terminal. */
const REFRESH_MS = process.stdout.isTTY ? 1_000 : 15_000;

/**
 * Runs one step of a longer program and shows its title, what it is at, and for how long.
 *
 * @param work Gets a function that tells what it is at, in a line.
 * @returns What the work gives.
 * @throws what the work throws.
 */
export async function step<T>(
	title: string,
	work: (say: (text: string) => void) => Promise<T>,
): Promise<T> {
	const results: T[] = [];
	const startMs = Date.now();
	const seconds = () => `${Math.round((Date.now() - startMs) / 1000)} s`;

	const list = new Listr(
		{
			title,
			task: async (_context, task) => {
				let said = '';
				const show = () => (task.output = [said, seconds()].filter(Boolean).join(' · '));
				const timer = setInterval(show, REFRESH_MS);
				try {
					results.push(
						await work((text) => {
							if (text === said) return;
							said = text;
							show();
						}),
					);
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
