import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { grouped } from '../client/concurrency';
import { emptyText, InputError } from '../client/errors';
import {
	idRange,
	oneOf,
	PAGE,
	TableError,
	type Condition,
	type Row,
	type Step,
} from '../shared/engine/dataTable';
import {
	OWN_TABLE,
	RESULT_TABLE,
	taskIdOf,
	TO_ANSWER,
	trimTaskIds,
} from '../shared/durable/taskTable';
import { isOwn } from '../shared/run/credential';
import type { Run } from '../shared/run/run';
import { MANY, named } from '../shared/wait/record';
import { waitForm } from './properties';

/** A task that a run has taken from the task ledger. */
export interface LedgerTask {
	readonly task_id: string;
	/** What the ledger knows about it, for the output. */
	readonly ledger: IDataObject;
}

/** Runs steps on the table that has the tasks. */
type OnLedger = (...steps: readonly Step[]) => Promise<readonly Row[]>;

const collectedState = ({ state }: Run) =>
	state<{ executionId: string; at: string; tasks: readonly LedgerTask[] }>('collected');

/** Columns of the ledger that an output item has. */
const OUTPUT_COLUMNS = [
	...['prompt', 'model', 'idempotency_key', 'workflow_id', 'execution_id', 'item', 'sent_at'],
	...['estimated_cost', 'delivered_at'],
];

/** A run that has taken a task has so many minutes to deliver it: 10 to poll, and 15 for a download. Then another run may take it. */
const TAKEN_MIN = 25;

/**
 * Takes open tasks from the task ledger, those that no run has taken yet first. The tasks stay the same while the
 * execution is suspended or the node is retried, until `forgetTasks`.
 *
 * @returns Undefined when the node takes its tasks from its input.
 * @throws InputError when the ledger cannot be read, or a field is empty.
 */
export async function collectTasks(run: Run): Promise<readonly LedgerTask[] | undefined> {
	if (waitForm.fields.tasks.read(run, 0) !== 'ledger') return undefined;
	const state = collectedState(run);
	const executionId = run.context.getExecutionId();
	const saved = state.get();
	const isTried = saved?.executionId === executionId;
	if (isTried && saved.tasks.length > 0) return saved.tasks;

	const values = waitForm.read(run, 0);
	if (values.ledgerTasks === 'workflow' && values.workflowId === '')
		throw emptyText('Workflow ID');
	const at = new Date().toISOString();
	// What the failed try of this retry has taken is free for it, unless another run has taken it since.
	const triedAt = isTried ? undefined : saved?.at;
	const rows = await takeRows(run, values, at, triedAt).catch((error: unknown) => {
		// A wrong credential or form says itself what to do.
		if (!(error instanceof TableError)) throw error;
		throw new InputError(
			'Tasks',
			`cannot be read from the task ledger: ${error.message}`,
			'Or set Tasks to From Input, and pass the task IDs to the node',
		);
	});
	const tasks = [...new Map(rows.map((row) => [taskIdOf(row), row]))].map(([task_id, row]) => ({
		task_id,
		ledger: Object.fromEntries(OUTPUT_COLUMNS.map((name) => [name, row[name] ?? null])),
	}));
	if (tasks.length > 0) state.set({ executionId, at, tasks });
	return tasks;
}

/** Forgets the tasks of this run: the next run of the node in this execution takes others, and a Retry what is left of them. */
export function forgetTasks(run: Run): void {
	const state = collectedState(run);
	const saved = state.get();
	if (saved) state.set({ ...saved, tasks: [] });
}

/** A run whose items are these tasks. Its fields have one value for all of them. */
export function runOfTasks(run: Run, tasks: readonly object[]): Run {
	return {
		...run,
		items: () => tasks.map((json) => ({ json })) as INodeExecutionData[],
		getNodeParameter: (name, _item, fallback) => run.getNodeParameter(name, 0, fallback),
	};
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

/** Takes open rows of this account. What is left behind is named in hints. */
async function takeRows(
	run: Run,
	{ ledgerTasks, workflowId, options }: ReturnType<typeof waitForm.read>,
	at: string,
	triedAt: string | undefined,
): Promise<readonly Row[]> {
	const { maximumTasks, minimumAge: minutes } = options;
	const { hint, service } = run;
	const isOfThis = ledgerTasks === 'workflow' && workflowId === run.workflowId;
	const onLedger = async (...steps: readonly Step[]) =>
		await run.onTable(isOfThis ? OWN_TABLE : RESULT_TABLE, ...steps);
	const { account } = service();
	const before = (ms: number) => new Date(Date.now() - ms).toISOString();
	const open: readonly Condition[] = [
		['finished_at', 'isEmpty'],
		['sent_at', 'lt', before(minutes * 60_000)],
	];
	const isHere = ['workflow_id', 'eq', workflowId] as const;
	const isWanted = ledgerTasks === 'project' ? open : [...open, isHere];
	const isOwnTask = (row: Row) => taskIdOf(row) !== '' && isOwn(row, account);
	const takenAt = (row: Row) => String(row['collected_at'] ?? '');
	const isNew = (row: Row) => isOwnTask(row) && takenAt(row) === '';
	// Looked for by themselves: the rows of a failed try may have been written again, behind all others.
	const tried = triedAt && {
		find: { all: [...isWanted, ['collected_at', 'eq', triedAt] as const] },
	};
	const ofTry = tried ? await onLedger(tried) : [];
	const found = await onLedger({
		find: { all: isWanted },
		first: Math.min(maximumTasks, PAGE),
		isEnough: (read) => read.filter(isNew).length >= maximumTasks,
	});
	const rows = [...new Map([...ofTry, ...found].map((row) => [row['id'], row])).values()];
	await mentionUnanswered(hint, onLedger, rows);
	const hasTask = rows.filter((row) => taskIdOf(row) !== '');
	const others = hasTask.filter((row) => !isOwn(row, account)).map(taskIdOf);
	if (others.length > 0)
		hint(
			`Open tasks of another API key or Base URL: ${named(others, MANY)}. To collect them with this one, clear account in their rows of the data table ${RESULT_TABLE.name}`,
			'info',
		);

	const own = rows.filter(isOwnTask);
	const free = own.filter(
		(row) => takenAt(row) < before(TAKEN_MIN * 60_000) || takenAt(row) === triedAt,
	);
	// What the failed try has taken comes first, and then what no run has ever had.
	const rank = (row: Row) => (takenAt(row) === triedAt ? '' : `others ${takenAt(row)}`);
	free.sort((one, other) => (rank(one) < rank(other) ? -1 : Number(rank(one) > rank(other))));
	if (free.length === 0) {
		const where = ledgerTasks === 'project' ? '' : ' in the workflow';
		const parts = [
			`No open tasks of this API key${where}${minutes > 0 ? ` that are ${minutes} minutes old or more (see Minimum Age)` : ''}`,
			own.length > 0 && `${own.length} belong to a run of the last ${TAKEN_MIN} minutes`,
		];
		hint(parts.filter(Boolean).join('; '), 'info');
	}
	const isOpen = [...isWanted, ['task_id', 'isNotEmpty'] as const];
	return await takeFree(onLedger, isOpen, free.slice(0, maximumTasks), at);
}

/**
 * Takes rows by compare-and-set: writes the time into `collected_at` where it still is what was read. n8n returns the rows that
 * it has changed, so that of two runs at the same moment one gets the row.
 */
async function takeFree(
	onLedger: OnLedger,
	isOpen: readonly Condition[],
	chosen: readonly Row[],
	collected_at: string,
): Promise<readonly Row[]> {
	const same = (row: Row) =>
		['collected_at', 'account'].map((name): Condition => {
			const value = (row[name] ?? '') as string;
			return value === '' ? [name, 'isEmpty'] : [name, 'eq', value];
		});
	// Equal rows are taken together, from the first to the last of them that was chosen.
	const equal = grouped(chosen, (row) => JSON.stringify(same(row)));
	await onLedger(trimTaskIds(chosen));
	const set = { collected_at };
	const taken = new Set<unknown>();
	for (const rows of equal.values()) {
		const where = { all: [...isOpen, ...same(rows[0]!), ...idRange(rows)] };
		for (const { id } of await onLedger({ set, where })) taken.add(id);
	}
	return chosen.filter(({ id }) => taken.has(id));
}

/** Names the creations without an answer among open rows: their tasks may exist, but nobody knows the IDs. */
async function mentionUnanswered(
	hint: Run['hint'],
	onLedger: OnLedger,
	rows: readonly Row[],
): Promise<void> {
	const sent = rows.filter((row) => row['status'] === 'sent' && taskIdOf(row) === '');
	// Where n8n was killed before it removed the row, that with the answer is there, too.
	const calls = sent.map(({ call }) => call).filter(Boolean);
	const sameCall = await onLedger({ find: oneOf('call', calls) });
	const answered = new Set(sameCall.filter(taskIdOf).map(({ call }) => call));
	const unanswered = sent.filter(({ call }) => !answered.has(call));
	if (unanswered.length === 0) return;
	const rowsOf = (unanswered as readonly Record<string, string>[]).map(
		({ id, execution_id: execution, item, sent_at: sentAt }) =>
			`row ${id} (execution ${execution}, item ${item}, ${sentAt})`,
	);
	hint(
		`Creations without an answer: ${named(rowsOf, MANY)}. Their videos may exist. Look for them at the service. In the data table ${RESULT_TABLE.name} ${TO_ANSWER}`,
	);
}
