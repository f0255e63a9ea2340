import { randomUUID } from 'node:crypto';

import { settled } from '../../client/concurrency';
import type { Clock } from '../../client/ports';
import type { AskedCall } from './call';
import { oneOf, TableError, type Row, type Step } from '../engine/dataTable';

/** An answer waits no longer than this for the next write, in milliseconds. */
const FLUSH_MS = 1_000;
/** A write waits this long for calls that end at nearly the same time, in milliseconds. */
const GATHER_MS = 10;
/** Calls are announced before their turn where a write takes more than this share of the time of a call. */
const LONG_WRITE = 0.1;

/**
 * Writes the calls of a run into the ledger. Those under way have a row `sent`. Where the service answers about as fast as
 * the table, so have as many that are next.
 *
 * One write at a time: what comes meanwhile goes together into the next one. A write inserts rows, and then removes those
 * that they replace: whatever ends this process, one row of each call is there.
 *
 * @param concurrency How many calls are under way at the same time; 0 where none is announced before its turn.
 * @param write Runs the steps. What it could not write goes into the next write, unless the table cannot be used at all.
 */
export function callWriter<C extends Pick<AskedCall, 'row' | 'replaces'>>(
	calls: readonly C[],
	concurrency: number,
	clock: Clock,
	write: (steps: readonly Step[]) => Promise<unknown>,
) {
	/** The rows that each call has, or may have, in the table, by `pending`. */
	const rows = new Map(calls.map((call) => [call, call.replaces]));
	/** What takes the place of these rows with the next write: a row, or none. */
	const due = new Map<C, Row | undefined>();
	/** The announced calls without an answer, each with the time when it was sent. */
	const open = new Map<C, number>();
	/** The calls that are not announced, in their order. */
	const unused = new Set(calls);
	/** The announced calls that are not under way. */
	const next = new Set<C>();
	const closed = new AbortController();
	/** How long the last write and the last call took. */
	let [writeMs, callMs] = [0, Infinity];
	let isBroken = false;
	/** Whether the last write failed. */
	let hasFailed = false;
	let running: Promise<void> | undefined;
	let isFlushing = false;

	/** How many calls are announced before their turn. */
	const ahead = () => (writeMs > LONG_WRITE * callMs ? concurrency : 0);

	async function writeAll(more: readonly Step[] = []): Promise<void> {
		for (const call of unused) {
			if (next.size >= ahead()) break;
			add(call);
			next.add(call);
		}
		const startMs = clock.now();
		const batch = [...due].map(([call, row]) => ({ call, row, pending: randomUUID() }));
		const insert = batch.flatMap(({ row, pending }) => (row ? { ...row, pending } : []));
		const replaced = batch.flatMap(({ call }) => rows.get(call)!);
		const steps = [{ insert }, { remove: oneOf('pending', replaced) }, ...more];
		const outcome = await settled(write(steps));
		hasFailed = 'error' in outcome;
		const { error } = outcome as { readonly error?: unknown };
		isBroken = hasFailed && !(error instanceof TableError && error.reason === 'failed');
		writeMs = clock.now() - startMs;
		for (const { call, row, pending } of batch) {
			// A write that failed may have been done in part.
			const kept = hasFailed ? rows.get(call)! : [];
			rows.set(call, row ? [...kept, pending] : kept);
			if (!hasFailed && due.get(call) === row) due.delete(call);
		}
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
		isFlushing = true;
		await clock.sleep(FLUSH_MS, closed.signal).catch(() => undefined);
		isFlushing = false;
		await written(() => due.size > 0 && !hasFailed && !closed.signal.aborted);
	}

	function add(call: C): void {
		unused.delete(call);
		open.set(call, -Infinity);
		const sent_at = new Date(clock.now()).toISOString();
		due.set(call, { ...call.row, status: 'sent', sent_at });
	}

	return {
		/** Resolves right before the call is sent, to whether its row is stored. */
		async announce(call: C): Promise<boolean> {
			next.delete(call);
			if (unused.has(call)) add(call);
			if (isBroken) return false;
			const isNextDue = () => unused.size > 0 && next.size === 0 && ahead() > 0;
			if (due.has(call)) await written(() => due.has(call));
			else if (isNextDue()) void written(() => isNextDue() && !closed.signal.aborted);
			open.set(call, clock.now());
			return !due.has(call);
		},
		/** Replaces the row of a call; without a row the call leaves none. Written with the next announcement. */
		settle(call: C, row?: Row): void {
			callMs = clock.now() - open.get(call)!;
			open.delete(call);
			due.set(call, row);
			if (row !== undefined && !isFlushing) void flush();
		},
		/** Writes what is left, then runs more steps. Calls that were not sent leave no row, and what their rows would have replaced goes. */
		async close(more: readonly Step[]): Promise<void> {
			closed.abort();
			while (running !== undefined) await running;
			for (const call of [...next, ...unused])
				if (next.has(call) || rows.get(call)!.length > 0) due.set(call, undefined);
			unused.clear();
			if (due.size > 0) await writeAll(more);
			if (!hasFailed) return;
			// A table that is full takes no rows, but gives them back.
			for (const [call, row] of due) if (row) due.delete(call);
			await writeAll();
		},
	};
}
