import type { IExecuteFunctions, IWorkflowBase } from 'n8n-workflow';

import { oneOf, onTable, PAGE, type Row } from '../../nodes/shared/engine/dataTable';

const SCHEMA = { name: 'things', columns: { key: 'string' } } as const;
interface Filters {
	readonly conditions: readonly { keyName: string; condition: string; keyValue: unknown }[];
}

/** Runs a find of these keys in a table of these rows; returns the rows, and what each read has compared. */
async function find(keys: readonly string[], table: readonly Row[]) {
	const reads: string[] = [];
	const executeWorkflow = async ({ code }: { code: IWorkflowBase }) => {
		const { parameters } = code.nodes.at(-1)!;
		if (parameters['operation'] === 'list')
			return await Promise.resolve({
				data: [[{ json: { id: 't', ...SCHEMA, columns: COLUMNS } }]],
			});
		const { conditions } = parameters['filters'] as unknown as Filters;
		const kinds = new Set(conditions.map(({ condition }) => condition));
		reads.push(`${conditions.length} ${[...kinds].join()}`);
		const isMet = (row: Row) =>
			conditions.some(({ condition, keyValue }) =>
				condition === 'like'
					? String(row['key']).startsWith(String(keyValue).slice(0, -1))
					: row['key'] === keyValue,
			);
		const rows = table.filter(isMet).slice(0, parameters['limit'] as number);
		return { data: [rows.map((json) => ({ json }))] };
	};
	const context = {
		getWorkflow: () => ({ id: `w${Math.random()}` }),
		getExecutionCancelSignal: () => undefined,
		executeWorkflow,
	} as unknown as IExecuteFunctions;
	const rows = await onTable(context, SCHEMA, { find: oneOf('key', keys) });
	return { ids: rows.map(({ id }) => id), reads };
}
const COLUMNS = [{ name: 'key', type: 'string' }];
const numbered = (count: number, start: string) =>
	Array.from({ length: count }, (_, index) => `${start}${index}`);
const tableOf = (keys: readonly string[]) => keys.map((key, id) => ({ id, key }));

describe('a find of many values', () => {
	test('that begin alike compares each row once, and gives those with one of the values', async () => {
		const table = tableOf(['order-7', 'order-', 'order-70000', 'other', 'order-299']);
		const { ids, reads } = await find(numbered(300, 'order-'), table);
		expect(ids).toStrictEqual([0, 4]);
		expect(reads).toStrictEqual(['1 like']);
	});

	test('that begin as very many others do compares them with each value', async () => {
		// What is looked for stands behind the first page.
		const table = tableOf(numbered(2 * PAGE, 'order-').toReversed());
		const { ids } = await find(numbered(300, 'order-1'), table);
		expect(ids).toHaveLength(300);
	});
});
