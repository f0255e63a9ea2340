/**
 * Concurrent map with a limit: runs `work` on every item, at most `limit` at a time; results keep the order of the items.
 *
 * After a rejection no further item is started. Items in progress are awaited, then the first rejection is thrown.
 */
export async function mapConcurrent<T, R>(
	items: readonly T[],
	limit: number,
	work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
	const results = new Array<R>(items.length);
	let next = 0;
	const failures: unknown[] = [];

	async function worker(): Promise<void> {
		while (failures.length === 0 && next < items.length) {
			const index = next++;
			try {
				results[index] = await work(items[index]!, index);
			} catch (error) {
				failures.push(error);
			}
		}
	}

	await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
	if (failures.length > 0) throw failures[0];
	return results;
}
