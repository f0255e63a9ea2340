/** Items that are started without a turn between them. */
const GROUP = 5;

/**
 * Concurrent map with a limit: runs `work` on every item, at most `limit` at a time; results keep the order of the items.
 *
 * After a rejection no further item is started. Items in progress are awaited, then the first rejection is thrown.
 *
 * @param turn Awaited between groups of five items. A turn of the event loop lets the requests of a group leave before the
 *   next ones are prepared: otherwise all requests of a round leave together at its end, and their responses arrive
 *   together. A turn takes a busy host a millisecond: one for each item would cost more than it saves.
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

/** Lists of what has the same value of a function. */
export function grouped<T, V>(
	all: readonly T[],
	by: (each: T, index: number) => V,
): ReadonlyMap<V, T[]> {
	const groups = new Map<V, T[]>();
	for (const [index, each] of all.entries()) {
		const value = by(each, index);
		const group = groups.get(value);
		if (group) group.push(each);
		else groups.set(value, [each]);
	}
	return groups;
}

/** What a function has returned, or thrown: to be used, or thrown again, later. */
export type Settled<T> = { readonly value: T } | { readonly error: unknown };

/** Calls a function and keeps what it throws. */
export function readResult<T>(read: () => T): Settled<T> {
	try {
		return { value: read() };
	} catch (error) {
		return { error };
	}
}

/** Waits for a promise and keeps its rejection. */
export async function settled<T>(promise: Promise<T>): Promise<Settled<T>> {
	return await promise.then(
		(value) => ({ value }),
		(error: unknown) => ({ error }),
	);
}

/** The value; throws the error if there is one. */
export function valueOf<T>(result: Settled<T>): T {
	if ('error' in result) throw result.error;
	return result.value;
}

/**
 * Per-key mutex: runs work with the same key one after another, also after a failure. An empty key takes no lock.
 *
 * @returns A function that runs one piece of work under its key.
 */
export function keyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
	const last = new Map<string, Promise<unknown>>();

	return async (key, work) => {
		if (key === '') return await work();
		const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
		last.set(key, turn);
		try {
			return await turn;
		} finally {
			if (last.get(key) === turn) last.delete(key);
		}
	};
}
