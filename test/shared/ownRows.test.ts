import type { IExecuteFunctions, IWorkflowBase } from 'n8n-workflow';

import { oneOf } from '../../nodes/shared/engine/dataTable';
import type { Origin } from '../../nodes/shared/ledger/origin';
import { ownRows } from '../../nodes/shared/ledger/ownRows';
import { RESERVATION_MS } from '../../nodes/shared/ledger/paidCall';
import { TASK_TABLE } from '../../nodes/shared/ledger/taskTable';
import { dataTables } from '../support/dataTables';
import { fakeClock } from '../support/fakeClock';

const ORIGIN: Origin = {
	origin: 'o',
	root: '11',
	own: 'own',
	isAlone: false,
	isRetry: false,
	hasPosition: true,
};
const OWN = { origin: 'o', execution_id: '11' };

/** The rows of a run with so many calls, and the columns by which the last steps chose rows. */
function start(calls: number, origin: Partial<Origin> = {}) {
	const [tables, clock] = [dataTables(), fakeClock()];
	let columns: unknown[] = [];
	const context = {
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowStaticData: () => ({}),
		getExecutionCancelSignal: () => undefined,
		executeWorkflow: async ({ code }: { code: IWorkflowBase }, inputData: []) => {
			columns = code.nodes.flatMap(({ parameters }) => {
				const { conditions = [] } = (parameters['filters'] ?? {}) as {
					conditions?: { keyName: string }[];
				};
				return conditions.map(({ keyName }) => keyName);
			});
			return await tables.executeWorkflow({ code }, {}, { inputData });
		},
	} as unknown as IExecuteFunctions;
	const rows = ownRows(context, TASK_TABLE, clock, { ...ORIGIN, ...origin }, calls);
	const insert = async (...pending: readonly string[]) =>
		await rows.onLedger([
			{ insert: pending.map((each) => ({ ...OWN, status: 'sent', pending: each })) },
		]);
	return { tables, clock, rows, insert, columns: () => columns };
}

const REMOVAL = { remove: { any: [['pending', 'eq', 'a'] as const] } };

test('of many calls a row is removed by its ID', async () => {
	const { tables, rows, insert, columns } = start(100);
	await insert('a', 'b');
	await rows.onLedger([REMOVAL]);
	expect(columns()).toStrictEqual(['id']);
	expect(tables.rows.map(({ pending }) => pending)).toStrictEqual(['b']);
});

test('a row that n8n has inserted twice is removed twice', async () => {
	const { tables, rows, insert } = start(100);
	await insert('a', 'a');
	await rows.onLedger([REMOVAL]);
	expect(tables.rows).toStrictEqual([]);
});

test('many values are looked for in parts, as a database limits the conditions of a statement', async () => {
	const { tables, rows, insert } = start(1);
	const names = Array.from({ length: 450 }, (_, index) => `${index}`);
	await insert(...names);
	tables.operations.length = 0;
	const [found, removed] = [names.slice(1), names.slice(0, 449)];
	const read = await rows.onLedger([{ find: oneOf('pending', found) }]);
	expect(read.map(({ pending }) => pending)).toStrictEqual(found);
	await rows.onLedger([{ remove: oneOf('pending', removed) }]);
	expect(tables.rows.map(({ pending }) => pending)).toStrictEqual(['449']);
	const three = (name: string) => [name, name, name];
	expect(tables.operations).toStrictEqual([...three('get'), ...three('deleteRows')]);
});

test('a table that another execution has created at the same moment is used', async () => {
	const { tables, insert } = start(1);
	tables.fails = (operation) => {
		if (operation !== 'create') return undefined;
		tables.insert(TASK_TABLE);
		// As PostgreSQL says it.
		return 'duplicate key value violates unique constraint "UQ_b23"';
	};
	await insert('a');
	expect(tables.rows.map(({ pending }) => pending)).toStrictEqual(['a']);
});

test('of few calls the IDs are not read', async () => {
	const { tables, rows, insert, columns } = start(1);
	await insert('a');
	expect(tables.operations).not.toContain('get');
	await rows.onLedger([REMOVAL]);
	expect(columns()).toStrictEqual(['pending']);
	expect(tables.rows).toStrictEqual([]);
});

test('a retry reads what another one writes, also where it becomes visible late', async () => {
	const { tables, insert } = start(1, { isRetry: true });
	await insert('a');
	tables.insert(TASK_TABLE, { ...OWN, execution_id: '12', pending: 'other' });
	expect((await insert('b')).map(({ pending }) => pending)).toStrictEqual(['a', 'other', 'b']);
});

test('reservations are prolonged from time to time, by IDs, until they have expired', async () => {
	const { tables, clock, rows } = start(100);
	rows.hold();
	const reserved = { ...OWN, status: 'reserved', pending: 'key a' };
	await rows.onLedger([{ insert: [{ ...reserved, sent_at: new Date(0).toISOString() }] }]);
	const sentAtMs = () => Date.parse(String(tables.rows[0]!['sent_at']));
	for (const [waitedMs, expectedMs] of [
		[1_000, 0],
		[29_000, 30_000],
		[RESERVATION_MS + 1, 30_000],
	] as const) {
		await clock.sleep(waitedMs);
		await rows.onLedger([]);
		expect(sentAtMs()).toBe(expectedMs);
	}
	expect(rows.isHeld()).toBe(false);
});
