import type { Settled } from '../../nodes/client/concurrency';
import type { AskedCall, LedgerKind, Paid } from '../../nodes/shared/ledger/call';
import type { Condition, Filter, Row, Step } from '../../nodes/shared/engine/dataTable';
import type { Reservation } from '../../nodes/shared/ledger/claim';
import { takeKeys } from '../../nodes/shared/ledger/reserveKeys';
import { TASK_TABLE } from '../../nodes/shared/ledger/taskTable';
import { fakeClock, type FakeClock } from '../support/fakeClock';
import { seededRandom } from '../support/seededRandom';

const MINUTE_MS = 60_000;

/** A table as PostgreSQL has it: an inserted row gets its ID first and becomes visible later, and every step takes time. */
function slowTable(clock: FakeClock, random: () => number) {
	let lastId = 0;
	let rows: Row[] = [];
	const operations: string[] = [];
	const pause = async () => {
		await clock.sleep(random() * 400);
	};
	const holds = (row: Row, [column, , value]: Condition) => row[column] === value;
	const isIn = (row: Row, filter: Filter) =>
		'all' in filter
			? filter.all.every((each) => holds(row, each))
			: filter.any.some((each) => holds(row, each));

	async function runStep(step: Step): Promise<readonly Row[]> {
		operations.push(Object.keys(step)[0]!);
		await pause();
		if ('insert' in step) {
			const added = step.insert.map((row): Row => ({ ...row, id: (lastId += 1) }));
			await pause();
			rows = [...rows, ...added];
		}
		if ('set' in step)
			rows = rows.map((row) => (isIn(row, step.where) ? { ...row, ...step.set } : row));
		if ('remove' in step) rows = rows.filter((row) => !isIn(row, step.remove));
		const found =
			'find' in step
				? rows
						.filter((row) => isIn(row, step.find))
						.sort((a, b) => (a['id'] as number) - (b['id'] as number))
				: [];
		await pause();
		return found;
	}

	return {
		operations,
		rows: () => rows,
		insert: (...added: readonly Row[]) => {
			rows = [...rows, ...added.map((row): Row => ({ ...row, id: (lastId += 1) }))];
		},
		run: async (steps: readonly Step[]) => {
			let found: readonly Row[] = [];
			for (const step of steps) found = await runStep(step);
			return found;
		},
	};
}
type Table = ReturnType<typeof slowTable>;

const at = (ms: number) => new Date(ms).toISOString();
const callOf = (name: string, key: string) => `${name} ${key}`;
const reservationOf = (call: string) => `key ${call}`;

/** The result of a call is its row. */
const KIND: LedgerKind<Row> = {
	table: TASK_TABLE,
	keptDays: 0,
	field: '',
	describe: () => '',
	toRow: (row) => row,
	toResult: (row) => row,
};

/** Reserves keys for an execution, as a node does; returns for each key the row that another one has, or what was found out. */
async function reserve(
	table: Table,
	clock: FakeClock,
	name: string,
	keys: readonly string[],
	retryOutcomeUnknown = false,
): Promise<ReadonlyMap<string, Reservation>> {
	const calls = keys.map((key, item) => {
		const call = callOf(name, key);
		const row = { call, idempotency_key: key };
		const names = { item, key, lock: key, values: '', onConflict: 'fail' } as const;
		const asked = { ...names, claim: reservationOf(call), retryOutcomeUnknown, row };
		return asked as Partial<AskedCall> as AskedCall;
	});
	const known = new Map<number, Settled<Paid<Row>>>();
	const run = { kind: KIND, clock, account: '', known, onLedger: table.run };
	const left = await takeKeys(run, calls, false);
	expect(left.map(({ item }) => item)).toStrictEqual(
		calls.flatMap(({ item }) => (known.has(item) ? [] : [item])),
	);
	return new Map(
		calls.map(({ key, item }): [string, Reservation] => {
			const outcome = known.get(item);
			if (outcome === undefined) return [key, 'reserved'];
			if ('value' in outcome) return [key, outcome.value.result];
			expect(outcome.error).toMatchObject({
				message: expect.stringMatching(/in use/) as string,
			});
			return [key, 'timeout'];
		}),
	);
}

/** Sends the call of a reserved key: its row is `sent`, then answered. */
async function send(table: Table, clock: FakeClock, name: string, key: string, ms: number) {
	const call = callOf(name, key);
	const [row, pending] = [{ call, idempotency_key: key }, `batch of ${call}`];
	const isReservation = ['pending', 'eq', reservationOf(call)] as const;
	await table.run([
		{ insert: [{ ...row, status: 'sent', pending, sent_at: at(clock.now()) }] },
		{ remove: { any: [isReservation] } },
	]);
	await clock.sleep(ms);
	await table.run([
		{ insert: [{ ...row, status: 'queued', task_id: `task of ${call}` }] },
		{ remove: { any: [['pending', 'eq', pending]] } },
	]);
}

const taskOf = (outcome: Reservation | undefined) =>
	typeof outcome === 'object' ? outcome['task_id'] : outcome;

describe('executions at the same moment', () => {
	/** Executions that begin within a second and ask for a common key. */
	async function race(seed: number, second: (random: number) => boolean = () => false) {
		const random = seededRandom(seed);
		const clock = fakeClock(0, random);
		const table = slowTable(clock, random);
		const sent: string[] = [];
		const names = ['a', 'b', 'c', 'd'].slice(0, 2 + (seed % 3));
		const outcomes = await Promise.all(
			names.map(async (name) => {
				await clock.sleep(random() * 1_000);
				const keys = second(random()) ? ['order 2', 'order 1'] : ['order 1'];
				const reserved = await reserve(table, clock, name, keys);
				for (const key of keys) {
					if (reserved.get(key) !== 'reserved') continue;
					sent.push(key);
					await send(table, clock, name, key, random() * 5_000);
				}
				return [...reserved.values()];
			}),
		);
		return { sent: sent.sort(), table, outcomes };
	}

	test('the key is reserved once in thousands of orders of events, and all get its task', async () => {
		for (let seed = 0; seed < 1_500; seed++) {
			const { sent, table, outcomes } = await race(seed);
			const [task, ...others] = table.rows().map(({ task_id }) => task_id);
			expect({ seed, sent, others }).toStrictEqual({ seed, sent: ['order 1'], others: [] });
			const got = outcomes.flat().filter((outcome) => outcome !== 'reserved');
			expect(new Set(got.map(taskOf))).toStrictEqual(new Set([task]));
		}
	}, 120_000);

	test('nor is a key reserved twice where some executions ask for two', async () => {
		for (let seed = 0; seed < 300; seed++) {
			const { sent, table } = await race(seed, (random) => random < 0.5);
			expect({ seed, sent }).toStrictEqual({ seed, sent: [...new Set(sent)] });
			expect(table.rows()).toHaveLength(sent.length);
		}
	}, 120_000);

	test('an execution that is killed at any moment never causes a second call', async () => {
		let resent = 0;
		for (let seed = 0; seed < 300; seed++) {
			const random = seededRandom(seed);
			const clock = fakeClock(0, random);
			const table = slowTable(clock, random);
			const sent: string[] = [];
			const work = async (name: string, run: Table['run']) => {
				const canBeKilled = { ...table, run };
				const outcome = (await reserve(canBeKilled, clock, name, ['k'])).get('k')!;
				if (outcome === 'reserved') {
					await send(canBeKilled, clock, name, 'k', 3_000);
				}
				return outcome;
			};
			const record = (name: string, run: Table['run']) => async (steps: readonly Step[]) => {
				const result = await run(steps);
				const rows = steps.flatMap((step) => ('insert' in step ? step.insert : []));
				if (rows.some(({ status }) => status === 'sent')) sent.push(name);
				return result;
			};
			// A killed process runs no further step.
			let left = Math.floor(random() * 8);
			const dying: Table['run'] = async (steps) => {
				if (left-- <= 0) return await new Promise(() => undefined);
				return await table.run(steps);
			};
			void work('dead', record('dead', dying));
			await clock.sleep(random() * 3_000);
			let outcome = await work('b', record('b', table.run));
			for (let tries = 0; outcome === 'timeout' && tries < 20; tries++) {
				outcome = await work(`b${tries}`, record(`b${tries}`, table.run));
			}
			expect({ seed, sent }).toStrictEqual({ seed, sent: [expect.any(String)] });
			if (sent[0] === 'dead') expect(taskOf(outcome)).not.toBe('reserved');
			else resent += 1;
		}
		// Kills before and after the call was sent took part.
		expect(resent).toBeGreaterThan(50);
		expect(resent).toBeLessThan(250);
	}, 120_000);
});

describe('what a key is found as', () => {
	const NOW_MS = 100 * MINUTE_MS;
	async function found(rows: readonly Row[], retryOutcomeUnknown = false) {
		const clock = fakeClock(NOW_MS);
		const table = slowTable(clock, () => 0);
		table.insert(...rows.map((row) => ({ idempotency_key: 'k', ...row })));
		const outcome = (await reserve(table, clock, 'mine', ['k'], retryOutcomeUnknown)).get('k');
		return { outcome: taskOf(outcome), status: statusOf(outcome), table, clock };
	}
	const statusOf = (outcome: Reservation | undefined) =>
		typeof outcome === 'object' ? outcome['status'] : undefined;
	const ago = (minutes: number) => at(NOW_MS - minutes * MINUTE_MS);

	test.each(['queued', 'completed', 'refused'])('a task that is %s', async (status) => {
		const { outcome, table } = await found([{ task_id: 't-1', status, sent_at: ago(9_999) }]);
		expect(outcome).toBe('t-1');
		expect(table.operations).toStrictEqual(['find']);
	});

	test('the newest of several tasks', async () => {
		const { outcome } = await found([
			{ task_id: 't-1', status: 'failed' },
			{ task_id: 't-2', status: 'queued' },
		]);
		expect(outcome).toBe('t-2');
	});

	test('the task of a call whose row without an answer was left beside it', async () => {
		const { outcome } = await found([
			{ status: 'sent', sent_at: ago(1), pending: 'batch' },
			{ task_id: 't-1', status: 'queued', sent_at: ago(1) },
		]);
		expect(outcome).toBe('t-1');
	});

	test('the task that a person entered in a row without an answer', async () => {
		const { outcome } = await found([{ task_id: 't-1', status: 'sent', sent_at: ago(1) }]);
		expect(outcome).toBe('t-1');
	});

	test('a call that was never answered is known, unless the option sends it again', async () => {
		const row = { task_id: null, status: 'sent', sent_at: ago(3), pending: 'batch' };
		expect(await found([row])).toMatchObject({ status: 'sent' });
		expect(await found([row], true)).toMatchObject({ outcome: 'reserved' });
	});

	test('a call that is under way is waited for, also with the option', async () => {
		const row = { task_id: null, status: 'sent', sent_at: ago(2), pending: 'batch' };
		const { status, clock } = await found([row]);
		// Three minutes after it was sent nobody waits for its answer any more.
		expect(status).toBe('sent');
		expect(clock.now() - NOW_MS).toBeGreaterThanOrEqual(MINUTE_MS);
		for (const minutes of [0, 1]) {
			const underWay = { ...row, sent_at: ago(minutes) };
			expect(await found([underWay], true)).toMatchObject({ outcome: 'timeout' });
		}
	});

	test.each(['claimed', 'reserved'])('a row that is %s is waited for', async (status) => {
		const row = { status, sent_at: ago(0.5), pending: 'key of another' };
		const { outcome, clock } = await found([row]);
		expect(outcome).toBe('reserved');
		expect(clock.now() - NOW_MS).toBeGreaterThanOrEqual(MINUTE_MS / 2);
	});

	test('a reservation whose time a person has cleared ends at once', async () => {
		const row = { status: 'reserved', sent_at: null, pending: 'key of another' };
		expect(await found([row])).toMatchObject({ outcome: 'reserved' });
	});
});

test('many keys are reserved in a few steps', async () => {
	const clock = fakeClock();
	const table = slowTable(clock, () => 0);
	const keys = Array.from({ length: 450 }, (_, index) => `order ${index}`);
	const reserved = await reserve(table, clock, 'a', keys);
	expect(new Set(reserved.values())).toStrictEqual(new Set(['reserved']));
	expect(table.operations).toStrictEqual(['find', 'insert', 'find', 'set']);
});

test('a table that cannot be used rejects, and leaves no claim', async () => {
	const clock = fakeClock();
	const table = slowTable(clock, () => 0);
	const run: Table['run'] = async (steps) => {
		if (steps.some((step) => 'set' in step)) throw new Error('the table is locked');
		return await table.run(steps);
	};
	await expect(reserve({ ...table, run }, clock, 'a', ['k'])).rejects.toThrow('is locked');
	expect(table.rows()).toStrictEqual([]);
});

test('a table that changes the key is an error, not an endless loop', async () => {
	const clock = fakeClock();
	const table = slowTable(clock, () => 0);
	const run: Table['run'] = async (steps) =>
		await table.run(
			steps.map((step) =>
				'insert' in step
					? { insert: step.insert.map((row) => ({ ...row, idempotency_key: 'other' })) }
					: step,
			),
		);
	await expect(reserve({ ...table, run }, clock, 'a', ['k'])).rejects.toThrow('claim');
});
