import type { IExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../../client/ports';
import { onTable } from '../engine/dataTable';
import type { Condition, Filter, Row, Step, TableSchema } from '../engine/dataTable';
import type { Origin } from './origin';
import { PROLONG_MS, RESERVATION_MS } from './paidCall';

/** The step for other rows: one step for each filter. None where it has no rows to write. */
function forRows(step: Step, change: (rows: Filter) => readonly Filter[]): readonly Step[] {
	if ('find' in step) return change(step.find).map((find) => ({ ...step, find }));
	if ('set' in step) return change(step.where).map((where) => ({ ...step, where }));
	if ('remove' in step) return change(step.remove).map((remove) => ({ remove }));
	return ('insert' in step ? step.insert : step.update).length === 0 ? [] : [step];
}

/** Another try may get the ID of a row some time before the row becomes visible, while rows with higher IDs are. */
const LATE_IDS = 200;
/** To read the IDs of so few rows takes as long as to find the rows without them. */
const FEW = 20;

/**
 * The ledger as a run uses it. It knows its own rows by their ID, the only column with an index: beside many rows every
 * other condition takes long. And it prolongs the reservations of the run.
 *
 * @param calls How many calls the run has.
 */
export function ownRows(
	context: IExecuteFunctions,
	table: TableSchema,
	clock: Clock,
	{ origin = '', root = '', isRetry = false }: Partial<Origin> = {},
	calls = 0,
) {
	const ids = new Map<unknown, Set<number>>();
	/** The rows of this run have higher IDs: all of them, and those that it has not seen. */
	let [first, after] = [0, 0];
	/** When the reservations began, or were prolonged. */
	let heldAtMs = -Infinity;
	const isHeld = () => clock.now() - heldAtMs <= RESERVATION_MS;

	function byId(rows: Filter): Filter {
		if ('all' in rows) return rows;
		const any = rows.any.flatMap((each): readonly Condition[] => {
			const known = each[0] === 'pending' ? ids.get(each[2]) : undefined;
			return known === undefined ? [each] : [...known].map((id) => ['id', 'eq', id]);
		});
		return { any };
	}

	/** The step that prolongs all claims and reservations of this execution. */
	function prolongation(nowMs: number): Step {
		const all = [
			['id', 'gt', first],
			['origin', 'eq', origin],
			['execution_id', 'eq', root],
			['status', 'neq', 'sent'],
			['task_id', 'isEmpty'],
		] as const;
		return { set: { sent_at: new Date(nowMs).toISOString() }, where: { all } };
	}

	/**
	 * Runs steps on the table.
	 *
	 * @returns The rows that the last step finds. In a retry, and where there are many, after calls are inserted the new rows
	 *   of all tries of the execution.
	 */
	async function onLedger(given: readonly Step[]): Promise<readonly Row[]> {
		const nowMs = clock.now();
		const steps = given.flatMap((step) => forRows(step, (rows) => [byId(rows)]));
		const inserts = steps.some((step) => 'insert' in step && step.insert.length > 0);
		const looks = inserts && (isRetry || calls > FEW);
		const all = [
			['origin', 'eq', origin],
			['id', 'gt', after],
		] as const;
		if (looks) steps.push({ find: { all } });
		// What has expired may be another execution's by now.
		const prolongs = isHeld() && nowMs - heldAtMs >= PROLONG_MS;
		const end = steps.length - Number('find' in (steps.at(-1) ?? {}));
		if (prolongs) steps.splice(end, 0, prolongation(nowMs));
		const rows = await onTable(context, table, ...steps);
		if (prolongs) heldAtMs = nowMs;
		for (const { id, pending, origin: value } of rows) {
			if (value === origin)
				ids.set(pending, (ids.get(pending) ?? new Set()).add(id as number));
		}
		if (looks && rows.length > 0) {
			first ||= Number(rows[0]!['id']) - 1;
			const last = Number(rows.at(-1)!['id']);
			after = Math.max(after, isRetry ? last - LATE_IDS : last);
		}
		return rows;
	}

	return {
		onLedger,
		/** Begins with reservations: `onLedger` prolongs them from now on. */
		hold: () => {
			heldAtMs = clock.now();
		},
		/** Whether the reservations have not expired. */
		isHeld,
	};
}
