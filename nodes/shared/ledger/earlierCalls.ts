import { randomUUID } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { slices } from '../../client/concurrency';
import { InputError } from '../../client/errors';
import { nodeState } from '../run/nodeState';
import { removals } from './batchWriter';
import type { CallKind } from './callKind';
import { interrupted, type CallLog, type KnownCall } from './callLog';
import { MAX_CONDITIONS, TableError, type Condition, type Row, type Step } from './dataTable';
import type { Origin } from './origin';
import type { EarlierCall } from './recognize';
import { trimTaskIds } from './taskTable';

type OnLedger = (steps: readonly Step[]) => Promise<readonly Row[]>;

/**
 * The rows of the other tries of this execution that none of its runs has taken over.
 *
 * @throws InputError when the table cannot be read: a retry that does not know them might pay twice. An n8n that cannot
 *   have any rows has none.
 */
export async function findEarlier(origin: Origin, onLedger: OnLedger): Promise<readonly Row[]> {
	const rows = await onLedger([ofOtherTries(origin)]).catch((error: unknown): readonly Row[] => {
		if (error instanceof TableError && error.reason !== 'failed') return [];
		throw new InputError(
			'Task Ledger',
			`cannot be read, so this retry does not know what the earlier try paid for: ${(error as Error).message}`,
			'Nothing was sent. Make the data table available and retry, or turn off the option Task Ledger or Call Ledger',
		);
	});
	return rows.filter((row) => isRepeated(row, origin));
}

/** Whether a retry repeats the call of a row, of those that `ofOtherTries` finds. */
export function isRepeated(row: Row, { isAlone, own }: Origin): boolean {
	return !isAlone || partsOf(row).own === own;
}

/** The step that finds the calls of all tries of an execution but this one. */
export function ofOtherTries({ origin, root }: Origin): Step {
	const all = [
		['origin', 'eq', origin],
		['execution_id', 'neq', root],
	] as const;
	return { find: { all } };
}

/** The first run of this node in this execution: a retry keeps the runs that succeeded before. */
export function firstRun(context: IExecuteFunctions, run: number): number {
	const state = nodeState<{ execution: string; run: number }>(context, 'firstRun');
	const execution = context.getExecutionId();
	const stored = state.get();
	return stored?.execution === execution ? stored.run : state.set({ execution, run }).run;
}

/**
 * Makes the calls that a run has recognized those of this execution, so that no other run of it takes them as well. All
 * others are left to its later runs: the next rounds of a loop, calls of a sub-workflow, calls of a tool. Rows go that
 * reserve a key, or announce a call that has a later row.
 *
 * @param used The recognized calls.
 * @param again The calls whose rows go, because they are sent again.
 */
export async function takeOver(
	{ root }: Origin,
	rows: readonly Row[],
	{ used, again }: { readonly used: readonly string[]; readonly again: readonly string[] },
	onLedger: OnLedger,
): Promise<void> {
	const last = new Map(rows.map((row) => [row['call'], row]));
	const isGone = (row: Row) =>
		isReservation(row) ||
		// With a task ID a person has answered it.
		(row['status'] === 'sent' && !row['task_id'] && last.get(row['call']) !== row);
	const taken = new Set<unknown>(used);
	const byId = (of: readonly Row[]) => of.map(({ id }): Condition => ['id', 'eq', id as number]);
	const resent = again.map((call): Condition => ['call', 'eq', call]);
	const own = rows.filter(({ call }) => taken.has(call));
	const kept = slices(byId(own), MAX_CONDITIONS);
	await onLedger([
		trimTaskIds(own),
		...removals([...byId(rows.filter(isGone)), ...resent]),
		...kept.map((any) => ({ set: { execution_id: root }, where: { any } })),
	]);
}

/** Whether a row is the reservation of an idempotency key. */
export function isReservation({ status }: Row): boolean {
	return status === 'claimed' || status === 'reserved';
}

interface CallParts extends Pick<EarlierCall, 'run' | 'fingerprint'> {
	/** The execution that makes the call, see `Origin`. */
	readonly own: string;
}

/** A unique ID of a call, in one column with what is compared: a table is written the faster the fewer columns it has. */
export function callId({ run, fingerprint, own }: CallParts): string {
	return [run, fingerprint, randomUUID(), own].join(' ');
}

/** What the ID of a row's call consists of. */
export function partsOf({ call }: Row): CallParts {
	const [run, fingerprint = '', , own = ''] = String(call).split(' ');
	return { run: Number(run), fingerprint, own };
}

/** A row as the call that it stands for. */
export function toKnown<T>({ table, toResult }: CallKind<T>, row: Row): KnownCall<T> {
	const result = toResult(row);
	return {
		...partsOf(row),
		call: row['call'] as string,
		key: (row['idempotency_key'] as string | null) ?? '',
		item: row['item'] as number,
		...(result === undefined ? { failure: interrupted(table) } : { result }),
	};
}

/**
 * All known calls once, with the result if there is one: a kill may leave the row of the call beside that of its answer.
 *
 * @param root The execution that has read the rows. A failure that an earlier one has read is outdated: a person may have
 *   deleted the row since.
 */
export function merged<T>(
	log: CallLog<T>,
	rows: readonly KnownCall<T>[],
	root: string | undefined,
): readonly KnownCall<T>[] {
	const calls = new Map<string, KnownCall<T>>();
	const isOutdated = ({ failure, readBy = root }: KnownCall<T>) =>
		failure !== undefined && root !== undefined && readBy !== root;
	const logged = log.known().filter((call) => !isOutdated(call));
	for (const each of [...rows, ...logged]) {
		const row = calls.get(each.call);
		if (row?.result === undefined) calls.set(each.call, { ...row, ...each });
	}
	return [...calls.values()];
}
