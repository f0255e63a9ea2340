import fc from 'fast-check';

import { dueQueue } from '../../nodes/client/video/poll/dueQueue';

const dueTimes = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });

test('entries are ordered by due time, equal ones in the order in which they were added', () => {
	fc.assert(
		fc.property(dueTimes, (dueAtMs) => {
			const queue = dueQueue();
			dueAtMs.forEach((each, index) => {
				queue.add(index, each);
			});
			const stale = new Set<number>();
			const order: number[] = [];
			const next = () => queue.peek((index) => !stale.has(index));
			for (let entry = next(); entry !== undefined; entry = next()) {
				order.push(entry.index);
				stale.add(entry.index);
			}
			const expected = dueAtMs
				.map((_each, index) => index)
				.sort((a, b) => dueAtMs[a]! - dueAtMs[b]! || a - b);
			expect(order).toStrictEqual(expected);
		}),
	);
});

test('peek leaves a current entry in the queue; one that is due earlier comes before it', () => {
	const queue = dueQueue();
	queue.add(1, 10);
	expect(queue.peek(() => true)).toMatchObject({ index: 1 });
	expect(queue.peek(() => true)).toMatchObject({ index: 1 });
	queue.add(2, 5);
	expect(queue.peek(() => true)).toMatchObject({ index: 2 });
});
