import { slices } from '../../client/concurrency';
import type { Clock } from '../../client/ports';
import { MAX_CONDITIONS, TableError, type Condition, type Row, type Step } from './dataTable';

/** Share of the time that may go into writing: batches grow until this is kept. */
const WRITING_SHARE = 0.08;
/** An answer waits no longer than this for the next batch, in milliseconds. */
const FLUSH_MS = 1_000;

/** A call before it is sent. */
export interface Announcement {
	/** Its row, without the columns `status`, `pending` and `sent_at`. */
	readonly row: Row;
	/** The rows that this one replaces. */
	readonly replaces: readonly Condition[];
}

/**
 * Writes the calls of a run into the ledger, in batches. Calls are named by their index.
 *
 * A batch of announcements is as small as `smallest` where the service takes its time, so that the table names no call
 * which is not under way. It grows where writing would take more than a small part of the time.
 *
 * Each batch has an ID of its own in the column `pending`. The next one inserts the answers, and announces again what is
 * still under way; then the rows of the batch before go. Whatever ends this process, one row of each call is there.
 *
 * @param newId Returns a unique ID.
 * @param write Runs the steps. What it could not write goes into the next batch, unless the table cannot be used at all.
 */
export function batchWriter(
	calls: readonly Announcement[],
	smallest: number,
	{ clock, newId }: { readonly clock: Clock; readonly newId: () => string },
	write: (steps: readonly Step[]) => Promise<unknown>,
) {
	const underWay = new Set<number>();
	const notStored = new Set<number>();
	const closed = new AbortController();
	/** Calls that were announced one by one: a call may wait for another one of its session. */
	const started = new Set<number>();
	/** Number of calls that were in a batch, from the first on. */
	let announced = 0;
	let isBroken = false;
	/** Whether the last batch was not written. */
	let hasFailed = false;
	let last = { writingMs: 0, endMs: clock.now() };
	/** Calls that were settled since then. */
	let settled = 0;
	let running: Promise<void> | undefined;
	let flushing: Promise<void> | undefined;
	let answers: Row[] = [];
	/** The rows that the next batch removes. */
	let replaced: readonly Condition[] = [];

	/** As many calls as take long enough, at the pace of those since the last batch. */
	function nextSize(): number {
		const workMs = Math.max(1, clock.now() - last.endMs);
		const paceMs = workMs / Math.max(smallest, settled);
		return Math.ceil(Math.max(smallest, last.writingMs / (WRITING_SHARE * paceMs)));
	}

	async function writeBatch(count: number, more: readonly Step[] = []): Promise<void> {
		const startMs = clock.now();
		const [batch, next] = [answers, newId()];
		answers = [];
		const added = calls.slice(announced, announced + count);
		const indexes = added.map((_call, offset) => announced + offset);
		const open = [...underWay].map((index) => calls[index]!).concat(added);
		const old = [...replaced, ...added.flatMap(({ replaces }) => replaces)];
		const columns = { status: 'sent', pending: next, sent_at: new Date(startMs).toISOString() };
		const rows = open.map(({ row }) => ({ ...row, ...columns }));
		const stored = [...underWay, ...indexes];
		replaced = [['pending', 'eq', next]];
		try {
			await write([{ insert: [...batch, ...rows] }, ...removals(old), ...more]);
			stored.forEach((index) => notStored.delete(index));
			hasFailed = false;
		} catch (error) {
			isBroken = !(error instanceof TableError && error.reason === 'failed');
			hasFailed = true;
			answers = [...batch, ...answers];
			// It may have been written in part.
			replaced = [...old, ...replaced];
			indexes.forEach((index) => notStored.add(index));
		}
		indexes.forEach((index) => underWay.add(index));
		announced += added.length;
		const endMs = clock.now();
		last = { writingMs: endMs - startMs, endMs };
		settled = 0;
	}

	async function writeNext(count: number): Promise<void> {
		await (running ??= writeBatch(count).finally(() => {
			running = undefined;
		}));
	}

	/** Writes answers for which no batch comes: the next one may be minutes away. */
	async function flush(): Promise<void> {
		for (let pauseMs = FLUSH_MS; answers.length > 0 && !hasFailed && !closed.signal.aborted;) {
			const before = last;
			await clock.sleep(pauseMs, closed.signal);
			const isDue = answers.length > 0 && last === before && !closed.signal.aborted;
			if (isDue) await writeNext(0);
			// These answers are younger than the batch that came meanwhile.
			pauseMs = Math.max(0, last.endMs + FLUSH_MS - clock.now());
		}
	}

	return {
		/** Resolves right before the call is sent, to whether its row is stored. Batches are in the order of the calls. */
		async announce(index: number): Promise<boolean> {
			started.add(index);
			while (index >= announced && !isBroken) await writeNext(nextSize());
			// The next batch is written while the last calls of this one are under way.
			const isNextDue = announced < calls.length && announced - started.size <= smallest;
			if (isNextDue && settled >= smallest && !isBroken) void writeNext(nextSize());
			return index < announced && !notStored.has(index);
		},
		/** Replaces the announced row of a call; without a row the call leaves none. Written with the next batch. */
		settle(index: number, row?: Row): void {
			settled++;
			underWay.delete(index);
			if (row !== undefined) answers.push(row);
			flushing ??= flush()
				// The execution is canceled: `close` writes the rest.
				.catch(() => undefined)
				.finally(() => {
					flushing = undefined;
				});
		},
		/** Writes what is left, then runs more steps. Calls that were not announced one by one are not sent: they leave no row. */
		async close(more: readonly Step[]): Promise<void> {
			closed.abort();
			await running;
			for (const index of underWay) if (!started.has(index)) underWay.delete(index);
			const unused = calls.slice(announced).flatMap(({ replaces }) => replaces);
			replaced = [...replaced, ...unused];
			if (replaced.length + answers.length > 0) await writeBatch(0, more);
		},
	};
}

/** The steps that remove the rows of any of these conditions. */
export function removals(conditions: readonly Condition[]): Step[] {
	return slices(conditions, MAX_CONDITIONS).map((any) => ({ remove: { any } }));
}
