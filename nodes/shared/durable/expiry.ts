import type { Step } from '../engine/dataTable';

/** Number of the newest rows that stay. */
const KEPT = 40_000;
/** New rows after which old ones are removed again. */
const EVERY = 1_000;

/** The ID up to which this process has removed old rows, by the ID of the workflow. */
const removedUpTo = new Map<string, number>();

/**
 * The step that removes old rows whose video is finished. Their order is that of their IDs: a clock may be wrong. Rows with a key stay:
 * they promise that no second video is created.
 *
 * @param newest ID of a new row.
 */
export function expiry(workflow: string, newest: number): readonly Step[] {
	const upTo = newest - KEPT;
	if (upTo - (removedUpTo.get(workflow) ?? 0) < EVERY) return [];
	removedUpTo.set(workflow, upTo);
	const all = [
		['id', 'lt', upTo],
		['finished_at', 'isNotEmpty'],
		['idempotency_key', 'isEmpty'],
	] as const;
	return [{ remove: { all } }];
}
