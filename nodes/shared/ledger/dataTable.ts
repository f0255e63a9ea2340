import type { IDataObject, IExecuteFunctions, INodeParameters, IWorkflowBase } from 'n8n-workflow';

import { slices } from '../../client/concurrency';
import { objectOf } from '../../client/json';
import { n8nClock } from '../run/nodeContext';
import { isPastTimeLimit } from '../engine/execution';

/** A data table of n8n, with the types of its columns. */
export interface TableSchema {
	readonly name: string;
	readonly columns: Readonly<Record<string, 'string' | 'number' | 'boolean' | 'date'>>;
	/** Which rows nobody waits for; by default all. */
	readonly finished?: readonly Condition[];
}

/** A row by column. Dates are ISO 8601 text; n8n adds `id`, which grows with every inserted row, `createdAt` and `updatedAt`. */
export type Row = IDataObject;

/** A condition on a column. */
export type Condition =
	| readonly [column: string, condition: 'isEmpty' | 'isNotEmpty']
	| readonly [
			column: string,
			condition: 'eq' | 'neq' | 'lt' | 'gt' | 'gte' | 'like',
			value: string | number,
	  ];

/** Rows of which `all` conditions hold, or at least one of `any`. */
export type Filter =
	{ readonly all: readonly Condition[] } | { readonly any: readonly Condition[] };

/** What to do with a table. Steps after the first one that writes `rows` take no rows of their own. */
export type Step =
	| { readonly insert: readonly Row[] }
	/** Sets the columns of each row, found by its `id`. */
	| { readonly update: readonly Row[] }
	/** Sets the same columns in all rows of the filter, and returns these. */
	| { readonly set: Row; readonly where: Filter }
	| { readonly remove: Filter }
	/**
	 * The rows of the filter, or the first of them: by default the oldest, or the `newest`. Where this is `optional`, a missing
	 * table is not created for it.
	 */
	| {
			readonly find: Filter;
			readonly limit?: number;
			readonly orderBy?: string;
			readonly newest?: true | undefined;
			readonly optional?: true;
	  };

/** n8n reads rows in pages of this size: a larger result fails where other rows are written meanwhile. */
export const PAGE = 1_000;

/** Conditions of one filter: a database limits the depth of an expression. */
const MAX_CONDITIONS = 200;

/** The rows whose column has one of these values. */
export function oneOf(column: string, values: readonly unknown[]): Filter {
	return { any: values.map((value) => [column, 'eq', value as string | number]) };
}

/** The step for other rows: one step for each filter. None where it has no rows to write. */
export function forRows(step: Step, change: (rows: Filter) => readonly Filter[]): readonly Step[] {
	if (rowsOf(step)?.length === 0) return [];
	if ('find' in step) return change(step.find).map((find) => ({ ...step, find }));
	if ('set' in step) return change(step.where).map((where) => ({ ...step, where }));
	return 'remove' in step ? change(step.remove).map((remove) => ({ remove })) : [step];
}

const inParts = (rows: Filter): readonly Filter[] =>
	'all' in rows ? [rows] : slices(rows.any, MAX_CONDITIONS).map((any) => ({ any }));

/**
 * Errors that pass by themselves: the database is locked, too busy for another connection or transaction, or n8n connects
 * to it again. In the words of SQLite, PostgreSQL, Node.js, and n8n.
 */
const TRANSIENT =
	/SQLITE_(BUSY|LOCKED|PROTOCOL)|is locked|lock timeout|waiting for lock|obtain lock|deadlock|serialize access|transaction (within|already|is not started|is aborted)|statement timeout|conflict with recovery|already (been )?released|not connected|is not established|after calling end|not queryable|connection terminated|terminating connection|database system is|too many clients|connection slots|acquire connection|synchronization error|timed out|timeout (exceeded|expired)|read timeout|E(CONN(RESET|REFUSED|ABORTED)|PIPE|TIMEDOUT|AI_AGAIN)|perhaps it is offline/i;
/** Pauses before such a call is tried again, in milliseconds. */
const RETRY_PAUSES_MS = [500, 1_000, 2_000, 4_000];

/** IDs of the tables by workflow and name, in this process: finding one takes as long as writing to it. */
const tableIds = new Map<string, string>();

/** The table cannot be used. The message says why and what to do. */
export class TableError extends Error {
	override readonly name = 'TableError';

	/**
	 * @param reason This n8n has no data tables for nodes; the table of this name is another one; the workflow has its rows in
	 *   another project; or a call failed.
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
 * Community nodes have no access to data tables themselves: n8n's Data Table node runs in a sub-workflow. A call takes 25
 * to 65 ms whatever it does, so several steps and many rows go into one.
 *
 * @returns The rows that the last step finds or sets; none for another step. Steps without rows are left out.
 * @throws TableError when this n8n has no data tables a node can create, or when the table has other columns.
 */
export async function onTable(
	context: IExecuteFunctions,
	schema: TableSchema,
	...given: readonly Step[]
): Promise<readonly Row[]> {
	const parts = given.map((step) => [...forRows(step, inParts)]);
	// A sub-workflow returns the rows of its last step.
	const more = 'find' in (given.at(-1) ?? {}) ? parts.at(-1)!.splice(1) : [];
	const rows: Row[] = [];
	for (const steps of [parts.flat(), ...more.map((step) => [step])])
		if (steps.length > 0) rows.push(...(await runSteps(context, schema, steps)));
	// The next time does it.
	await trimChats(context, schema, given).catch(() => undefined);
	return rows;
}

/** Runs steps, and again after an error that passes by itself. */
async function runSteps(
	context: IExecuteFunctions,
	schema: TableSchema,
	steps: readonly Step[],
): Promise<readonly Row[]> {
	const clock = n8nClock(context);
	const pausesMs = [...RETRY_PAUSES_MS];
	const key = tableKey(context, schema);
	for (;;) {
		const known = tableIds.get(key);
		try {
			const isOptional = steps.every((step) => 'optional' in step);
			const id = known ?? (await findTable(context, schema, isOptional));
			if (id === undefined) return [];
			tableIds.set(key, id);
			return await runOn(context, id, schema, steps);
		} catch (error) {
			const { message } = error as Error;
			if (known !== undefined && /not (be found|find)/i.test(message)) {
				// Somebody has deleted the table since, or moved the workflow to another project.
				tableIds.delete(key);
				continue;
			}
			const pauseMs = TRANSIENT.test(message) ? pausesMs.shift() : undefined;
			if (pauseMs === undefined) throw toTableError(schema, error as Error);
			// Also after Stop: what is paid for has to be written.
			await clock.sleep(pauseMs).catch(() => undefined);
		}
	}
}

/** The rows of a table, counted back from the newest of a workflow's chats, after which those of its chats go. */
const CHAT_ROWS = 5_000;
const TRIM_EVERY = 50;
/** How often this process has inserted rows of chats, by workflow and table. */
const writes = new Map<string, number>();

/** Removes the oldest finished rows of the workflow's chats, now and then when it inserts some: visitors begin as many as they like. */
async function trimChats(
	context: IExecuteFunctions,
	schema: TableSchema,
	steps: readonly Step[],
): Promise<void> {
	const chats = chatPrefix(context.getWorkflow().id);
	const inserted = steps.flatMap((step) => ('insert' in step ? step.insert : []));
	if (!inserted.some((row) => String(row['session_key']).startsWith(chats))) return;
	const key = tableKey(context, schema);
	const count = writes.get(key) ?? 0;
	writes.set(key, count + 1);
	if (count % TRIM_EVERY > 0) return;
	const all = [['session_key', 'like', `${chats}%`], ...(schema.finished ?? [])] as const;
	const [newest] = await onTable(context, schema, { find: { all }, newest: true, limit: 1 });
	const old = ['id', 'lt', Number(newest?.['id'] ?? 0) - CHAT_ROWS] as const;
	await onTable(context, schema, { remove: { all: [...all, old] } });
}

/** What the keys of the chats of this workflow begin with, and no key of another workflow. */
export function chatPrefix(workflowId = ''): string {
	return `chat ${workflowId} `;
}

/** The rows that a step finds in the tables that n8n has renamed, see `findTable`, but for the one of this workflow. */
export async function onRenamed(
	context: IExecuteFunctions,
	schema: TableSchema,
	step: Step,
): Promise<readonly Row[]> {
	const own = tableIds.get(tableKey(context, schema));
	const tables = await listTables(context, schema);
	const renamed = tables.filter(({ id, name }) => id !== own && name !== schema.name);
	const found = renamed.map(async ({ id }) => await runOn(context, id as string, schema, [step]));
	return (await Promise.all(found)).flat();
}

const tableKey = (context: IExecuteFunctions, { name }: TableSchema) =>
	`${context.getWorkflow().id} ${name}`;

/** The tables of the project whose name is that of the schema, or begins with it. */
async function listTables(
	context: IExecuteFunctions,
	{ name }: TableSchema,
): Promise<readonly Row[]> {
	const options = { filterName: name };
	const list = { resource: 'table', operation: 'list', returnAll: true, options };
	const tables = await runNodes(context, [list]);
	return tables.filter(
		(each) => each['name'] === name || String(each['name']).startsWith(`${name} (`),
	);
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

/** Columns that only ledgers of paid calls have. */
const RECOGNITION: readonly string[] = ['origin', 'call', 'pending'];

/**
 * The ledgers of a workflow, by name, in its static data, which goes with it into another project. n8n saves it in production
 * executions. Undefined for a table that is no ledger, such as a memory.
 */
function knownTables(context: IExecuteFunctions, { columns }: TableSchema) {
	if (!RECOGNITION.every((name) => name in columns)) return undefined;
	const data = context.getWorkflowStaticData('global');
	return (data['agentVideoTables'] ??= {}) as Partial<Record<string, Row>>;
}

/**
 * The ID of the table with the rows of this workflow. If there is none it is created, unless it is optional. When n8n deletes
 * a user and transfers the tables, it appends the name of their project to a name that is taken: such a ledger stays that
 * of its workflows.
 *
 * @throws TableError when it has other columns, or when the workflow has come from another project, whose table it cannot read.
 */
async function findTable(
	context: IExecuteFunctions,
	schema: TableSchema,
	isOptional: boolean,
): Promise<string | undefined> {
	const ledgers = knownTables(context, schema);
	const known = ledgers?.[schema.name];
	/** Whether a table has rows of this workflow. */
	const isUsed = async ({ id }: Row) => {
		const find = { all: [['workflow_id', 'eq', context.getWorkflow().id ?? ''] as const] };
		return (await runOn(context, id as string, schema, [{ find, limit: 1 }])).length > 0;
	};
	const tables = await listTables(context, schema);
	let table = ledgers && tables.find(({ id }) => id === known?.id);
	for (const each of ledgers && tables.length > 1 ? tables : [])
		if (table === undefined && (await isUsed(each))) table = each;
	const isMain = ({ name }: Row) => name === schema.name;
	table ??= tables.find(isMain);
	if (table === undefined && isOptional) return undefined;
	const wanted = Object.entries(schema.columns).map(([name, type]) => ({ name, type }));
	const creation = {
		resource: 'table',
		operation: 'create',
		tableName: schema.name,
		columns: { column: wanted },
		options: { createIfNotExists: false },
	};
	table ??= await runNodes(context, [creation]).then(
		([created]) => created!,
		async (error: unknown) => {
			// Of several executions that create the missing table at once, one succeeds.
			const other = (await listTables(context, schema)).find(isMain);
			if (other === undefined) throw error;
			return other;
		},
	);
	const columns = table['columns'] as typeof wanted | undefined;
	const missing = wanted.filter(({ name, type }) =>
		columns?.every((column) => column.name !== name || column.type !== type),
	);
	if (missing.length > 0) {
		// A table of ours that a person has changed: its rows may be of calls that a retry must know.
		const isChanged = columns!.some(({ name }) => RECOGNITION.includes(name));
		const texts = missing.map(({ name, type }) => `${name} (${type})`).join(', ');
		throw new TableError(
			`The data table ${schema.name} has other columns than this node writes. It needs also ${texts}: add them${isChanged ? '' : '. Or rename the table: the node then creates its own'}`,
			isChanged ? 'failed' : 'foreign',
		);
	}
	const id = table['id'] as string;
	const { id: project } = objectOf(table['project']);
	if (ledgers !== undefined && known?.id !== id) {
		const hasMoved = known !== undefined && known.project !== project;
		if (hasMoved && !(await isUsed(table)))
			throw new TableError(movedText(context, schema), 'moved');
		ledgers[schema.name] = { id, project };
	}
	return id;
}

function movedText(context: IExecuteFunctions, { name }: TableSchema): string {
	const id = String(context.getWorkflow().id);
	return `The data table ${name} with the paid calls of this workflow is in the project from which it was moved. Move the workflow back; or download that table as CSV, and import it into ${name} of this project. To start without them, add a row here with the workflow_id ${id}`;
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
	const last = steps.at(-1)!;
	return 'find' in last || 'set' in last ? found.filter(({ id }) => id !== undefined) : [];
}

function parametersOf(step: Step): INodeParameters {
	if ('insert' in step)
		return { operation: 'insert', columns: FROM_INPUT, options: { optimizeBulk: true } };
	if ('update' in step) {
		const same = { keyName: 'id', condition: 'eq', keyValue: '={{ $json.id }}' };
		const filters = { conditions: [same] };
		return { operation: 'update', columns: FROM_INPUT, matchType: 'allConditions', filters };
	}
	if ('set' in step) {
		const values = Object.entries(step.set).map(([name, each]) => [name, literal(each)]);
		const value = Object.fromEntries(values) as INodeParameters;
		const columns = { mappingMode: 'defineBelow', value };
		return { operation: 'update', columns, ...toFilters(step.where) };
	}
	if ('remove' in step) return { operation: 'deleteRows', ...toFilters(step.remove) };
	const { find, limit = 0, orderBy: orderByColumn = 'id', newest } = step;
	const order = { orderBy: true, orderByColumn, orderByDirection: newest ? 'DESC' : 'ASC' };
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
