import { InputError } from '../../nodes/client/errors';
import type { AskedCall } from '../../nodes/shared/durable/call';
import type { CallRun } from '../../nodes/shared/durable/callRun';
import { openLimit, type Limit } from '../../nodes/shared/durable/limit';
import type { Row } from '../../nodes/shared/engine/dataTable';
import { nodeState } from '../../nodes/shared/run/nodeContext';
import { rowTable } from '../support/rowTable';
import { strictContext } from '../support/strictContext';

const DAY = '2026-06-15T00:00:00.000Z';
const at = (hour: number) => new Date(Date.parse(DAY) + hour * 3_600_000).toISOString();
let lastCall = 0;
const row = (status: string, hour: number, more: Row = {}): Row => ({
	call: `call ${(lastCall += 1)}`,
	status,
	task_id: ['sent', 'claimed'].includes(status) ? '' : `task ${lastCall}`,
	sent_at: at(hour),
	workflow_id: 'w',
	origin: 'o',
	...more,
});

async function world(
	maximum: number,
	rows: readonly Row[],
	more: Partial<Limit> = {},
	isRetry = false,
) {
	const table = rowTable();
	await table.write({ insert: rows });
	const values = {};
	const limit: Limit = {
		since: () => DAY,
		verify: () => undefined,
		excessOf: ({ videos }, { length }) =>
			length > 0 && videos + length > maximum
				? new InputError('Maximum Videos', `has ${videos}`, '')
				: undefined,
		takesWhatFits: false,
		dryRuns: [],
		...more,
	};
	const run = {
		workflowId: 'w',
		state: (key: string) => nodeState(strictContext({ getContext: () => values }), key),
		origin: { origin: 'o' },
		isRetry,
		onLedger: table.write,
		tell: () => undefined,
	} as unknown as CallRun<unknown>;
	const opened = openLimit(run, limit);
	const asked = new Map<number, AskedCall>();
	/** Announces a call of each item, without a row where the table takes none. */
	const announce = async (items: readonly number[], isFull = false) => {
		const added = items.map(() => row('sent', 1));
		const calls = added.map(
			({ call }, index) =>
				({ call, row: { call }, index: items[index]! }) as unknown as AskedCall,
		);
		for (const call of calls) asked.set(call.index, call);
		return await opened.announce(calls, async (find) => {
			const steps = [{ insert: isFull ? [] : added }, ...(find ? [find] : [])];
			return await table.write(...steps);
		});
	};
	return { table, opened, announce, asked };
}

const [SENT, OPEN] = [row('sent', 1), row('open', 1)];

test.each<[string, readonly Row[], number]>([
	['a video of the day', [row('open', 1)], 1],
	['a video that has failed', [row('failed', 1)], 1],
	['none of the day before', [row('open', -1)], 0],
	['one under way since the day before', [row('sent', -1)], 1],
	['one under way whose clock is a year ahead', [row('sent', 24 * 365)], 1],
	['no claim', [row('claimed', 1)], 0],
	['no other workflow', [row('open', 1, { workflow_id: 'x' })], 0],
	['a call with its answer once', [SENT, { ...OPEN, call: SENT['call']! }], 1],
	['no call that a person has set to failed', [row('failed', 1, { task_id: '' })], 0],
])('in a day counts %s', async (_name, rows, count) => {
	const { opened } = await world(count, rows);
	await expect(opened.within([0])).rejects.toThrow(`has ${count}`);
	expect(await (await world(count + 1, rows)).opened.within([0])).toStrictEqual([0]);
});

test('counts what others add between two checks, also behind a row under way', async () => {
	const { opened, table } = await world(5, [row('open', 1), row('sent', 1), row('open', 2)]);
	expect(await opened.within([0, 1])).toStrictEqual([0, 1]);
	table.edit((each) =>
		each['status'] === 'sent' ? { ...each, status: 'open', task_id: 't' } : each,
	);
	await table.write({ insert: [row('open', 3), row('open', 3)] });
	await expect(opened.within([0])).rejects.toThrow('has 5');
	await table.write({ insert: [row('open', 4)] });
	await expect(opened.within([0])).rejects.toThrow('has 6');
});

test('takes what fits, in the order of the items, and leaves no row of the others', async () => {
	const { announce, opened, table } = await world(3, [row('open', 1)], { takesWhatFits: true });
	expect(await opened.within([4, 5, 6])).toStrictEqual([4, 5]);
	expect(await announce([4, 5, 6])).toStrictEqual([4, 5]);
	expect(table.rows()).toHaveLength(3);
});

test('announcements of one n8n come one after another, each after what the one before has sent', async () => {
	const { announce, table } = await world(3, []);
	const all = [[0, 1], [2, 3], [4]].map(
		async (items) => await announce(items).catch(() => 'refused'),
	);
	expect(await Promise.all(all)).toStrictEqual([[0, 1], 'refused', [4]]);
	expect(table.rows()).toHaveLength(3);
});

describe('announcements', () => {
	const many = (count: number, status: string) =>
		Array.from({ length: count }, () => row(status, 1));

	test('read what is new, however long a row without an answer is there', async () => {
		const { announce, opened, table } = await world(999, [
			row('sent', 0),
			...many(300, 'open'),
		]);
		await opened.within([0]);
		const write = jest.spyOn(table, 'write');
		for (let item = 0; item < 5; item += 1) {
			expect(await announce([item])).toStrictEqual([item]);
			const found = await (write.mock.results.at(-1)!.value as Promise<readonly Row[]>);
			expect(found.length).toBeLessThan(60);
		}
	});

	test('count claims that have become calls since, and rows that are committed late', async () => {
		const late = row('open', 1);
		const rows = [...many(100, 'open'), row('claimed', 1), ...many(100, 'open')];
		const { announce, opened, table } = await world(205, rows);
		await opened.within([0]);
		table.edit((each) => (each['status'] === 'claimed' ? { ...each, status: 'sent' } : each));
		await table.write({ insert: [late, row('open', 1)] });
		await expect(announce([0, 1, 2])).rejects.toThrow('has 203');
		expect(await announce([0, 1])).toStrictEqual([0, 1]);
	});

	test('count a claim of one page of a read that has become a call since', async () => {
		const rows = [row('claimed', 1), ...many(1_200, 'open')];
		const { announce, opened, table } = await world(1_202, rows);
		await opened.within([0]);
		table.edit((each) => (each['status'] === 'claimed' ? { ...each, status: 'sent' } : each));
		await expect(announce([0, 1])).rejects.toThrow('has 1201');
	});

	test('count everything again before they reject: calls of others have failed', async () => {
		const { announce, opened, table } = await world(3, [row('sent', 1), row('open', 1)]);
		await opened.within([0]);
		table.edit((each) => (each['status'] === 'sent' ? undefined : each));
		expect(await announce([0, 1])).toStrictEqual([0, 1]);
	});
});

describe('an execution', () => {
	const execution = { since: () => undefined };

	test('counts its rows in all tries, whatever their day', async () => {
		const rows = [row('open', -50), row('sent', 1), row('open', 1, { origin: 'other' })];
		await expect((await world(2, rows, execution)).opened.within([0])).rejects.toThrow('has 2');
	});

	test('counts calls that have no row, until they have certainly failed', async () => {
		const { opened, announce, asked } = await world(2, [], execution);
		await announce([0], true);
		await announce([1], true);
		await expect(opened.within([2])).rejects.toThrow('has 2');
		opened.giveBack(asked.get(1)!);
		opened.giveBack(asked.get(1)!);
		expect(await opened.within([2])).toStrictEqual([2]);
	});

	test('counts in a retry the rows at its beginning, and its own calls, also in a full table', async () => {
		const { opened, announce } = await world(3, [row('open', 1)], execution, true);
		expect(await opened.within([0, 1])).toStrictEqual([0, 1]);
		expect(await announce([0, 1], true)).toStrictEqual([0, 1]);
		await expect(announce([2], true)).rejects.toThrow('has 3');
	});
});

test('where the ledger cannot be read nothing fits', async () => {
	const { opened, table } = await world(9, []);
	table.fails = () => ({ committed: false });
	await expect(opened.within([0])).rejects.toThrow('cannot be kept: the table is away');
});
