import { mapConcurrent } from '../../nodes/client/concurrency';

/** Work that completes only when released, so that the test controls the order. */
function controlledWork() {
	const started: number[] = [];
	const release = new Map<number, (error?: Error) => void>();
	const work = (item: number) =>
		new Promise<number>((resolve, reject) => {
			started.push(item);
			release.set(item, (error) => {
				if (error === undefined) resolve(item * 10);
				else reject(error);
			});
		});
	return {
		started,
		work,
		release: (item: number, error?: Error) => {
			release.get(item)!(error);
		},
	};
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));

test('runs at most `limit` items at a time and keeps the order of the results', async () => {
	const { started, work, release } = controlledWork();
	const done = mapConcurrent([1, 2, 3, 4], 2, work);
	expect(started).toStrictEqual([1, 2]);

	release(2);
	await settled();
	expect(started).toStrictEqual([1, 2, 3]);

	release(1);
	release(3);
	await settled();
	release(4);
	expect(await done).toStrictEqual([10, 20, 30, 40]);
});

test('after a failure starts no further item and awaits those in progress', async () => {
	const { started, work, release } = controlledWork();
	const ended: string[] = [];
	const done = mapConcurrent([1, 2, 3], 2, work).catch((error: unknown) => {
		ended.push((error as Error).message);
	});

	release(1, new Error('broken'));
	await settled();
	expect(ended).toStrictEqual([]);

	release(2);
	await done;
	expect(ended).toStrictEqual(['broken']);
	expect(started).toStrictEqual([1, 2]);
});

test('an empty list does not call work', async () => {
	expect(await mapConcurrent([], 3, () => Promise.reject(new Error('called')))).toStrictEqual([]);
});
