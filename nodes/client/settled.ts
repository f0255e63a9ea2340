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
