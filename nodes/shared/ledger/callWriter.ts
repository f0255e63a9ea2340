import { randomUUID } from 'node:crypto';

import type { Clock } from '../../client/ports';
import type { AskedCall } from './call';
import { removals, TableError, type Condition, type Row, type Step } from './dataTable';

/** An answer waits no longer than this for the next write, in milliseconds. */
const FLUSH_MS = 1_000;
/** A write waits this long for calls that end at nearly the same time, in milliseconds. */
const GATHER_MS = 10;
/** Calls are announced before their turn where a write takes more than this share of the time of a call. */
const LONG_WRITE = 0.1;

/**
 * Writes the calls of a run into the ledger. Calls are named by their index. Those under way have a row `sent`. Where
 * the service answers about as fast as the table, so have as many that are next.
 *
 * One write at a time: what comes meanwhile goes together into the next one. A write inserts rows, and then removes those
 * that they replace: whatever ends this process, one row of each call is there.
 *
 * @param concurrency How many calls are under way at the same time; 0 where none is announced before its turn.
 * @param write Runs the steps. What it could not write goes into the next write, unless the table cannot be used at all.
 */
export function callWriter(
	calls: readonly Pick<AskedCall, 'row' | 'replaces'>[],
	concurrency: number,
	clock: Clock,
	write: (steps: readonly Step[]) => Promise<unknown>,
) {
	/** The announced calls without an answer, each with the condition that finds its row; undefined before it is stored. */
	const open = new Map<number, Condition | undefined>();
	/** The calls that are not announced, in their order. */
	const unused = new Set(calls.keys());
	/** The announced calls that are not under way. */
	const next = new Set<number>();
	const closed = new AbortController();
	const sentAtMs = new Map<number, number>();
	/** How long the last write and the last call took. */
	let [writeMs, callMs] = [0, Infinity];
	let isBroken = false;
	/** Whether the last write failed. */
	let hasFailed = false;
	/** What the next write inserts, removes after that, and removes in any case. */
	let answers: Row[] = [];
	let replaced: Condition[] = [];
	let unsent: Condition[] = [];
	let running: Promise<void> | undefined;

	/** How many calls are announced before their turn. */
	const ahead = () => (writeMs > LONG_WRITE * callMs ? concurrency : 0);

	async function writeAll(more: readonly Step[] = []): Promise<void> {
		for (const index of unused) {
			if (next.size >= ahead()) break;
			add(index);
			next.add(index);
		}
		const startMs = clock.now();
		const [inserted, removed, freed] = [answers, replaced, unsent];
		[answers, replaced, unsent] = [[], [], []];
		const added = [...open.keys()].filter((index) => open.get(index) === undefined);
		const columns = { status: 'sent', sent_at: new Date(startMs).toISOString() };
		const rows = added.map((index) => ({
			...calls[index]!.row,
			...columns,
			pending: randomUUID(),
		}));
		const old = [...removed, ...freed, ...added.flatMap((index) => calls[index]!.replaces)];
		const stored = rows.map(({ pending }): Condition => ['pending', 'eq', pending]);
		hasFailed = await write([{ insert: [...inserted, ...rows] }, ...removals(old), ...more])
			.then(() => false)
			.catch((error: unknown) => {
				isBroken = !(error instanceof TableError && error.reason === 'failed');
				return true;
			});
		writeMs = clock.now() - startMs;
		if (hasFailed) {
			answers.unshift(...inserted);
			// It may have been written in part.
			replaced.push(...removed, ...stored);
			unsent.push(...freed);
			return;
		}
		added.forEach((index, position) => {
			if (open.has(index)) open.set(index, stored[position]);
			else replaced.push(stored[position]!);
		});
	}

	/** Calls that are under way together often end together. */
	async function gatherAndWrite(): Promise<void> {
		// The execution may be canceled: what is paid for is written all the same.
		if (open.size > 1) await clock.sleep(GATHER_MS, closed.signal).catch(() => undefined);
		await writeAll();
	}

	/** Resolves after a write that has what is due. */
	async function written(isDue: () => boolean): Promise<void> {
		await running;
		if (!isDue()) return;
		await (running ??= gatherAndWrite().finally(() => {
			running = undefined;
		}));
	}

	/** Writes answers for which no announcement comes: the next one may be minutes away. */
	async function flush(): Promise<void> {
		await clock.sleep(FLUSH_MS, closed.signal);
		await written(() => answers.length > 0 && !hasFailed && !closed.signal.aborted);
	}

	function add(index: number): void {
		unused.delete(index);
		open.set(index, undefined);
	}

	return {
		/** Resolves right before the call is sent, to whether its row is stored. */
		async announce(index: number): Promise<boolean> {
			next.delete(index);
			if (unused.has(index)) add(index);
			if (isBroken) return false;
			const isStored = () => open.get(index) !== undefined;
			const isNextDue = () => unused.size > 0 && next.size === 0 && ahead() > 0;
			if (!isStored()) await written(() => !isStored());
			else if (isNextDue()) void written(() => isNextDue() && !closed.signal.aborted);
			sentAtMs.set(index, clock.now());
			return isStored();
		},
		/** Replaces the row of a call; without a row the call leaves none. Written with the next announcement. */
		settle(index: number, row?: Row): void {
			callMs = clock.now() - (sentAtMs.get(index) ?? -Infinity);
			const stored = open.get(index);
			const rows = stored === undefined ? calls[index]!.replaces : [stored];
			(row === undefined ? unsent : replaced).push(...rows);
			open.delete(index);
			// Where the execution is canceled, `close` writes the answers.
			if (row && answers.push(row) === 1) void flush().catch(() => undefined);
		},
		/** Writes what is left, then runs more steps. Calls that were not sent leave no row, and what their rows would have replaced goes. */
		async close(more: readonly Step[]): Promise<void> {
			closed.abort();
			while (running !== undefined) await running;
			for (const index of [...next, ...unused]) this.settle(index);
			unused.clear();
			if (replaced.length + unsent.length + answers.length > 0) await writeAll(more);
			// A table that is full takes no rows, but gives them back.
			if (hasFailed && unsent.length > 0)
				await write(removals(unsent)).catch(() => undefined);
		},
	};
}
