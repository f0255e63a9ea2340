import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { emptyText, InputError } from '../client/errors';
import { shown } from '../client/values';
import { isUnknown, type TaskPoll } from '../client/video/poll/task';
import { oneOf, onTable, PAGE, type Condition, type Row } from '../shared/engine/dataTable';
import { deriveContext } from '../shared/engine/request';
import { TASK_TABLE, taskIdOf, trimTaskIds } from '../shared/ledger/taskTable';
import { accountOf, hostOf, isOfHost } from '../shared/run/credential';
import { nodeState, hint } from '../shared/run/nodeContext';
import { checkKey } from '../shared/run/parameters';
import { waitForm } from './properties';

/** A task that a run has taken from the task ledger. */
export interface LedgerTask {
	readonly task_id: string;
	/** Whether it was created with the API key and the headers of today. */
	readonly isOwn: boolean;
	/** What the ledger knows about it, for the output. */
	readonly ledger: IDataObject;
}

const collectedState = (context: IExecuteFunctions) =>
	nodeState<{ executionId: string; tasks: readonly LedgerTask[] }>(context, 'collected');

/** Columns of the ledger that an output item has. */
export const OUTPUT_COLUMNS = [
	'prompt',
	'model',
	'idempotency_key',
	'workflow_id',
	'execution_id',
	'item',
	'sent_at',
	'estimated_cost',
] as const;

/** A run that has taken a task has this long to deliver it; then another run may take it. */
const CLAIM_MS = 15 * 60_000;
/** The stamp of a run is up to this much earlier than its start. */
const STAMP_RANGE_MS = 60_000;
/** Maximum number of rows that a hint or an error names. */
const MAX_NAMED = 10;

/** The first names of a list. */
export function named(all: readonly string[]): string {
	const more = all.length > MAX_NAMED ? ' and others' : '';
	return `${all.slice(0, MAX_NAMED).join(', ')}${more}`;
}

/**
 * Takes open tasks from the task ledger, those that no run has taken yet first. The tasks stay the same while the
 * execution is suspended or the node is retried, until `forgetTasks`.
 *
 * @returns Undefined when the node takes its tasks from its input.
 * @throws InputError when the ledger cannot be read, or a field is empty.
 */
export async function collectTasks(
	context: IExecuteFunctions,
): Promise<readonly LedgerTask[] | undefined> {
	if (waitForm.fields.tasks.read(context, 0) !== 'ledger') return undefined;
	const state = collectedState(context);
	const executionId = context.getExecutionId();
	const saved = state.get();
	if (saved?.executionId === executionId) return saved.tasks;

	const account = await accountOf(context);
	const rows = await takeRows(context, account).catch((error: unknown) => {
		if (error instanceof InputError) throw error;
		throw new InputError(
			'Tasks',
			`cannot be read from the task ledger: ${(error as Error).message}`,
			'Or set Tasks to From Input, and pass the task IDs to the node',
		);
	});
	const tasks = rows.map((row) => ({
		task_id: row['task_id'] as string,
		isOwn: row['account'] === account,
		ledger: Object.fromEntries(OUTPUT_COLUMNS.map((name) => [name, row[name] ?? null])),
	}));
	if (tasks.length > 0) state.set({ executionId, tasks });
	return tasks;
}

/** Forgets the tasks of this run: the next run of the node in this execution takes others. */
export function forgetTasks(context: IExecuteFunctions): void {
	collectedState(context).clear();
}

/** The context of a run whose items are these tasks. Its fields have one value for all of them. */
export function contextOfTasks(
	context: IExecuteFunctions,
	tasks: readonly object[],
): IExecuteFunctions {
	type Read = (name: string, itemIndex: number, ...more: readonly unknown[]) => unknown;
	const read = context.getNodeParameter.bind(context) as Read;
	return deriveContext(context, {
		getInputData: () => tasks.map((json) => ({ json })) as INodeExecutionData[],
		getNodeParameter: ((name, _item, ...more) => read(name, 0, ...more)) as Read,
	} as Partial<IExecuteFunctions>);
}

/** The outputs of a run whose items are tasks of the ledger, with what the ledger knows about them. */
export function withLedger(
	outputs: readonly INodeExecutionData[][],
	tasks: readonly LedgerTask[],
): INodeExecutionData[][] {
	const byId = new Map<unknown, IDataObject>(
		tasks.map(({ task_id, ledger }) => [task_id, ledger]),
	);
	const withFacts = ({ json, ...item }: INodeExecutionData) => {
		const ledger = byId.get(json['task_id']);
		return { ...item, json: { ...json, ...(ledger && { ledger }) }, pairedItem: { item: 0 } };
	};
	return outputs.map((items) => items.map(withFacts));
}

/**
 * Takes rows by writing the time of this run into `collected_at`. Each write applies only to rows whose `collected_at` has
 * not changed since they were read, so that of two runs at the same moment one gets the row.
 */
async function takeRows(context: IExecuteFunctions, account: string): Promise<readonly Row[]> {
	const values = waitForm.read(context, 0);
	const { maximumTasks, minimumAge: minutes } = values.options;
	const conditions = toConditions(values);
	const waiting = [...conditions, ['task_id', 'isNotEmpty']] as const;
	const find = async (all: readonly Condition[], limit = PAGE, orderBy = 'id') =>
		await onTable(context, TASK_TABLE, { find: { all }, limit, orderBy });
	const sent = await find([...conditions, ['status', 'eq', 'sent']]);
	await mentionUnanswered(
		context,
		sent.filter((row) => isOfHost(row, account)),
	);
	mentionOtherHosts(context, await find([...waiting, ['account', 'neq', account]]), account);

	const freeBefore = new Date(Date.now() - CLAIM_MS).toISOString();
	const free = new Map<unknown, Row>();
	// Of today's API key or of none before those of others, and what no run has ever had before the rest.
	const own = [['account', 'eq', account] as const, ['account', 'isEmpty'] as const];
	const ofHost = [['account', 'like', `${hostOf({ account })} %`] as const];
	for (const owners of [own, ofHost])
		for (const isFree of [
			['collected_at', 'isEmpty'] as const,
			['collected_at', 'lt', freeBefore] as const,
		])
			for (const owner of free.size < maximumTasks ? owners : [])
				for (const row of await find([...waiting, owner, isFree], maximumTasks, isFree[0]))
					if (taskIdOf(row) !== '') free.set(row['id'], row);
	const chosen = [...free.values()].slice(0, maximumTasks);
	if (chosen.length === 0) {
		const taken = await find([...waiting, ['collected_at', 'gte', freeBefore]]);
		const { length } = taken.filter((row) => isOfHost(row, account));
		const old = minutes > 0 ? ` that are ${minutes} minutes old or more (see Minimum Age)` : '';
		const busy = length > 0 ? `; ${length} belong to a run of the last 15 minutes` : '';
		hint(context, `No open tasks${old}${busy}`, 'info');
		return [];
	}
	// Two runs that start together have different stamps.
	const stamp = new Date(Date.now() - Math.floor(Math.random() * STAMP_RANGE_MS)).toISOString();
	const same = (row: Row) =>
		['collected_at', 'account'].map((name): Condition => {
			const value = row[name];
			return value === null || value === ''
				? [name, 'isEmpty']
				: [name, 'eq', value as string];
		});
	const last = new Map(chosen.map((row) => [JSON.stringify(same(row)), row]));
	await onTable(context, TASK_TABLE, trimTaskIds([...sent, ...chosen]));
	const taken: Row[] = [];
	for (const row of last.values()) {
		const upTo = ['id', 'lt', Number(row['id']) + 1] as const;
		const where = { all: [...waiting, ...same(row), upTo] };
		const set = { collected_at: stamp };
		taken.push(...(await onTable(context, TASK_TABLE, { set, where })));
	}
	const mine = taken.filter((row) => isOfHost(row, account));
	const workflows = new Set(mine.map((row) => shown(row['workflow_name'])));
	if (values.ledgerTasks === 'key' && workflows.size > 1)
		hint(context, `Several workflows have a video of this key: ${named([...workflows])}`);
	return [...new Map(mine.map((row) => [row['task_id'], row])).values()];
}

/** The condition of what is not too young. */
export function olderThan({ options }: ReturnType<typeof waitForm.read>): Condition {
	return ['sent_at', 'lt', new Date(Date.now() - options.minimumAge * 60_000).toISOString()];
}

/** The conditions of the tasks to collect: those that are open, and not too young. */
export function toConditions(values: ReturnType<typeof waitForm.read>): readonly Condition[] {
	const isUnfinished = [['finished_at', 'isEmpty'] as const, olderThan(values)];
	const choice = {
		key: ['idempotency_key', values.idempotencyKey, 'Idempotency Key'] as const,
		workflow: ['workflow_id', values.workflowId, 'Workflow ID'] as const,
	}[values.ledgerTasks as string];
	if (choice === undefined) return isUnfinished;
	const [column, value, label] = choice;
	if (value === '') throw emptyText(label);
	return [...isUnfinished, [column, 'eq', checkKey(value, label)]];
}

/** Counts the open tasks at other hosts: after a change of the Base URL nobody would collect them. */
function mentionOtherHosts(
	context: IExecuteFunctions,
	rows: readonly Row[],
	account: string,
): void {
	const others = rows.filter((row) => taskIdOf(row) && !isOfHost(row, account));
	if (others.length === 0) return;
	const hosts = named([...new Set(others.map(hostOf))]);
	const todo = `If this Base URL has taken the place of such a host, clear the column account of their rows in the data table ${TASK_TABLE.name}: then they are collected`;
	hint(context, `Open tasks at other hosts (${hosts}): ${others.length}. ${todo}`, 'info');
}

/**
 * Gives back the tasks that the service does not know with this API key: they may be those of another account, which
 * shares the table. They stay open.
 *
 * @returns The other tasks.
 */
export async function releaseUnknown(
	context: IExecuteFunctions,
	tasks: readonly LedgerTask[],
	polls: readonly TaskPoll[],
): Promise<readonly LedgerTask[]> {
	const unknown = new Set(polls.filter(isUnknown).map(({ taskId }) => taskId));
	const isOther = ({ task_id: id, isOwn }: LedgerTask) => !isOwn && unknown.has(id);
	const others = tasks.filter(isOther).map(({ task_id: id }) => id);
	if (others.length === 0) return tasks;
	const set = { collected_at: new Date(0).toISOString() };
	// Otherwise they are free in 15 minutes.
	const release = { set, where: oneOf('task_id', others) };
	await onTable(context, TASK_TABLE, release).catch(() => undefined);
	hint(
		context,
		`Tasks that the service does not know with this API key: ${named(others)}. They were created with another one, and stay open for it`,
	);
	return tasks.filter((task) => !isOther(task));
}

/** Names the requests without an answer: their tasks may exist, but nobody knows the IDs. */
async function mentionUnanswered(context: IExecuteFunctions, rows: readonly Row[]): Promise<void> {
	const unanswered = await unansweredOf(context, rows);
	if (unanswered.length === 0) return;
	const rowsOf = (unanswered as readonly Record<string, string>[]).map(
		({ id, execution_id: execution, item, sent_at: sentAt }) =>
			`row ${id} (execution ${execution}, item ${item}, ${sentAt})`,
	);
	hint(
		context,
		`Creations without an answer: ${named(rowsOf)}. Their videos may exist. Look for them at the service, and settle them with Which Tasks: Unanswered Calls`,
	);
}

/** The creations without an answer, of these rows with the status `sent`. */
export async function unansweredOf(
	context: IExecuteFunctions,
	rows: readonly Row[],
): Promise<readonly Row[]> {
	const sent = rows.filter((row) => taskIdOf(row) === '');
	// Where n8n was killed while it replaced the row by the one with the answer, both are there.
	const calls = sent.map(({ call }) => call);
	const sameCall = await onTable(context, TASK_TABLE, { find: oneOf('call', calls) });
	const answered = new Set(sameCall.filter(taskIdOf).map(({ call }) => call));
	return sent.filter(({ call }) => !answered.has(call));
}
