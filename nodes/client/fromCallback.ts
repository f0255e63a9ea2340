/**
 * What `work` hands over, as it hands it over; its result is the generator's own.
 *
 * @throws whatever `work` throws, after all that it had handed over.
 */
export async function* fromCallback<T, R>(
	work: (hand: (value: T) => void) => Promise<R>,
): AsyncGenerator<T, R> {
	const ready: T[] = [];
	let wake: () => void = () => undefined;
	let news = new Promise<void>((resolve) => (wake = resolve));
	const state = { ended: false };

	const done = work((value) => {
		ready.push(value);
		wake();
	}).finally(() => {
		state.ended = true;
		wake();
	});
	// Whoever leaves early does not wait for it.
	done.catch(() => undefined);

	for (;;) {
		yield* ready.splice(0);
		if (state.ended && ready.length === 0) return await done;
		await news;
		news = new Promise<void>((resolve) => (wake = resolve));
	}
}
