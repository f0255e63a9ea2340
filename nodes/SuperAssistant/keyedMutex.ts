/**
 * Makes work of the same name wait for its predecessor, whatever came of that; work without a name never polls.
 *
 * @returns Runs one piece of work.
 */
export function keyedMutex(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
	const last = new Map<string, Promise<unknown>>();

	return async (name, work) => {
		if (name === '') return await work();
		const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
		last.set(name, turn);
		return await turn;
	};
}
