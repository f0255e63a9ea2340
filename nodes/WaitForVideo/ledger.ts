import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import { readResult } from '../client/concurrency';
import { emptyText, InputError } from '../client/errors';
import { oneLine, shown } from '../client/values';
import { oneOf, onTable, type Condition, type Row } from '../shared/engine/dataTable';
import { CALL_TABLE, TASK_TABLE, taskIdOf } from '../shared/ledger/taskTable';
import { accountOf, isOwn } from '../shared/run/credential';
import { mapItems } from '../shared/run/mapItems';
import { checkNotRounded } from '../shared/run/parameters';
import {
	contextOfTasks,
	named,
	olderThan,
	OUTPUT_COLUMNS,
	toConditions,
	unansweredOf,
} from './collect';
import { waitForm } from './properties';

/** Columns of the ledger by which a person recognizes a call. */
const LISTED = ['call', 'message', ...OUTPUT_COLUMNS, 'workflow_name'] as const;

/** The run of a node that lists or settles unanswered calls, or checks the ledger; undefined where it waits for videos. */
export async function useLedger(
	context: IExecuteFunctions,
): Promise<INodeExecutionData[] | undefined> {
	// An invalid choice is reported where all fields are read: by the wait, or for each item.
	const chosen = (name: 'tasks' | 'ledgerTasks' | 'settle') => {
		const read = readResult(() => waitForm.fields[name].read(context, 0));
		return 'value' in read ? read.value : undefined;
	};
	if (chosen('tasks') !== 'ledger') return undefined;
	const ledgerTasks = chosen('ledgerTasks');
	if (ledgerTasks === 'check') return await once(context, async () => [await check(context)]);
	if (ledgerTasks !== 'unanswered') return undefined;
	if (chosen('settle') === 'list') return await once(context, async () => await list(context));
	return await mapItems(context, noBatches, async (item) => ({
		json: await settleCall(context, item),
		pairedItem: { item },
	}));
}

/** One run for all items. */
async function once(
	context: IExecuteFunctions,
	work: () => Promise<readonly IDataObject[]>,
): Promise<INodeExecutionData[]> {
	const run = async () => ({ json: { found: await work() } });
	const [item] = await mapItems(contextOfTasks(context, [{}]), noBatches, run);
	const { found } = item!.json as { found?: readonly IDataObject[] };
	return found?.map((json) => ({ json, pairedItem: { item: 0 } })) ?? [item!];
}

const noBatches = () => ({ concurrency: 1 });

/** The calls that were sent long ago and never answered, of videos and of super assistants. */
async function list(context: IExecuteFunctions): Promise<readonly IDataObject[]> {
	const open = toConditions(waitForm.read(context, 0));
	const sent = { find: { all: [...open, ['status', 'eq', 'sent'] as const] } };
	const calls = { find: { all: sentBefore(context) }, optional: true } as const;
	const rows = [
		...(await unansweredOf(context, await onTable(context, TASK_TABLE, sent))),
		...(await onTable(context, CALL_TABLE, calls)),
	];
	return rows.map((row) =>
		Object.fromEntries(LISTED.flatMap((name) => (name in row ? [[name, row[name]]] : []))),
	);
}

function sentBefore(context: IExecuteFunctions): readonly Condition[] {
	return [['status', 'eq', 'sent'], olderThan(waitForm.read(context, 0))];
}

/**
 * Writes down what a person has found out about a call.
 *
 * @throws InputError where the call is not one without an answer.
 */
async function settleCall(context: IExecuteFunctions, item: number): Promise<IDataObject> {
	const { settle, call, foundTaskId } = waitForm.read(context, item);
	const exists = settle === 'exists';
	if (call === '') throw emptyText('Call');
	if (exists && foundTaskId === '') throw emptyText('Found Task');
	if (exists) checkNotRounded(context, item, 'foundTaskId', 'Found Task');
	const same = [...sentBefore(context), ['call', 'eq', call] as const];
	const set = { task_id: foundTaskId };
	const video = { all: [...same, ['task_id', 'isEmpty'] as const] };
	const places = [
		[TASK_TABLE, video],
		[CALL_TABLE, { all: same }],
	] as const;
	for (const [table, where] of exists ? places.slice(0, 1) : places) {
		const rows = await onTable(context, table, { find: where, optional: true });
		if (rows.length === 0) continue;
		const used = { find: oneOf('task_id', exists ? [foundTaskId] : []), limit: 1 };
		const [other] = await onTable(context, TASK_TABLE, used);
		if (other !== undefined)
			throw new InputError(
				'Found Task',
				`is ${oneLine(foundTaskId)}, which is the task of another call: row ${String(other['id'])} with the prompt "${oneLine(shown(other['prompt']))}"`,
				'Enter the ID of a task that no row has, or choose There Is No Video',
			);
		await onTable(context, table, exists ? { set, where } : { remove: where });
		return exists ? { call, settled: 'exists', ...set } : { call, settled: 'none' };
	}
	throw new InputError(
		'Call',
		'has no row without an answer',
		'List the calls again: this one was settled, or is younger than Minimum Age',
	);
}

/**
 * Checks that everything paid for is delivered.
 *
 * @throws InputError that names what is not, and what to do.
 */
async function check(context: IExecuteFunctions): Promise<IDataObject> {
	const account = await accountOf(context);
	const hasTask = (row: Row) => taskIdOf(row) !== '';
	const openOnes = { find: { all: toConditions(waitForm.read(context, 0)) } };
	const open = (await onTable(context, TASK_TABLE, openOnes)).filter(hasTask);
	const own = open.filter((row) => isOwn(row, account));
	const others = open.filter((row) => !isOwn(row, account));
	const unanswered = await list(context);
	const problems = [
		['open', own, 'open: collect them'],
		[
			'of_other_keys',
			others,
			'of another API key or Base URL: collect them, or clear the column account',
		],
		['unanswered', unanswered, 'without an answer: settle them with Unanswered Calls'],
	] as const;
	const found = problems.filter(([, rows]) => rows.length > 0);
	if (found.length === 0)
		return Object.fromEntries(problems.map(([name, rows]) => [name, rows.length]));
	const lines = found.map(([, rows, problem]) => {
		const ids = named(rows.map(taskIdOf).filter(Boolean));
		return [`${rows.length} ${problem}`, ids].filter(Boolean).join(' – ');
	});
	throw new InputError('Task Ledger', 'has paid videos that nobody has', lines.join('. '));
}
