/**
 * Turns a callback-style producer into an async generator: yields every value passed to `emit`, returns what `produce`
 * returns.
 *
 * @throws The error of `produce`, after all values emitted before it.
 */
export async function* fromCallback<T, R>(
	produce: (emit: (value: T) => void) => Promise<R>,
): AsyncGenerator<T, R> {
	const queue: T[] = [];
	let notify: () => void = () => undefined;
	let changed = new Promise<void>((resolve) => (notify = resolve));
	const state = { ended: false };

	const done = produce((value) => {
		queue.push(value);
		notify();
	}).finally(() => {
		state.ended = true;
		notify();
	});
	// A consumer that leaves early never awaits `done`: avoid an unhandled rejection.
	done.catch(() => undefined);

	for (;;) {
		yield* queue.splice(0);
		if (state.ended && queue.length === 0) return await done;
		await changed;
		changed = new Promise<void>((resolve) => (notify = resolve));
	}
}
