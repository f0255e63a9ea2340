import type { Row } from '../../nodes/shared/engine/dataTable';
import { fakeClock } from '../support/fakeClock';
import { keyOwner, messageOf, type OwnerOptions } from '../support/keyOwners';
import { rowTable, type Write } from '../support/rowTable';

const START_MS = Date.UTC(2026, 0, 1);

afterEach(() => {
	jest.restoreAllMocks();
});

function world() {
	const clock = fakeClock(START_MS);
	jest.spyOn(Date, 'now').mockImplementation(() => clock.now());
	const table = rowTable(clock);
	const sent: string[] = [];
	return {
		clock,
		table,
		sent,
		own: (execution = 'e1', more: Partial<OwnerOptions> = {}) =>
			keyOwner({ write: table.write, clock, execution, ...more }),
		send: (name: string) => async () => {
			sent.push(name);
			return await Promise.resolve(`task ${name}`);
		},
		/** A row of another execution. */
		insert: async (row: Row) => {
			await table.write({
				insert: [
					{
						idempotency_key: 'k',
						workflow_id: 'workflow',
						execution_id: 'other',
						account: 'account',
						origin: 'origin other',
						call: '0 k other-0 other',
						prompt: 'k',
						sent_at: new Date(clock.now()).toISOString(),
						...row,
					},
				],
			});
		},
	};
}

describe('a person edits the own claim before it is sent', () => {
	test.each<[string, (row: Row) => Row | undefined, readonly string[], RegExp]>([
		[
			'to sent: it is not sent',
			(row) => ({ ...row, status: 'sent' }),
			[],
			/is in use: .*row 1 /,
		],
		['to an unknown word: likewise', (row) => ({ ...row, status: 'Claimed' }), [], /is in use/],
		[
			'to failed: it is claimed again',
			(row) => ({ ...row, status: 'failed' }),
			['k'],
			/^task k$/,
		],
		[
			'gives it a task: that is the video',
			(row) => ({ ...row, status: 'open', task_id: 'theirs' }),
			[],
			/^theirs$/,
		],
		['deletes it: it is claimed again', () => undefined, ['k'], /^task k$/],
		[
			'clears its token: it is claimed again',
			(row) => ({ ...row, token: '' }),
			['k'],
			/^task k$/,
		],
	])('%s', async (_name, edit, expected, end) => {
		const { own, send, sent, table } = world();
		const owner = own();
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		table.edit(edit);
		const made = owner.make(call, send('k')).catch(messageOf);
		expect(await made).toMatch(end);
		expect(sent).toStrictEqual(expected);
		await owner.close();
		expect(table.rows().length).toBeLessThanOrEqual(2);
	});
});

describe('a key that another execution has', () => {
	const MINUTE_MS = 60_000;

	test.each<[string, Row, RegExp]>([
		['open: its video', { status: 'open', task_id: 'theirs' }, /^theirs$/],
		[
			'done: its video',
			{ status: 'completed', task_id: 'theirs', finished_at: 'x' },
			/^theirs$/,
		],
		['failed: a new one', { status: 'failed', task_id: 'theirs' }, /^task k$/],
		[
			'sent long ago: an error',
			{ status: 'sent', sent_at: '2025-01-01T00:00:00Z' },
			/is in use: .*row 1 /,
		],
		['sent at no time: an error', { status: 'sent', sent_at: null }, /is in use/],
		[
			'of another account: an error',
			{ status: 'open', task_id: 't', account: 'b' },
			/another API key/,
		],
		[
			'with other values: an error',
			{ status: 'open', task_id: 't', call: '0 x c e', prompt: 'x' },
			/was used for x/,
		],
		[
			'of another workflow: a new one',
			{ status: 'open', task_id: 't', workflow_id: 'w2' },
			/^task k$/,
		],
		[
			'of a person, without a call: its video',
			{ status: 'open', task_id: 't', call: null },
			/^t$/,
		],
	])('%s', async (_name, row, end) => {
		const { own, send, insert, clock } = world();
		await insert(row);
		const begunMs = clock.now();
		const owner = own();
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(await owner.make(call, send('k')).catch(messageOf)).toMatch(end);
		expect(clock.now() - begunMs).toBeLessThan(1_000);
		await owner.close();
	});

	test('other values by choice: its video', async () => {
		const { own, send, insert } = world();
		await insert({ status: 'open', task_id: 'theirs', call: '0 x c e', prompt: 'x' });
		const owner = own('e1', { useExisting: true });
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(await owner.make(call, send('k'))).toBe('theirs');
	});

	test('sent just now: it is waited for, for 90 s at most', async () => {
		const { own, send, insert, clock, sent } = world();
		await insert({ status: 'sent' });
		const owner = own();
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(clock.now() - START_MS).toBeGreaterThanOrEqual(90_000);
		expect(clock.now() - START_MS).toBeLessThan(92_000);
		expect(await owner.make(call, send('k')).catch(messageOf)).toMatch(/is in use/);
		expect(sent).toStrictEqual([]);
	});

	test('sent just now, and failed at the end of the wait: the key is free', async () => {
		const { own, send, insert, clock, table } = world();
		await insert({ status: 'sent' });
		const write: Write = async (...steps) => {
			if (clock.now() - START_MS >= 90_000)
				table.edit((row) => (row['execution_id'] === 'other' ? undefined : row));
			return await table.write(...steps);
		};
		const owner = own('e1', { write });
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(await owner.make(call, send('k'))).toBe('task k');
	});

	test('sent by an earlier try of this execution, with other values: nobody will answer it', async () => {
		const { own, send, insert, clock, sent } = world();
		const first = { origin: 'origin first', execution_id: 'first', call: '0 x c first' };
		await insert({ status: 'sent', ...first });
		const owner = own('retry', { retryOf: 'first' });
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(clock.now()).toBe(START_MS);
		expect(await owner.make(call, send('k')).catch(messageOf)).toMatch(/is in use: .*row 1 /);
		expect(sent).toStrictEqual([]);
	});

	test('claimed by one that is gone: removed after a minute, however old it says to be', async () => {
		const { own, send, insert, clock, table } = world();
		await insert({ status: 'claimed', token: 't', sent_at: '2020-01-01T00:00:00Z' });
		const owner = own();
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(clock.now() - START_MS).toBeGreaterThanOrEqual(MINUTE_MS);
		expect(await owner.make(call, send('k'))).toBe('task k');
		await owner.close();
		expect(table.rows().map(({ status }) => status)).toStrictEqual(['open']);
	});

	test('claimed by one that was killed beside a video: it goes at once, as nobody needs it', async () => {
		const { own, insert, table, sent, clock } = world();
		await insert({ status: 'claimed', token: 't', call: '0 k killed killed' });
		await insert({ status: 'open', task_id: 'theirs' });
		const owner = own();
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(clock.now()).toBe(START_MS);
		await owner.close();
		expect(sent).toStrictEqual([]);
		expect(table.rows().map(({ status }) => status)).toStrictEqual(['open']);
	});

	test('claimed and without a token, as a person leaves it: never removed, and nothing of us stays', async () => {
		const { own, insert, table, sent, send } = world();
		await insert({ status: 'claimed', token: '' });
		const owner = own();
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(await owner.make(call, send('k')).catch(messageOf)).toMatch(/is in use: .*row 1 /);
		expect(sent).toStrictEqual([]);
		expect(table.rows().map(({ execution_id }) => execution_id)).toStrictEqual(['other']);
	});

	test('claimed later by one that stays there: nothing of us is left behind at the end of the wait', async () => {
		const { own, insert, table, sent, send } = world();
		const owner = own();
		const call = owner.ask(0, 'k');
		const opened = owner.open([call]);
		await insert({ status: 'claimed', token: '' });
		await opened;
		const end = await owner.make(call, send('k')).catch(messageOf);
		// Which of both comes first is left to the table.
		expect(sent.length === 1 || end.includes('is in use')).toBe(true);
		await owner.close();
		expect(
			table
				.rows()
				.filter(
					({ execution_id, status }) => execution_id === 'e1' && status === 'claimed',
				),
		).toStrictEqual([]);
	});
});

test('the claim of an owner that waits for a higher one to the end goes', async () => {
	const { clock, table } = world();
	let calls = 0;
	const owner = keyOwner({
		clock,
		execution: 'e1',
		// A higher claim without a token is there when the own one is read, each time.
		write: async (...steps) => {
			calls += 1;
			const rows = await table.write(...steps);
			if (calls > 1 || rows.length === 0) return rows;
			await table.write({
				insert: [
					{ ...rows[0], id: undefined, call: '0 k x x', token: '', execution_id: 'x' },
				],
			});
			return [...table.rows()];
		},
	});
	await owner.open([owner.ask(0, 'k')]);
	expect(table.rows().map(({ execution_id }) => execution_id)).toStrictEqual(['x']);
});

test('one that withdraws late does not remove the row of another, which has its ID by now', async () => {
	const { clock } = world();
	const table = rowTable(clock, undefined, true);
	const other: Row = {
		...{ idempotency_key: 'k', workflow_id: 'workflow', execution_id: 'e2' },
		...{ account: 'account', origin: 'o2', call: '0 k x x', prompt: 'k', token: 't' },
	};
	let isStopped = false;
	const owner = keyOwner({
		clock,
		execution: 'e1',
		write: async (...steps) => {
			const rows = await table.write(...steps);
			if (isStopped || !rows.some(({ execution_id }) => execution_id === 'e1')) return rows;
			isStopped = true;
			// The process is stopped after it has read: its claim is removed as a dead one, and another one sends its call.
			await table.write({ remove: { all: [['execution_id', 'eq', 'e1']] } });
			await table.write({ insert: [{ ...other, status: 'sent', token: '' }] });
			return [{ ...other, id: 0, status: 'claimed' }, ...rows];
		},
	});
	await owner.open([owner.ask(0, 'k')]);
	expect(table.rows()).toMatchObject([{ execution_id: 'e2', status: 'sent' }]);
});

test('two retries: the row of the other one has the ID of one that a person has deleted', async () => {
	const { clock, sent, send } = world();
	const table = rowTable(clock, undefined, true);
	const old: Row = {
		...{ origin: 'origin first', execution_id: 'first', call: '0 old x first', item: 5 },
		...{ status: 'sent', sent_at: new Date(START_MS).toISOString() },
	};
	await table.write({ insert: [old] });
	let isRead = false;
	const owner = keyOwner({
		clock,
		execution: 'retry',
		retryOf: 'first',
		write: async (...steps) => {
			const rows = await table.write(...steps);
			if (isRead) return rows;
			isRead = true;
			table.edit(() => undefined);
			const call = '0 p x other';
			await table.write({ insert: [{ ...old, execution_id: 'other', call, item: 0 }] });
			return rows;
		},
	});
	const call = owner.ask(0, '', 'p');
	await owner.open([call]);
	const end = await owner.make(call, send('p')).catch(messageOf);
	expect(table.rows()[0]).toMatchObject({ id: 1, execution_id: 'other' });
	expect(sent).toStrictEqual([]);
	expect(end).toMatch(/^Another retry of this execution makes the same call/);
});

test('videos of the key that have failed are counted', async () => {
	const { own, insert } = world();
	await insert({ status: 'failed', task_id: 't1', call: '0 k a a' });
	await insert({ status: 'failed', task_id: 't2', call: '0 k b b' });
	const owner = own();
	const call = owner.ask(0, 'k');
	await owner.open([call]);
	expect(
		await owner.make(call, async (attempt) => await Promise.resolve(`attempt ${attempt}`)),
	).toBe('attempt 3');
});

test('801 keys are claimed in three writes, and those that are not sent are given back', async () => {
	const { own, table } = world();
	const owner = own();
	await owner.open(Array.from({ length: 801 }, (_, index) => owner.ask(index, `k${index}`)));
	expect(owner.claims.size).toBe(801);
	expect(
		table.calls.filter((steps) =>
			steps.some((step) => 'insert' in step && step.insert.length > 0),
		),
	).toHaveLength(3);
	await owner.close();
	expect(table.rows()).toStrictEqual([]);
});

test('a table that is away while it claims: an error, and the claims go when it is back', async () => {
	const { own, table } = world();
	const owner = own();
	table.fails = (steps) =>
		steps.some((step) => 'find' in step) ? { committed: true } : undefined;
	await expect(owner.open([owner.ask(0, 'k')])).rejects.toThrow(
		/cannot be kept: the table is away/,
	);
	expect(table.rows()).toStrictEqual([]);
});

test('a table that never gives back what was written: an error', async () => {
	const { clock, table } = world();
	const write: Write = async (...steps) => {
		await table.write(...steps);
		return [];
	};
	const owner = keyOwner({ write, clock, execution: 'e1' });
	await expect(owner.open([owner.ask(0, 'k')])).rejects.toThrow(/does not return the claim/);
	expect(table.rows()).toStrictEqual([]);
});
