import { mapConcurrent } from '../../nodes/client/concurrency';

/** Work that polls to be released, so that the test decides the order. */
function heldWork() {
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

test('at most the limit is under way, and results keep the order of the items', async () => {
	const { started, work, release } = heldWork();
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

test('after a failure nothing more starts, and what is under way is awaited', async () => {
	const { started, work, release } = heldWork();
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

test('no items, no work', async () => {
	expect(await mapConcurrent([], 3, () => Promise.reject(new Error('called')))).toStrictEqual([]);
});
