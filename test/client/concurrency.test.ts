import { mapConcurrent } from '../../nodes/client/concurrency';

/** A turn of the event loop. */
const passes = async () => {
	await new Promise((resolve) => setImmediate(resolve));
};

test('between two groups of five items passes a turn', async () => {
	const events: (number | string)[] = [];
	const work = (item: number) => {
		events.push(item);
		return Promise.resolve(item);
	};
	const turn = async () => {
		events.push('turn');
		await passes();
	};
	const items = [...Array(12).keys()];
	expect(await mapConcurrent(items, 12, work, turn)).toStrictEqual(items);
	expect(events.filter((event) => event === 'turn')).toHaveLength(2);
	// The first group is not held up by the turn that the second one waits for.
	expect(events.filter((event) => event !== 'turn')).toStrictEqual(items);
	expect(events.indexOf(5)).toBeGreaterThan(events.indexOf('turn'));
	expect(events.indexOf(10)).toBeGreaterThan(events.lastIndexOf('turn'));
});

test('after a failure no further item is started, and those in progress are awaited', async () => {
	const events: string[] = [];
	const work = async (item: number) => {
		events.push(`${item} begins`);
		if (item === 0) throw new Error('broken');
		await passes();
		events.push(`${item} ends`);
	};
	await expect(mapConcurrent([0, 1, 2, 3], 2, work)).rejects.toThrow('broken');
	expect(events).toStrictEqual(['0 begins', '1 begins', '1 ends']);
});

test('an item that waits for its turn is not started after a failure', async () => {
	const started: number[] = [];
	const failing = (item: number) => {
		started.push(item);
		return Promise.reject(new Error('broken'));
	};
	const work = mapConcurrent([...Array(12).keys()], 12, failing, passes);
	await expect(work).rejects.toThrow('broken');
	// At most the first group, whose items start together.
	expect(Math.max(...started)).toBeLessThan(5);
});
