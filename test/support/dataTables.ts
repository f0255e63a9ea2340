import {
	DATA_TABLE_SYSTEM_COLUMN_TYPE_MAP,
	validateFieldType,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type IWorkflowBase,
} from 'n8n-workflow';

/** A fake of n8n's data tables: runs the sub-workflows that access tables on rows in memory. */
export interface DataTables {
	/** The rows of all tables, without the columns that n8n adds. */
	readonly rows: readonly IDataObject[];
	/** The operations on rows so far, in order. */
	readonly operations: string[];
	/** Number of sub-workflows so far. */
	readonly calls: number;
	/** How often n8n would have added up the sizes of all tables: before each insert of rows, and for each item of an update. */
	readonly sizeSums: number;
	/** Rejects every operation, like an n8n without data tables. */
	disabled: boolean;
	/** Says why an operation ('list', 'create', 'insert', 'update', …) fails, e.g. when the table is locked or full. */
	fails: (operation: string) => string | undefined;
	/** Says why an operation fails that was committed. */
	failsLate: (operation: string) => string | undefined;
	/** Inserts rows, and creates the table when it is missing. */
	readonly insert: (schema: Schema, ...rows: readonly IDataObject[]) => void;
	/** Changes cells of rows in place, as a person does in n8n. */
	readonly edit: (isMeant: (row: IDataObject) => boolean, cells: IDataObject) => void;
	/** Deletes a table. */
	readonly drop: (name: string) => void;
	readonly executeWorkflow: (
		info: { readonly code?: IWorkflowBase },
		additionalData: { readonly executionTimeoutTimestamp?: number },
		options: {
			readonly inputData?: INodeExecutionData[];
			readonly doNotWaitToFinish?: boolean;
		},
	) => Promise<{ executionId: string; data: (INodeExecutionData[] | null)[] }>;
}

interface Schema {
	readonly name: string;
	readonly columns: Readonly<Record<string, ColumnType>>;
}

type Cell = string | number;
type ColumnType = 'string' | 'number' | 'boolean' | 'date';

interface Table extends Schema {
	readonly id: string;
	rows: IDataObject[];
}

interface Condition {
	readonly keyName: string;
	readonly condition?: string;
	readonly keyValue?: unknown;
}

/** IDs are unique in this process, as in n8n: a node may know the ID of a table that an earlier test had. */
let lastId = 0;

/** Fakes the operations of n8n's Data Table node 1.1 that this package uses; the end-to-end tests use the real ones. */
export function dataTables(): DataTables {
	let tables: Table[] = [];
	let calls = 0;
	let sizeSums = 0;
	const operations: string[] = [];

	const fake: DataTables = {
		get rows() {
			return tables.flatMap(({ rows }) => rows.map(withoutSystemColumns));
		},
		get calls() {
			return calls;
		},
		get sizeSums() {
			return sizeSums;
		},
		operations,
		disabled: false,
		fails: () => undefined,
		failsLate: () => undefined,
		insert: ({ name, columns }, ...rows) => {
			insertRows(tables.find((table) => table.name === name) ?? create(name, columns), rows);
		},
		edit: (isMeant, cells) => {
			for (const row of tables.flatMap(({ rows }) => rows).filter(isMeant))
				Object.assign(row, cells);
		},
		drop: (name) => {
			tables = tables.filter((table) => table.name !== name);
		},
		executeWorkflow: async ({ code }, { executionTimeoutTimestamp }, options) => {
			const { inputData = [], doNotWaitToFinish = false } = options;
			calls += 1;
			// As in n8n, nothing is done before the caller goes on.
			await Promise.resolve();
			// n8n passes the time limit of an execution on to the sub-workflows that it waits for, and ends them at once.
			const isOver = Date.now() >= (executionTimeoutTimestamp ?? Infinity);
			if (isOver && !doNotWaitToFinish) return { executionId: '2', data: [[]] };
			const [trigger, ...steps] = inOrder(code!);
			let items = inputData.map(({ json }) => json);
			const atTrigger = { [trigger!.name]: items };
			for (const node of steps) {
				if (items.length === 0) break;
				const input = node.executeOnce === true ? items.slice(0, 1) : items;
				items = runNode(node, input, atTrigger);
				const failure = fake.failsLate(String(node.parameters['operation']));
				if (failure !== undefined) throw new Error(failure);
				if (items.length === 0 && node.alwaysOutputData === true) items = [{}];
			}
			const json = structuredClone(items);
			const rows = json.map((each) => ({ json: each }));
			return { executionId: '2', data: [doNotWaitToFinish ? null : rows] };
		},
	};

	function create(name: string, columns: Schema['columns']): Table {
		if (tables.some((table) => table.name === name))
			throw new Error(`Data table with name '${name}' already exists in this project`);
		const table = { id: `table-${(lastId += 1)}`, name, columns, rows: [] };
		tables.push(table);
		return table;
	}

	function runNode(
		{ parameters }: INode,
		items: readonly IDataObject[],
		earlier: Readonly<Record<string, readonly IDataObject[]>>,
	): IDataObject[] {
		const { resource, operation } = parameters as Record<string, string>;
		if (fake.disabled) throw new Error('the module is disabled');
		if (resource === 'row') operations.push(operation!);
		const failure = fake.fails(operation!);
		if (failure !== undefined) throw new Error(failure);
		const resolved = items.map((json, index) => {
			const at = (name: string) => ({ item: { json: earlier[name]![index] } });
			return resolve(parameters, json, at) as IDataObject;
		});
		if (operation === 'insert') sizeSums += 1;
		if (operation === 'update') sizeSums += items.length;
		if (operation === 'insert')
			return insert(
				resolved[0]!,
				resolved.map((each, index) => dataOf(each, items[index]!)),
			);
		const work = (resource === 'table' ? TABLE_OPERATIONS : ROW_OPERATIONS)[operation!];
		if (work === undefined) throw new Error(`The fake has no operation ${operation}`);
		return resolved.flatMap((each, index) => work(each, items[index]!));
	}

	function insert(parameters: IDataObject, rows: readonly IDataObject[]): IDataObject[] {
		const inserted = insertRows(tableOf(parameters), rows);
		const { optimizeBulk } = (parameters['options'] ?? {}) as IDataObject;
		return optimizeBulk === true ? [{ success: true, insertedRows: rows.length }] : inserted;
	}

	const TABLE_OPERATIONS: Operations = {
		list: ({ options }) => {
			const { filterName = '' } = options as { filterName?: string };
			const part = filterName.toLowerCase();
			return tables.filter(({ name }) => name.toLowerCase().includes(part)).map(describe);
		},
		create: ({ tableName, columns }) => {
			const given = (columns as { column: { name: string; type: ColumnType }[] }).column;
			const types = Object.fromEntries(given.map((column) => [column.name, column.type]));
			return [describe(create(tableName as string, types))];
		},
	};

	const ROW_OPERATIONS: Operations = {
		get: (parameters) => {
			const found = find(parameters);
			if (parameters['orderBy'] === true)
				sort(
					found,
					parameters['orderByColumn'] as string,
					parameters['orderByDirection'] as string,
				);
			const { returnAll = false, limit = 50 } = parameters;
			return returnAll === true ? found : found.slice(0, limit as number);
		},
		update: (parameters, json) => {
			const cells = toCells(tableOf(parameters), dataOf(parameters, json));
			const updatedAt = new Date().toISOString();
			return atLeastOneCondition(parameters).map((row) =>
				Object.assign(row, cells, { updatedAt }),
			);
		},
		deleteRows: (parameters) => {
			const table = tableOf(parameters);
			const removed = atLeastOneCondition(parameters);
			table.rows = table.rows.filter((row) => !removed.includes(row));
			return removed;
		},
	};

	function tableOf({ dataTableId }: IDataObject): Table {
		const id = (dataTableId as { value: string }).value;
		const table = tables.find((each) => each.id === id);
		if (table === undefined) throw new Error(`Could not find the data table: '${id}'`);
		return table;
	}

	function find(parameters: IDataObject): IDataObject[] {
		const table = tableOf(parameters);
		const { matchType = 'anyCondition', filters } = parameters;
		const conditions = conditionsOf(filters);
		const tests = conditions.map((condition) => toTest(table, condition));
		if (tests.length === 0) return [...table.rows];
		return table.rows.filter((row) =>
			matchType === 'allConditions'
				? tests.every((test) => test(row))
				: tests.some((test) => test(row)),
		);
	}

	function atLeastOneCondition(parameters: IDataObject): IDataObject[] {
		if (conditionsOf(parameters['filters']).length === 0)
			throw new Error('At least one condition is required');
		return find(parameters);
	}

	return fake;
}

/** The same tables for an execution of which each sub-workflow waits: `before` has its operations on rows. */
export const held = (
	tables: DataTables,
	before: (operations: readonly unknown[]) => Promise<unknown> | undefined,
): DataTables => ({
	...tables,
	executeWorkflow: async (info, ...more) => {
		await before(rowOperations(info));
		return await tables.executeWorkflow(info, ...more);
	},
});

/** The operations on rows of a sub-workflow. */
export const rowOperations = ({ code }: Parameters<DataTables['executeWorkflow']>[0]) =>
	code!.nodes
		.filter(({ parameters }) => parameters['resource'] === 'row')
		.map(({ parameters }) => parameters['operation']);

type Operations = Readonly<
	Record<string, (parameters: IDataObject, json: IDataObject) => IDataObject[]>
>;

/** The nodes of a sub-workflow that is a chain, in the order in which they run. */
function inOrder({ nodes, connections }: IWorkflowBase): INode[] {
	const chain = [nodes.find(({ type }) => type.endsWith('executeWorkflowTrigger'))!];
	for (let next; (next = connections[chain.at(-1)!.name]?.['main']?.[0]?.[0]);)
		chain.push(nodes.find(({ name }) => name === next.node)!);
	return chain;
}

/** Parameters with their expressions evaluated: those of the sub-workflows read one field of an item, or return a text. */
function resolve(
	value: unknown,
	json: IDataObject,
	at: (name: string) => { item: { json: unknown } },
): unknown {
	if (typeof value === 'object' && value !== null) {
		const entries = Object.entries(value).map(([key, each]) => [key, resolve(each, json, at)]);
		return Array.isArray(value) ? entries.map(([, each]) => each) : Object.fromEntries(entries);
	}
	if (typeof value !== 'string' || !value.startsWith('=')) return value;
	const expression = /^=\{\{ (.*) \}\}$/s.exec(value)?.[1] ?? '';
	const [, node, column] = /^(?:\$json|\$\('(.*)'\)\.item\.json)\.(\w+)$/.exec(expression) ?? [];
	if (column === undefined) return JSON.parse(expression) as unknown;
	return ((node === undefined ? json : at(node).item.json) as IDataObject)[column];
}

function describe({ id, name, columns }: Table): IDataObject {
	return {
		id,
		name,
		columns: Object.entries(columns).map(([column, type], index) => ({
			id: `${id}-${index}`,
			name: column,
			type,
			index,
		})),
	};
}

/** The columns to write: those of the item, or those of the form. */
function dataOf({ columns }: IDataObject, json: IDataObject): IDataObject {
	const { mappingMode, value } = columns as { mappingMode: string; value: IDataObject };
	return mappingMode === 'autoMapInputData' ? withoutSystemColumns(json) : value;
}

function withoutSystemColumns(row: IDataObject): IDataObject {
	return Object.fromEntries(
		Object.entries(row).filter(([name]) => !(name in DATA_TABLE_SYSTEM_COLUMN_TYPE_MAP)),
	);
}

function insertRows(table: Table, rows: readonly IDataObject[]): IDataObject[] {
	const empty = Object.fromEntries(Object.keys(table.columns).map((name) => [name, null]));
	const now = new Date().toISOString();
	const times = { createdAt: now, updatedAt: now };
	const cells = rows.map((row) => toCells(table, row));
	const inserted = cells.map((row) => ({ id: (lastId += 1), ...empty, ...row, ...times }));
	table.rows.push(...inserted);
	return inserted;
}

/** The values as n8n stores them, by the types of the columns. */
function toCells(table: Table, row: IDataObject): IDataObject {
	const entries = Object.entries(row);
	if (entries.length === 0) throw invalid('Data columns must not be empty');
	return Object.fromEntries(
		entries.map(([name, value]) => {
			const type = table.columns[name];
			if (type === undefined) throw invalid(`unknown column name '${name}'`);
			return [name, toCell(name, value ?? null, type)];
		}),
	);
}

function toCell(name: string, value: unknown, type: ColumnType): IDataObject[string] {
	if (value === null) return null;
	if (typeof value === 'object')
		throw new Error(`unexpected object input '${JSON.stringify(value)}'`);
	const fieldType = type === 'date' ? 'dateTime' : type;
	const checked = validateFieldType(name, value, fieldType, {
		strict: false,
		parseStrings: false,
	});
	if (!checked.valid)
		throw invalid(`value '${String(value)}' does not match column type '${type}'`);
	if (type !== 'date') return checked.newValue;
	return new Date(
		(checked.newValue as unknown as { toMillis(): number }).toMillis(),
	).toISOString();
}

function conditionsOf(filters: unknown): readonly Condition[] {
	return (filters as { conditions?: Condition[] } | undefined)?.conditions ?? [];
}

/** The conditions that compare a cell that is not empty with a value. */
const COMPARISONS: Readonly<Record<string, (cell: Cell, value: Cell) => boolean>> = {
	lt: (cell, value) => cell < value,
	lte: (cell, value) => cell <= value,
	gt: (cell, value) => cell > value,
	gte: (cell, value) => cell >= value,
	like: (cell, value) => String(cell).startsWith(String(value).replace(/%$/, '')),
};

/** Whether a row meets the condition. As in SQL, an empty cell is neither equal to a value nor less than it. */
function toTest(
	{ columns }: Table,
	{ keyName, condition = 'eq', keyValue }: Condition,
): (row: IDataObject) => boolean {
	const type = columns[keyName] ?? DATA_TABLE_SYSTEM_COLUMN_TYPE_MAP[keyName];
	if (type === undefined)
		throw new Error(
			`Filter validation failed: Column(s) "${keyName}" do not exist in the selected table.`,
		);
	const isEmpty = (row: IDataObject) =>
		row[keyName] === null || (type === 'string' && row[keyName] === '');
	if (condition === 'isEmpty') return isEmpty;
	if (condition === 'isNotEmpty') return (row) => !isEmpty(row);
	const value = toCell(keyName, keyValue, type);
	if (condition === 'eq') return (row) => row[keyName] === value;
	const compare = COMPARISONS[condition];
	if (compare !== undefined)
		return (row) => row[keyName] !== null && compare(row[keyName] as Cell, value as Cell);
	throw new Error(`The fake has no condition ${condition}`);
}

function sort(rows: IDataObject[], column: string, direction = 'ASC'): void {
	const sign = direction === 'ASC' ? 1 : -1;
	rows.sort((a, b) => (a[column]! < b[column]! ? -sign : a[column]! > b[column]! ? sign : 0));
}

function invalid(problem: string): Error {
	return new Error(`Validation error with data table request: ${problem}`);
}
