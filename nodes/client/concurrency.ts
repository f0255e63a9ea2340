/** Items that are started without a turn between them. */
const GROUP = 5;

/**
 * Concurrent map with a limit: runs `work` on every item, at most `limit` at a time; results keep the order of the items.
 *
 * After a rejection no further item is started. Items in progress are awaited, then the first rejection is thrown.
 *
 * @param turn Awaited between groups of five items. A turn of the event loop lets the requests of a group leave before the
 *   next ones are prepared: otherwise all requests of a round leave together at its end, and their responses arrive
 *   together. A turn takes n8n a millisecond: one for each item would cost more than it saves.
 */
export async function mapConcurrent<T, R>(
	items: readonly T[],
	limit: number,
	work: (item: T, index: number) => Promise<R>,
	turn?: () => Promise<void>,
): Promise<R[]> {
	const results = new Array<R>(items.length);
	let next = 0;
	const failures: unknown[] = [];
	const hasFailed = () => failures.length > 0;
	let turns = Promise.resolve();

	async function worker(): Promise<void> {
		while (!hasFailed() && next < items.length) {
			const index = next++;
			if (turn) {
				if (index > 0 && index % GROUP === 0) turns = turns.then(turn);
				await turns;
				if (hasFailed()) return;
			}
			try {
				results[index] = await work(items[index]!, index);
			} catch (error) {
				failures.push(error);
			}
		}
	}

	await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
	if (hasFailed()) throw failures[0];
	return results;
}

/** The list in parts of at most `size`. */
export function slices<T>(list: readonly T[], size: number): T[][] {
	return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
		list.slice(index * size, (index + 1) * size),
	);
}
