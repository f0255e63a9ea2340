import { slices } from '../../nodes/client/concurrency';
import { batchWriter, type Announcement } from '../../nodes/shared/ledger/batchWriter';
import type { Condition, Row, Step } from '../../nodes/shared/ledger/dataTable';
import { fakeClock } from '../support/fakeClock';

/** A table that takes time to be written, and a writer of calls named 0, 1, … */
function start(
	count: number,
	{ smallest = 2, writeMs = 0, reserved = false, more = {} }: StartOptions = {},
) {
	const clock = fakeClock();
	let rows: Row[] = [];
	let batches = 0;
	const table = {
		/** Says why a write fails; after how many of its steps. */
		fails: undefined as { message: string; afterSteps: number } | undefined,
		/** Sizes of the insertions so far. */
		sizes: [] as number[],
		steps: [] as Step[],
		insert: (row: Row) => rows.push(row),
		calls: () => rows.map(({ call, status }) => `${String(call)} ${String(status)}`).sort(),
		rows: () => rows,
	};
	const matches = (row: Row, [column, condition, value]: Condition) =>
		condition === 'eq' && row[column] === value;
	const calls = Array.from({ length: count }, (_, call): Announcement => {
		const pending = `key of ${call}`;
		if (reserved) rows.push({ call, status: 'reserved', pending });
		return { row: { call, ...more }, replaces: reserved ? [['pending', 'eq', pending]] : [] };
	});
	const writer = batchWriter(
		calls,
		smallest,
		{ clock, newId: () => `batch ${(batches += 1)}` },
		async (steps) => {
			await clock.sleep(writeMs);
			for (const [index, step] of steps.entries()) {
				if (table.fails?.afterSteps === index) throw new Error(table.fails.message);
				table.steps.push(step);
				if ('insert' in step) {
					table.sizes.push(step.insert.length);
					rows = [...rows, ...step.insert];
				}
				if ('remove' in step && 'any' in step.remove) {
					const { any } = step.remove;
					rows = rows.filter((row) => !any.some((each) => matches(row, each)));
				}
			}
			if (table.fails?.afterSteps === steps.length) throw new Error(table.fails.message);
		},
	);
	const answer = (index: number, status = 'queued') => {
		writer.settle(index, { call: index, status });
	};
	return { clock, table, writer, answer };
}

interface StartOptions {
	readonly smallest?: number;
	readonly writeMs?: number;
	/** Whether each call has a row already, which its announcement replaces. */
	readonly reserved?: boolean;
	readonly more?: Row;
}

describe('what is written when', () => {
	test('a call is in the table before it is sent, with the time', async () => {
		const { clock, table, writer } = start(3, { more: { prompt: 'boat' } });
		await clock.sleep(5_000);
		expect(await writer.announce(0)).toBe(true);
		expect(table.rows()).toStrictEqual([
			{
				call: 0,
				prompt: 'boat',
				status: 'sent',
				pending: 'batch 1',
				sent_at: '1970-01-01T00:00:05.000Z',
			},
			expect.objectContaining({ call: 1, status: 'sent' }),
		]);
	});

	test('calls that are sent together are announced in one write', async () => {
		const { table, writer } = start(4, { smallest: 4 });
		await Promise.all([0, 1, 2, 3].map((index) => writer.announce(index)));
		expect(table.sizes).toStrictEqual([4]);
	});

	test('answers come with the next batch, which announces again what is under way', async () => {
		const { table, writer, answer } = start(4);
		await writer.announce(0);
		await writer.announce(1);
		answer(1);
		expect(table.calls()).toStrictEqual(['0 sent', '1 sent']);
		await writer.announce(2);
		expect(table.calls()).toStrictEqual(['0 sent', '1 queued', '2 sent', '3 sent']);
		expect(new Set(table.rows().flatMap(({ pending }) => pending ?? []))).toStrictEqual(
			new Set(['batch 2']),
		);
	});

	test('the rows of a batch stay until those of the next are written', async () => {
		const { table, writer, answer } = start(2, { smallest: 1 });
		await writer.announce(0);
		answer(0);
		// The process is killed after the first step.
		table.fails = { message: 'killed', afterSteps: 1 };
		await writer.announce(1);
		expect(table.calls()).toStrictEqual(['0 queued', '0 sent', '1 sent']);
	});

	test('a call that certainly failed leaves no row, one without an answer stays', async () => {
		const { table, writer } = start(2);
		await Promise.all([writer.announce(0), writer.announce(1)]);
		writer.settle(0);
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['1 sent']);
	});

	test('a call without an answer stays, also if one before it was announced later', async () => {
		const { table, writer, answer } = start(4, { smallest: 1 });
		await writer.announce(0);
		await writer.announce(2);
		answer(0);
		await writer.announce(1);
		answer(1);
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued', '1 queued', '2 sent']);
	});

	test('an answer that arrives while a batch is written comes with the next one', async () => {
		const { clock, table, writer, answer } = start(3, { smallest: 1, writeMs: 50 });
		await writer.announce(0);
		await clock.sleep(2_000);
		const next = writer.announce(1);
		await clock.sleep(20);
		answer(0);
		await next;
		expect(table.calls()).toStrictEqual(['0 sent', '1 sent']);
		await writer.announce(2);
		expect(table.calls()).toStrictEqual(['0 queued', '1 sent', '2 sent']);
	});

	test('an answer after a batch is written within a second, also if an earlier one came with it', async () => {
		const { clock, table, writer, answer } = start(3, { smallest: 1 });
		await writer.announce(0);
		await clock.sleep(500);
		answer(0);
		await clock.sleep(100);
		await writer.announce(1);
		await clock.sleep(100);
		answer(1);
		await clock.sleep(1_000);
		expect(table.calls()).toStrictEqual(['0 queued', '1 queued']);
	});

	test('an answer that arrives during the last batch comes with close', async () => {
		const { clock, table, writer, answer } = start(2, { smallest: 1, writeMs: 50 });
		await writer.announce(0);
		const last = writer.announce(1);
		await clock.sleep(20);
		answer(0);
		const closed = writer.close([]);
		await last;
		await closed;
		expect(table.calls()).toStrictEqual(['0 queued', '1 sent']);
	});

	test('the announcement replaces the row of the reserved key, after it is written', async () => {
		const { table, writer } = start(3, { reserved: true });
		await writer.announce(0);
		expect(table.calls()).toStrictEqual(['0 sent', '1 sent', '2 reserved']);
		const [inserted, removed] = table.steps;
		expect([inserted, removed]).toMatchObject([{ insert: {} }, { remove: {} }]);
	});

	test('more steps run after the last rows, and without anything to write nothing runs', async () => {
		const more: Step = { remove: { any: [['status', 'eq', 'old']] } };
		const empty = start(2);
		await empty.writer.close([more]);
		expect(empty.table.steps).toStrictEqual([]);
		const { table, writer, answer } = start(2);
		table.insert({ call: 9, status: 'old' });
		await writer.announce(0);
		answer(0);
		await writer.close([more]);
		expect(table.calls()).toStrictEqual(['0 queued']);
	});
});

describe('calls that were announced together with others, but are not sent any more', () => {
	test('leave no row when the run ends early', async () => {
		const { table, writer, answer } = start(8, { smallest: 4 });
		await writer.announce(0);
		await writer.announce(1);
		answer(0);
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued', '1 sent']);
	});

	test('give up their keys', async () => {
		const { table, writer, answer } = start(4, { smallest: 2, reserved: true });
		await writer.announce(0);
		answer(0);
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued']);
	});

	test('give up their keys when none is sent', async () => {
		const { table, writer } = start(3, { reserved: true });
		await writer.close([]);
		expect(table.calls()).toStrictEqual([]);
	});
});

describe('batches', () => {
	/** Sends calls one after another, each of which takes so long. */
	async function sendAll(count: number, options: StartOptions, callMs: number) {
		const { clock, table, writer, answer } = start(count, options);
		for (let index = 0; index < count; index++) {
			await writer.announce(index);
			await clock.sleep(callMs);
			answer(index);
		}
		const workMs = clock.now();
		await writer.close([]);
		expect(table.calls()).toStrictEqual(
			Array.from({ length: count }, (_, index) => `${index} queued`).sort(),
		);
		return { writes: table.sizes.length - 1, writing: table.sizes.length * 50, workMs };
	}

	test('stay small where the service takes its time', async () => {
		const { writes } = await sendAll(20, { smallest: 2, writeMs: 20 }, 500);
		expect(writes).toBe(10);
	});

	test('grow where writing would take more than a small part of the time', async () => {
		const { writing, workMs } = await sendAll(2_000, { smallest: 2, writeMs: 50 }, 5);
		expect(writing / workMs).toBeLessThan(0.1);
	});

	test('shrink again when the service becomes slower', async () => {
		const { clock, table, writer, answer } = start(1_500, { smallest: 1, writeMs: 50 });
		for (let index = 0; index < 1_500; index++) {
			await writer.announce(index);
			await clock.sleep(index < 500 ? 2 : 5_000);
			answer(index);
		}
		expect(Math.max(...table.sizes)).toBeGreaterThan(100);
		// A batch is as large as the calls of about 50 ms / 8 %, and its answers come with the next one.
		expect(Math.max(...table.sizes)).toBeLessThan(700);
		// The last answer, and one announcement.
		expect(table.sizes.at(-1)).toBe(2);
	});
});

describe('a write that fails', () => {
	const broken = (afterSteps = 0) => ({ message: 'database is locked', afterSteps });

	test('ends the announcements: the calls go on, and are told', async () => {
		const { table, writer } = start(6);
		table.fails = broken();
		expect(await writer.announce(0)).toBe(false);
		table.fails = undefined;
		expect(await writer.announce(1)).toBe(false);
		expect(await writer.announce(5)).toBe(false);
		expect(table.calls()).toStrictEqual([]);
	});

	test('loses no answer: all come with close, and what is still unanswered', async () => {
		const { table, writer, answer } = start(5);
		await writer.announce(0);
		await writer.announce(1);
		answer(0);
		table.fails = broken();
		expect(await writer.announce(2)).toBe(false);
		expect(await writer.announce(3)).toBe(false);
		answer(2);
		answer(1);
		table.fails = undefined;
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued', '1 queued', '2 queued', '3 sent']);
	});

	test.each([1, 2])('after %i of its steps leaves no announcement behind', async (steps) => {
		const { table, writer, answer } = start(4);
		await writer.announce(0);
		await writer.announce(1);
		table.fails = broken(steps);
		await writer.announce(2);
		table.fails = undefined;
		[0, 1, 2].forEach((index) => {
			answer(index);
		});
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued', '1 queued', '2 queued']);
	});

	test('does not reject, not even at the end', async () => {
		const { table, writer, answer } = start(2);
		table.fails = broken();
		await writer.announce(0);
		answer(0);
		await expect(writer.close([])).resolves.toBeUndefined();
	});
});

test('slices are as long as allowed, the last one as long as needed', () => {
	expect(slices([1, 2, 3, 4, 5], 2)).toStrictEqual([[1, 2], [3, 4], [5]]);
	expect(slices([], 2)).toStrictEqual([]);
});
