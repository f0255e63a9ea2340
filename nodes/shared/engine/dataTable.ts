import type { IDataObject, IExecuteFunctions, INodeParameters, IWorkflowBase } from 'n8n-workflow';

import { slices } from '../../client/concurrency';
import { isPastTimeLimit, n8nClock } from './context';

/** A data table of n8n, with the types of its columns. */
export interface TableSchema {
	readonly name: string;
	readonly columns: Readonly<Record<string, 'string' | 'number' | 'boolean' | 'date'>>;
	/** Of one with the paid calls of workflows: without its own a workflow must not go on. `kept`: this use says which that is. */
	readonly ledger?: 'kept' | 'checked' | undefined;
	/** The column with a value that all rows of one insert share, and no other row has. */
	readonly write?: string;
}

/**
 * A row by column. Dates are ISO 8601 text; n8n adds `createdAt`, `updatedAt` and `id`, which grows with every inserted row. On
 * SQLite a row that is inserted after the last one was removed has its ID; on PostgreSQL a lower ID may be committed later.
 */
export type Row = IDataObject;

/** A condition on a column. A filter value that is undefined or empty meets no row. */
export type Condition =
	| readonly [column: string, condition: 'isEmpty' | 'isNotEmpty']
	| readonly [
			column: string,
			condition: 'eq' | 'lt' | 'lte' | 'gt' | 'gte' | 'like',
			value: string | number,
	  ];

/** Rows of which `all` conditions hold, or at least one of `any`. */
export type Filter =
	{ readonly all: readonly Condition[] } | { readonly any: readonly Condition[] };

/** What to do with a table. Only the first step can write rows, and only the last one can find some. */
export type Step =
	| { readonly insert: readonly Row[] }
	/** Sets the columns of each row, found by its `id`: one write for each of them. */
	| { readonly update: readonly Row[] }
	/** Sets the same columns in all rows of the filter: the last step returns these, so that with `all` it is a compare-and-set. */
	| { readonly set: Row; readonly where: Filter }
	/** Removes the rows of the filter: the last step returns these. */
	| { readonly remove: Filter }
	| Find;

/** The rows of the filter, all of them or so many: by default the oldest first, or the `newest`. */
export interface Find {
	readonly find: Filter;
	readonly limit?: number;
	/** How many rows to read first, and whether those that were read so far do. */
	readonly first?: number;
	readonly isEnough?: (rows: readonly Row[]) => boolean;
	readonly newest?: true | undefined;
}

/**
 * Rows in one read. n8n itself reads in pages of this size by their position, and skips a row where another one is removed
 * between two of them (DataTableProxy of n8n 2.41): a larger result is read by ID instead.
 */
export const PAGE = 1_000;

/** Conditions of one filter at most: a database limits the depth of an expression. */
export const MAX_CONDITIONS = 200;

/** From so many values on they are looked for by what they begin with. */
const MIN_ALIKE = 10;

/** The rows whose column has one of these values. */
export function oneOf(column: string, values: readonly unknown[]): Filter {
	return { any: values.map((value) => [column, 'eq', value as string | number]) };
}

/** The filter of rows that were read. */
export function theseRows(rows: readonly Row[]): Filter {
	return oneOf('id', [...new Set(rows.map(({ id }) => id))]);
}

/** The conditions of IDs from the first to the last of these. */
export function idRange(rows: readonly { readonly id?: unknown }[]): readonly Condition[] {
	const ids = rows.map(({ id }) => Number(id));
	return [
		['id', 'gte', Math.min(...ids)],
		['id', 'lte', Math.max(...ids)],
	];
}

/** The filters of a step, none of them too long. */
const shortFilters = (rows: Filter): readonly Filter[] =>
	'all' in rows ? [rows] : slices(rows.any, MAX_CONDITIONS).map((any) => ({ any }));

/** The step in parts; none where it has no rows. */
function inParts(step: Step): readonly Step[] {
	if (rowsOf(step)?.length === 0) return [];
	if ('set' in step) return shortFilters(step.where).map((where) => ({ ...step, where }));
	return 'remove' in step ? shortFilters(step.remove).map((remove) => ({ remove })) : [step];
}

/**
 * Errors that pass by themselves: the database is locked, too busy for another connection or transaction, or n8n connects
 * to it again. In the words of SQLite, PostgreSQL, Node.js, and n8n.
 */
const RETRYABLE =
	/SQLITE_(BUSY|LOCKED|PROTOCOL)|is locked|lock timeout|waiting for lock|obtain lock|deadlock|serialize access|transaction (within|already|is not started|is aborted)|statement timeout|conflict with recovery|already (been )?released|not connected|is not established|after calling end|not queryable|connection terminated|terminating connection|database system is|too many clients|connection slots|acquire connection|synchronization error|timed out|timeout (exceeded|expired)|read timeout|E(CONN(RESET|REFUSED|ABORTED)|PIPE|TIMEDOUT|AI_AGAIN)|perhaps it is offline/i;
/** Pauses before such a call is tried again, in milliseconds. */
const RETRY_PAUSES_MS = [500, 1_000, 2_000, 4_000];

/** IDs of the tables by workflow, name and use, in this process: finding one takes as long as writing to it. */
const tableIds = new Map<string, string>();

/** The table cannot be used. The message says why and what to do. */
export class TableError extends Error {
	override readonly name = 'TableError';

	/**
	 * @param reason This n8n has no data tables for nodes; the table of this name is another one; the ledger of the workflow
	 *   cannot be found; or a call failed.
	 */
	constructor(
		message: string,
		readonly reason: 'unsupported' | 'foreign' | 'moved' | 'failed',
	) {
		super(message);
	}
}

/** Errors of an n8n without data tables: they are turned off, or it is too old to have the node or its operations. */
const UNSUPPORTED =
	/module is disabled|Unrecognized node type|could not get parameter|reading 'execute'/i;

/**
 * Runs steps on a table of the workflow's project, and creates the table when it is missing.
 *
 * Community nodes have no access to data tables themselves: n8n's Data Table node (1.1, n8n 2.41) runs in a sub-workflow. A
 * call takes 25 to 65 ms whatever it does, so several steps and many rows go into one. After an error that passes by itself
 * it runs again: without the column `write` of the schema, rows may then be there twice.
 *
 * n8n 2.41.1, n8n-nodes-base/dist/nodes/DataTable/DataTable.node.js
 * Without it: TableError; what needs the table says so before it pays.
 *
 * @returns The rows that the last step finds, sets, updates or removes. Steps without rows are left out.
 * @throws TableError when this n8n has no data tables a node can create, when the table has other columns, or when the ledger
 *   that this workflow has used is not in its project.
 */
export async function onTable(
	context: IExecuteFunctions,
	schema: TableSchema,
	...given: readonly Step[]
): Promise<readonly Row[]> {
	const run = async (steps: readonly Step[]) => await runSteps(context, schema, steps);
	// A sub-workflow returns the rows of its last step.
	const last = given.at(-1);
	const wanted = last && 'find' in last ? last : undefined;
	const steps = given.flatMap((step) => (step === wanted ? [] : inParts(step)));
	const finds = wanted
		? shortFilters(wanted.find).map((find): Find => ({ ...wanted, find }))
		: [];
	if (!wanted || finds.length === 0) return steps.length === 0 ? [] : await run(steps);
	const alike = alikeOf(wanted);
	if (alike !== undefined) {
		const { column, values, start } = alike;
		const find = { all: [[column, 'like', `${start}%`] as const] };
		const some = await run([...steps.splice(0), { find, limit: PAGE }]);
		if (some.length < PAGE) return some.filter((row) => values.has(row[column]));
	}
	const rows: Row[] = [];
	for (const find of finds) rows.push(...(await readAll(run, steps.splice(0), find)));
	return rows;
}

/**
 * The values that a column is to have, and what all of them begin with: without an index a database compares each row with each
 * value. Numbered keys begin alike, and so does every column with that text, unless more rows have it than one read gives. Random IDs
 * have a short beginning, which most rows share.
 */
function alikeOf({ find, limit = 0 }: Find) {
	const any = 'any' in find && limit === 0 ? find.any : [];
	const [column = '', , first] = any[0] ?? [];
	const values = new Set<unknown>(
		any.flatMap(([name, condition, value]) =>
			name === column && condition === 'eq' && typeof value === 'string' ? [value] : [],
		),
	);
	if (any.length < MIN_ALIKE || values.size < any.length) return undefined;
	let start = '';
	// By code points: half of one is no text for a database.
	for (const each of String(first)) {
		if (any.some(([, , value]) => !String(value).startsWith(start + each))) break;
		start += each;
	}
	return start.length <= String(first).length / 2 ? undefined : { column, values, start };
}

/** Runs steps and a find that is read to its end, as `PAGE` says. */
async function readAll(
	run: (steps: readonly Step[]) => Promise<readonly Row[]>,
	before: readonly Step[],
	step: Find,
): Promise<readonly Row[]> {
	const { find, limit = 0, first = PAGE, isEnough } = step;
	const rows = [...(await run([...before, limit > 0 ? step : { ...step, limit: first }]))];
	if (limit > 0 || rows.length < first) return rows;
	const found = new Map(rows.map((row) => [row['id'], row]));
	for (const each of 'all' in find ? [find.all] : find.any.map((one) => [one])) {
		for (let part: readonly Row[] | undefined; part === undefined || part.length === PAGE;) {
			if (isEnough?.([...found.values()])) break;
			const last = 'all' in find && part === undefined ? rows : part;
			const after = ['id', 'gt', Number(last?.at(-1)?.['id'] ?? 0)] as const;
			part = await run([{ find: { all: [...each, after] }, limit: PAGE }]);
			for (const row of part) found.set(row['id'], row);
		}
	}
	return [...found.values()];
}

/** Runs steps, and again after an error that passes by itself. */
async function runSteps(
	context: IExecuteFunctions,
	schema: TableSchema,
	steps: readonly Step[],
): Promise<readonly Row[]> {
	const clock = n8nClock(context);
	const pausesMs = [...RETRY_PAUSES_MS];
	const { id: workflow } = context.getWorkflow();
	// Tables are those of the project of a workflow.
	if (!workflow)
		throw new TableError(
			`The data table ${schema.name} cannot be used: n8n's own Agents have no workflow`,
			'unsupported',
		);
	// What a node that waits has found is not checked.
	const key = [workflow, schema.name, schema.ledger].join(' ');
	for (let isAgain = false; ;) {
		const known = tableIds.get(key);
		try {
			const id = known ?? (await findTable(context, schema));
			tableIds.set(key, id);
			const repeated = isAgain ? rowsOfInsert(schema, steps[0]!) : [];
			const found = repeated.length > 0 ? await runOn(context, id, schema, repeated) : [];
			// n8n inserts all rows or none.
			const left = found.length > 0 ? steps.slice(1) : steps;
			const rows = left.length === 0 ? [] : await runOn(context, id, schema, left);
			// An execution in the editor may have found the table, of which n8n saves no static data.
			if (schema.ledger === 'kept') ledgersOf(context)[schema.name] ??= id;
			return rows;
		} catch (error) {
			const { message } = error as Error;
			if (known !== undefined && /not (be found|find)/i.test(message)) {
				// Somebody has deleted the table since, or moved the workflow to another project.
				tableIds.delete(key);
				continue;
			}
			const pauseMs = RETRYABLE.test(message) ? pausesMs.shift() : undefined;
			if (pauseMs === undefined) throw toTableError(schema, error as Error);
			isAgain = true;
			// Also after Stop: what is paid for has to be written.
			await clock.sleep(pauseMs).catch(() => undefined);
		}
	}
}

/** The step that finds the rows of an insert: an error says nothing about what was committed. */
function rowsOfInsert({ write = '' }: TableSchema, step: Step): readonly Step[] {
	const value = 'insert' in step ? step.insert[0]![write] : undefined;
	return value ? [{ find: { all: [[write, 'eq', value as string]] }, limit: 1 }] : [];
}

/** The table of the project with the name of the schema. */
async function tableWithName(context: IExecuteFunctions, { name }: TableSchema) {
	const options = { filterName: name };
	const list = { resource: 'table', operation: 'list', returnAll: true, options };
	return (await runNodes(context, [list])).find((table) => table['name'] === name);
}

/** The rows that a step writes; undefined for another step. */
function rowsOf(step: Step): readonly Row[] | undefined {
	if ('insert' in step) return step.insert;
	return 'update' in step ? step.update : undefined;
}

function toTableError({ name }: TableSchema, error: Error): TableError {
	if (error instanceof TableError) return error;
	return new TableError(
		`The data table ${name} cannot be used: ${error.message}. It needs n8n 2 with data tables enabled, and space in them`,
		UNSUPPORTED.test(error.message) ? 'unsupported' : 'failed',
	);
}

/** Columns that only a ledger has. */
const LEDGER_MARKS = ['origin', 'call', 'token'];

/**
 * The ID of the table. If there is none it is created.
 *
 * @throws TableError when it has other columns, or when it is not the ledger that the workflow has used.
 */
async function findTable(context: IExecuteFunctions, schema: TableSchema): Promise<string> {
	const found = await tableWithName(context, schema);
	const wanted = Object.entries(schema.columns).map(([name, type]) => ({ name, type }));
	const creation = {
		resource: 'table',
		operation: 'create',
		tableName: schema.name,
		columns: { column: wanted },
		options: { createIfNotExists: false },
	};
	const created = async () =>
		await runNodes(context, [creation]).catch(async (error: unknown) => {
			// Of several executions that create the missing table at once, one succeeds.
			const other = await tableWithName(context, schema);
			if (other === undefined) throw error;
			return [other];
		});
	const table = found ?? (await created())[0]!;
	const columns = table['columns'] as typeof wanted | undefined;
	const missing = wanted.filter(({ name, type }) =>
		columns?.every((column) => column.name !== name || column.type !== type),
	);
	if (missing.length > 0) {
		// A ledger that a person has changed: its rows may be of calls that a retry must know.
		const isChanged = columns!.some(({ name }) => LEDGER_MARKS.includes(name));
		const texts = missing.map(({ name, type }) => `${name} (${type})`).join(', ');
		throw new TableError(
			`The data table ${schema.name} has other columns than this node writes. It needs also ${texts}: add them${isChanged ? '' : '. Or rename the table: the node then creates its own'}`,
			isChanged ? 'failed' : 'foreign',
		);
	}
	const id = table['id'] as string;
	if (schema.ledger) await checkLedger(context, schema, id);
	return id;
}

/** The IDs of the ledgers that the workflow has used, by name. n8n saves them only where one was added. */
function ledgersOf(context: IExecuteFunctions): Record<string, unknown> {
	const data = context.getWorkflowStaticData('global');
	return (data['agentVideoTables'] ??= {}) as Record<string, unknown>;
}

/**
 * Checks that a ledger is the one that the workflow has used. Its ID stands in the static data, which goes with the workflow
 * into another project; n8n saves it in production executions. Where there is another one, a row of the workflow in it says
 * that a person wants to go on with it.
 */
async function checkLedger(
	context: IExecuteFunctions,
	schema: TableSchema,
	id: string,
): Promise<void> {
	const ledgers = ledgersOf(context);
	if ((ledgers[schema.name] ?? id) === id) return;
	const workflow = String(context.getWorkflow().id);
	const find = { all: [['workflow_id', 'eq', workflow] as const] };
	if ((await runOn(context, id, schema, [{ find, limit: 1 }])).length === 0)
		throw new TableError(
			`The data table ${schema.name} with the paid calls of this workflow is not in its project: the workflow was moved, or the table was deleted or renamed. Move the workflow back; or download that table as CSV, and import it into ${schema.name} of this project. To start without it, add a row here with the workflow_id ${workflow}`,
			'moved',
		);
	ledgers[schema.name] = id;
}

/** A row as n8n reads it; what it changes or removes has dates as objects. */
function withIsoDates(row: Row): Row {
	return Object.fromEntries(
		Object.entries(row).map(([name, value]) => [
			name,
			(value as unknown) instanceof Date ? (value as unknown as Date).toISOString() : value,
		]),
	);
}

/** Runs steps on the table with this ID. */
async function runOn(
	context: IExecuteFunctions,
	tableId: string,
	{ columns }: TableSchema,
	steps: readonly Step[],
): Promise<readonly Row[]> {
	const dataTableId = { __rl: true, mode: 'id', value: tableId };
	const nodes = steps.map((step) => ({ resource: 'row', dataTableId, ...parametersOf(step) }));
	const rows = rowsOf(steps[0]!) ?? [];
	const given = rows.map((row) => withTexts(row, columns));
	const found = await runNodes(context, nodes, given);
	return found.filter(({ id }) => id !== undefined).map(withIsoDates);
}

function parametersOf(step: Step): INodeParameters {
	if ('insert' in step)
		return { operation: 'insert', columns: FROM_INPUT, options: { optimizeBulk: true } };
	if ('update' in step) {
		const id = { keyName: 'id', condition: 'eq', keyValue: '={{ $json.id }}' };
		const filters = { conditions: [id] };
		return { operation: 'update', columns: FROM_INPUT, matchType: 'allConditions', filters };
	}
	if ('set' in step) {
		const values = Object.entries(step.set).map(([name, each]) => [name, literal(each)]);
		const value = Object.fromEntries(values) as INodeParameters;
		const columns = { mappingMode: 'defineBelow', value };
		return { operation: 'update', columns, ...toFilters(step.where) };
	}
	if ('remove' in step) return { operation: 'deleteRows', ...toFilters(step.remove) };
	const { find, limit = 0, newest } = step;
	const orderByDirection = newest ? 'DESC' : 'ASC';
	const order = { orderBy: true, orderByColumn: 'id', orderByDirection };
	const amount = limit > 0 ? { limit } : { returnAll: true };
	return { operation: 'get', ...toFilters(find), ...amount, ...order };
}

const FROM_INPUT = { mappingMode: 'autoMapInputData', value: {} };

function toFilters(filter: Filter): INodeParameters {
	const [matchType, conditions] =
		'all' in filter ? ['allConditions', filter.all] : ['anyCondition', filter.any];
	return {
		matchType,
		filters: {
			conditions: conditions.map(([keyName, condition, keyValue]) => ({
				keyName,
				condition,
				...(keyValue === undefined ? {} : { keyValue: literal(keyValue) }),
			})),
		},
	} as INodeParameters;
}

/** The value as a parameter: a text that n8n would take for an expression becomes one that returns it. */
function literal(value: unknown): unknown {
	if (typeof value !== 'string' || !value.startsWith('=')) return value;
	const escaped = JSON.stringify(value).replace(
		/[{}]/g,
		(brace) => `\\u00${brace.charCodeAt(0).toString(16)}`,
	);
	return `={{ ${escaped} }}`;
}

/** Runs Data Table nodes one after another in a sub-workflow, the first of them with these items. */
async function runNodes(
	context: IExecuteFunctions,
	parameters: readonly INodeParameters[],
	items: readonly Row[] = [],
): Promise<readonly Row[]> {
	const trigger = { type: 'executeWorkflowTrigger', parameters: { inputSource: 'passthrough' } };
	const steps = parameters.map((each) => ({ type: 'dataTable', parameters: each }));
	const nodes = [trigger, ...steps].map(({ type, ...each }, index) => ({
		...each,
		id: `${index}`,
		name: `Step ${index}`,
		type: `n8n-nodes-base.${type}`,
		typeVersion: 1.1,
		position: [0, 0],
		// The next step has to run where this one returns no row.
		alwaysOutputData: true,
		executeOnce: index > 1,
	}));
	const connections = Object.fromEntries(
		nodes.slice(1).map(({ name }, index) => {
			return [nodes[index]!.name, { main: [[{ node: name, type: 'main', index: 0 }]] }];
		}),
	);
	// This is all that n8n needs to run a sub-workflow. Its type also requires fields of a saved workflow, such as an ID.
	const code = {
		name: 'Data table of Agent Video',
		nodes,
		connections,
		settings: {
			executionOrder: 'v1',
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
			saveExecutionProgress: false,
		},
	} as unknown as IWorkflowBase;
	const input = items.length === 0 ? [{ json: {} }] : items.map((row) => ({ json: row }));
	// What is written last is not lost then; nothing can be read.
	const options = { doNotWaitToFinish: isPastTimeLimit(context) };
	const { data } = await context.executeWorkflow({ code }, input, undefined, options);
	return (data[0] ?? []).map(({ json }) => json);
}

/**
 * The row with texts in its text columns, also where the service has sent a number or an object: n8n rejects a whole batch
 * for one of them. PostgreSQL takes no NUL character.
 */
function withTexts(row: Row, columns: TableSchema['columns']): Row {
	const toText = (value: unknown) =>
		(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\0', '');
	return Object.fromEntries(
		Object.entries(row).map(([name, value]) => [
			name,
			columns[name] === 'string' && value != null ? toText(value) : value,
		]),
	);
}
