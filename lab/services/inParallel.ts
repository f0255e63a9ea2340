/** Does some work for all, a few at the same time. */
export async function inParallel<T>(
	all: readonly T[],
	concurrency: number,
	work: (each: T) => Promise<void>,
): Promise<void> {
	const left = [...all];
	const worker = async () => {
		for (let next = left.shift(); next !== undefined; next = left.shift()) await work(next);
	};
	await Promise.all(Array.from({ length: concurrency }, worker));
}
