import type { IExecuteFunctions } from 'n8n-workflow';

import { objectOf } from '../../client/json';
import type { Row, TableSchema } from './dataTable';

/** Columns that only ledgers of paid calls have. */
export const RECOGNITION: readonly string[] = ['origin', 'call', 'pending'];

/** Where the rows of a workflow are. */
interface KnownTable {
	readonly id: unknown;
	readonly project: unknown;
}

/**
 * The tables of a workflow, by name, in its static data, which goes with it into another project. n8n saves it in production
 * executions. Undefined for a table that is no ledger, such as a memory.
 */
function knownTables(context: IExecuteFunctions, { columns }: TableSchema) {
	if (!RECOGNITION.every((name) => name in columns)) return undefined;
	const data = context.getWorkflowStaticData('global');
	return (data['agentVideoTables'] ??= {}) as Record<string, KnownTable | undefined>;
}

/**
 * The table with the rows of this workflow. When n8n deletes a user and transfers the tables, it appends the name of their
 * project to a name that is taken: such a table stays that of its workflows.
 *
 * @param tables All tables whose names begin with that of the schema.
 * @param isUsed Whether a table has rows of this workflow.
 */
export async function ownTable(
	context: IExecuteFunctions,
	schema: TableSchema,
	tables: readonly Row[],
	isUsed: (table: Row) => Promise<boolean>,
): Promise<Row | undefined> {
	const main = tables.find(({ name }) => name === schema.name);
	const known = knownTables(context, schema);
	if (known === undefined) return main;
	const same = tables.find(({ id }) => id === known[schema.name]?.id);
	if (same !== undefined || tables.length < 2) return same ?? main;
	for (const table of tables) if (await isUsed(table)) return table;
	return main;
}

/**
 * Remembers the table of this workflow.
 *
 * @returns False when the workflow has come from another project, whose table it cannot read.
 */
export async function rememberTable(
	context: IExecuteFunctions,
	schema: TableSchema,
	table: Row,
	isUsed: (table: Row) => Promise<boolean>,
): Promise<boolean> {
	const known = knownTables(context, schema);
	const { id } = table;
	const { id: project } = objectOf(table['project']);
	const old = known?.[schema.name];
	if (known === undefined || old?.id === id) return true;
	if (old !== undefined && old.project !== project && !(await isUsed(table))) return false;
	known[schema.name] = { id, project };
	return true;
}
