import { mapConcurrent, slices } from '../../nodes/client/concurrency';
import { callWriter } from '../../nodes/shared/ledger/callWriter';
import type { Condition, Row, Step } from '../../nodes/shared/engine/dataTable';
import { fakeClock } from '../support/fakeClock';

/** A table that takes time to be written, and a writer of calls named 0, 1, … */
function start(
	count: number,
	{ concurrency = 0, writeMs = 0, reserved = false, more = {} }: StartOptions = {},
) {
	const clock = fakeClock();
	let rows: Row[] = [];
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
	const calls = Array.from({ length: count }, (_, call) => {
		const pending = `key of ${call}`;
		if (reserved) rows.push({ call, status: 'reserved', pending });
		const replaces = reserved ? [pending] : [];
		return { row: { call, ...more }, replaces };
	});
	const byCall = callWriter(calls, concurrency, clock, async (steps) => {
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
	});
	const writer = {
		announce: async (index: number) => await byCall.announce(calls[index]!),
		settle: (index: number, row?: Row) => {
			byCall.settle(calls[index]!, row);
		},
		close: async (more: readonly Step[]) => {
			await byCall.close(more);
		},
	};
	const answer = (index: number, status = 'queued') => {
		writer.settle(index, { call: index, status });
	};
	return { clock, table, writer, answer };
}

interface StartOptions {
	readonly concurrency?: number;
	readonly writeMs?: number;
	/** Whether each call has a row already, which its announcement replaces. */
	readonly reserved?: boolean;
	readonly more?: Row;
}

describe('what is written when', () => {
	test('a call is in the table before it is sent, with the time; no other call is', async () => {
		const { clock, table, writer } = start(3, { more: { prompt: 'boat' } });
		await clock.sleep(5_000);
		expect(await writer.announce(0)).toBe(true);
		expect(table.rows()).toStrictEqual([
			{
				call: 0,
				prompt: 'boat',
				status: 'sent',
				pending: expect.any(String) as string,
				sent_at: '1970-01-01T00:00:05.000Z',
			},
		]);
	});

	test('calls that are sent together are announced in one write', async () => {
		const { table, writer } = start(4);
		await Promise.all([0, 1, 2, 3].map((index) => writer.announce(index)));
		expect(table.sizes).toStrictEqual([4]);
	});

	test('an answer replaces the row of its call with the next announcement', async () => {
		const { table, writer, answer } = start(3);
		await writer.announce(0);
		await writer.announce(1);
		answer(1);
		expect(table.calls()).toStrictEqual(['0 sent', '1 sent']);
		await writer.announce(2);
		expect(table.calls()).toStrictEqual(['0 sent', '1 queued', '2 sent']);
	});

	test('the row of a call stays until its answer is written', async () => {
		const { table, writer, answer } = start(2);
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

	test('calls may be announced in any order', async () => {
		const { table, writer, answer } = start(4);
		await writer.announce(0);
		await writer.announce(2);
		answer(0);
		await writer.announce(1);
		answer(1);
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued', '1 queued', '2 sent']);
	});

	test('what comes while one write is under way goes together into the next one', async () => {
		const { clock, table, writer, answer } = start(4, { writeMs: 50 });
		await writer.announce(0);
		const next = writer.announce(1);
		await clock.sleep(20);
		answer(0);
		const others = Promise.all([writer.announce(2), writer.announce(3)]);
		await next;
		expect(table.calls()).toStrictEqual(['0 sent', '1 sent']);
		await others;
		expect(table.calls()).toStrictEqual(['0 queued', '1 sent', '2 sent', '3 sent']);
	});

	test('a call that is answered while its announcement is written leaves the answer alone', async () => {
		const { clock, table, writer, answer } = start(1, { writeMs: 50 });
		const announced = writer.announce(0);
		await clock.sleep(20);
		answer(0);
		await announced;
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued']);
	});

	test('an answer without a further announcement is written within a second', async () => {
		const { clock, table, writer, answer } = start(3);
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

	test('an answer that arrives during the last write comes with close', async () => {
		const { clock, table, writer, answer } = start(2, { writeMs: 50 });
		await writer.announce(0);
		const last = writer.announce(1);
		await clock.sleep(20);
		answer(0);
		const closed = writer.close([]);
		await last;
		await closed;
		expect(table.calls()).toStrictEqual(['0 queued', '1 sent']);
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

describe('calls that are next', () => {
	/** Sends calls one after another, each of which takes so long; returns for how long the calls waited for the table. */
	async function sendAll(count: number, options: StartOptions, callMs: number) {
		const { clock, table, writer, answer } = start(count, options);
		let waitedMs = 0;
		const unsent: number[] = [];
		for (let index = 0; index < count; index++) {
			const askedAtMs = clock.now();
			await writer.announce(index);
			waitedMs += clock.now() - askedAtMs;
			await clock.sleep(callMs);
			unsent.push(
				table.rows().filter(({ call, status }) => status === 'sent' && Number(call) > index)
					.length,
			);
			answer(index);
		}
		await writer.close([]);
		expect(table.calls()).toStrictEqual(
			Array.from({ length: count }, (_, index) => `${index} queued`).sort(),
		);
		return { waitedMs, writes: table.sizes.length, unsent: Math.max(...unsent) };
	}

	test('are announced where the table takes long beside the service: then only the first calls wait for it', async () => {
		const { waitedMs, unsent } = await sendAll(40, { concurrency: 4, writeMs: 50 }, 200);
		expect(waitedMs).toBe(100);
		expect(unsent).toBeLessThanOrEqual(4);
	});

	test('are announced several at a time', async () => {
		const { writes } = await sendAll(40, { concurrency: 8, writeMs: 50 }, 200);
		expect(writes).toBeLessThan(20);
	});

	test('that end within a few milliseconds share a write: it goes on while they are under way', async () => {
		const { clock, table, writer, answer } = start(40, { concurrency: 5, writeMs: 40 });
		await mapConcurrent(Array.from({ length: 40 }), 5, async (_call, index) => {
			await writer.announce(index);
			await clock.sleep(200 + (index % 5));
			answer(index);
		});
		const rounds = 8;
		// The first two rounds wait for the table: only then it is known how long it takes.
		expect(clock.now()).toBeLessThan(rounds * 204 + 100);
		await writer.close([]);
		expect(table.sizes.length).toBeLessThanOrEqual(rounds + 2);
	});

	test('have no row where the service takes its time', async () => {
		const { unsent } = await sendAll(20, { concurrency: 8, writeMs: 50 }, 5_000);
		expect(unsent).toBe(0);
	});

	test('leave no row and give up their keys when the run ends before their turn', async () => {
		const options = { concurrency: 4, writeMs: 50, reserved: true };
		const { clock, table, writer, answer } = start(8, options);
		await writer.announce(0);
		await clock.sleep(100);
		answer(0);
		await writer.announce(1);
		expect(table.calls().filter((row) => row.endsWith('sent')).length).toBeGreaterThan(1);
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued', '1 sent']);
	});
});

describe('reserved keys', () => {
	test('are replaced by the row of the call, after it is written', async () => {
		const { table, writer } = start(3, { reserved: true });
		await writer.announce(0);
		expect(table.calls()).toStrictEqual(['0 sent', '1 reserved', '2 reserved']);
		const [inserted, removed] = table.steps;
		expect([inserted, removed]).toMatchObject([{ insert: {} }, { remove: {} }]);
	});

	test('of calls that are not sent any more are given up', async () => {
		const { table, writer, answer } = start(4, { reserved: true });
		await writer.announce(0);
		answer(0);
		await writer.close([]);
		expect(table.calls()).toStrictEqual(['0 queued']);
	});

	test('are given up when none is sent', async () => {
		const { table, writer } = start(3, { reserved: true });
		await writer.close([]);
		expect(table.calls()).toStrictEqual([]);
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
