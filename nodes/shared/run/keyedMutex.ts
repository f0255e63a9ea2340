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
