import type { IExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../../client/ports';
import { onTable, type Condition, type Row, type Step, type TableSchema } from './dataTable';
import type { Origin } from './origin';
import { PROLONG_MS, RESERVATION_MS } from './paidCall';

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
	origin: Origin | undefined,
	calls: number,
) {
	const ids = new Map<unknown, Set<number>>();
	/** The rows of this run have higher IDs: all of them, and those that it has not seen. */
	let [first, after] = [0, 0];
	/** When the reservations began, or were prolonged. */
	let heldAtMs = -Infinity;
	const isHeld = () => clock.now() - heldAtMs <= RESERVATION_MS;

	function byId(conditions: readonly Condition[]): readonly Condition[] {
		return conditions.flatMap((each): readonly Condition[] => {
			const known = each[0] === 'pending' ? ids.get(each[2]) : undefined;
			return known === undefined ? [each] : [...known].map((id) => ['id', 'eq', id]);
		});
	}

	function withIds(step: Step): Step {
		if ('remove' in step && 'any' in step.remove)
			return { remove: { any: byId(step.remove.any) } };
		if ('set' in step && 'any' in step.where)
			return { ...step, where: { any: byId(step.where.any) } };
		return step;
	}

	function prolongation({ origin: value, root }: Origin, nowMs: number): Step {
		const all = [
			['id', 'gt', first],
			['origin', 'eq', value],
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
	async function run(given: readonly Step[]): Promise<readonly Row[]> {
		const nowMs = clock.now();
		const steps = given.map(withIds);
		const announces = steps.some(
			(step) => 'insert' in step && step.insert.some(({ pending }) => pending),
		);
		// What has expired may be another execution's by now.
		const prolongs = isHeld() && nowMs - heldAtMs >= PROLONG_MS;
		if (origin !== undefined) {
			const find = {
				all: [
					['origin', 'eq', origin.origin],
					['id', 'gt', after],
				],
			} as const;
			if (announces && (origin.isRetry || calls > FEW)) steps.push({ find });
			const end = 'find' in (steps.at(-1) ?? {}) ? steps.length - 1 : steps.length;
			if (prolongs) steps.splice(end, 0, prolongation(origin, nowMs));
		}
		const rows = await onTable(context, table, ...steps);
		if (prolongs) heldAtMs = nowMs;
		for (const { id, pending, origin: value } of rows) {
			if (!pending || value !== origin?.origin) continue;
			ids.set(pending, (ids.get(pending) ?? new Set()).add(id as number));
		}
		if (announces && rows.length > 0) {
			first ||= Number(rows[0]!['id']) - 1;
			const last = Number(rows.at(-1)!['id']);
			after = Math.max(after, origin?.isRetry === true ? last - LATE_IDS : last);
		}
		return rows;
	}

	return {
		run,
		/** Begins with reservations: `run` prolongs them from now on. */
		hold: () => {
			heldAtMs = clock.now();
		},
		/** Whether the reservations have not expired. */
		isHeld,
	};
}
