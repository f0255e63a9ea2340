import fc from 'fast-check';

import { dueQueue } from '../../nodes/client/video/poll/dueQueue';

const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });

test('entries come by their time, those of one time in the order in which they were entered', () => {
	fc.assert(
		fc.property(times, (atMs) => {
			const plan = dueQueue();
			atMs.forEach((each, index) => {
				plan.add(index, each);
			});
			const gone = new Set<number>();
			const order: number[] = [];
			const next = () => plan.first((index) => !gone.has(index));
			for (let entry = next(); entry !== undefined; entry = next()) {
				order.push(entry.index);
				gone.add(entry.index);
			}
			const expected = atMs
				.map((_each, index) => index)
				.sort((a, b) => atMs[a]! - atMs[b]! || a - b);
			expect(order).toStrictEqual(expected);
		}),
	);
});

test('an entry that counts stays the first; one that is entered earlier comes before it', () => {
	const plan = dueQueue();
	plan.add(1, 10);
	expect(plan.first(() => true)).toMatchObject({ index: 1 });
	expect(plan.first(() => true)).toMatchObject({ index: 1 });
	plan.add(2, 5);
	expect(plan.first(() => true)).toMatchObject({ index: 2 });
});
