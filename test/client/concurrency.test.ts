import { mapConcurrent } from '../../nodes/client/concurrency';

/** Work that ends only when released, so that the test controls the order. */
function controlledWork() {
	const started: number[] = [];
	const ends = new Map<number, (error?: Error) => void>();
	const settled = async () => await new Promise((resolve) => setImmediate(resolve));
	return {
		started,
		settled,
		work: (item: number) =>
			new Promise<number>((resolve, reject) => {
				started.push(item);
				ends.set(item, (error) => {
					if (error === undefined) resolve(item * 10);
					else reject(error);
				});
			}),
		release: async (item: number, error?: Error) => {
			ends.get(item)!(error);
			await settled();
		},
	};
}

test('runs at most `limit` items at a time and keeps the order of the results', async () => {
	const { started, work, release } = controlledWork();
	const done = mapConcurrent([1, 2, 3, 4], 2, work);
	expect(started).toStrictEqual([1, 2]);
	await release(2);
	expect(started).toStrictEqual([1, 2, 3]);
	for (const item of [1, 3, 4]) await release(item);
	expect(await done).toStrictEqual([10, 20, 30, 40]);
});

test('after a failure starts no further item and awaits those in progress', async () => {
	const { started, work, release } = controlledWork();
	const ended: string[] = [];
	const done = mapConcurrent([1, 2, 3], 2, work).catch((error: unknown) => {
		ended.push((error as Error).message);
	});
	await release(1, new Error('broken'));
	expect(ended).toStrictEqual([]);
	await release(2);
	await done;
	expect(ended).toStrictEqual(['broken']);
	expect(started).toStrictEqual([1, 2]);
});

test('an empty list does not call work', async () => {
	expect(await mapConcurrent([], 3, () => Promise.reject(new Error('called')))).toStrictEqual([]);
});

test('between two groups of five items passes a turn', async () => {
	const { settled } = controlledWork();
	const events: (number | string)[] = [];
	const work = (item: number) => {
		events.push(item);
		return Promise.resolve(item);
	};
	const turn = async () => {
		events.push('turn');
		await settled();
	};
	const items = [...Array(12).keys()];
	expect(await mapConcurrent(items, 12, work, turn)).toStrictEqual(items);
	expect(events.filter((event) => event === 'turn')).toHaveLength(2);
	// The first group is not held up by the turn that the second one waits for.
	expect(events.filter((event) => event !== 'turn')).toStrictEqual(items);
	expect(events.indexOf(5)).toBeGreaterThan(events.indexOf('turn'));
	expect(events.indexOf(10)).toBeGreaterThan(events.lastIndexOf('turn'));
});

test('an item that waits for its turn is not started after a failure', async () => {
	const { started, settled } = controlledWork();
	const failing = (item: number) => {
		started.push(item);
		return Promise.reject(new Error('broken'));
	};
	const turn = async () => {
		await settled();
	};
	const work = mapConcurrent([...Array(12).keys()], 12, failing, turn);
	await expect(work).rejects.toThrow('broken');
	// At most the first group, whose items start together.
	expect(Math.max(...started)).toBeLessThan(5);
});
