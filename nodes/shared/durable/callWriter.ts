import { randomUUID } from 'node:crypto';

import { settled } from '../../client/concurrency';
import type { Clock } from '../../client/ports';
import { oneOf, type Condition, type Find, type Row, type Step } from '../engine/dataTable';
import type { AskedCall } from './call';
import { theseClaims, type Claim } from './claimKeys';
import { nowIso } from './taskTable';

/** An answer waits no longer than this for the next write, in milliseconds. */
const FLUSH_MS = 1_000;
/** A write waits this long at most for calls that end at nearly the same time, and looks so often, in milliseconds. */
const [GATHER_MS, LOOK_MS] = [30, 2];

/**
 * What became of the announcement of a call: its row is `sent`; its claim was removed, so that another call may have the key;
 * or it was not written.
 */
export type Announced = 'stored' | 'lost' | 'failed';

/** What the writer needs of the table. */
interface Table {
	readonly clock: Clock;
	/** Runs steps; returns the rows that the last one finds. */
	readonly write: (steps: readonly Step[]) => Promise<readonly Row[]>;
	/** Announces calls, and takes back those that exceed a limit by the rows that the write finds. */
	readonly admit: (
		calls: readonly AskedCall[],
		announce: (find?: Find) => Promise<readonly Row[]>,
	) => Promise<void>;
	/** The claim of a call, if it has one. */
	readonly claimOf: (call: AskedCall) => Claim | undefined;
}

/**
 * Writes the calls of a run into the ledger: each has a row `sent` while it is under way. A claim becomes `sent` by a
 * compare-and-set of its row, by the token of the write that it came with.
 *
 * One write at a time: what comes meanwhile goes together into the next one. The answer of a call is a row of its own, and
 * the same write then removes the row `sent`: whatever ends this process, one row of each call is there.
 */
export function callWriter({ clock, write, admit, claimOf }: Table) {
	/** The IDs of the rows `sent` of each call. */
	const rows = new Map<AskedCall, readonly unknown[]>();
	const announced = new Map<AskedCall, Announced>();
	let due = new Set<AskedCall>();
	let answers: Row[] = [];
	let gone: Condition[] = [];
	const closed = new AbortController();
	/** The highest ID of a row `sent` that this run has written. */
	let highestId = 0;
	let running: Promise<void> | undefined;
	let isFlushing = false;

	async function writeAll(calls: readonly AskedCall[], given?: Find): Promise<readonly Row[]> {
		const token = randomUUID();
		const [inserted, removed] = [answers, gone];
		[answers, gone] = [[], []];
		const sent = { status: 'sent', sent_at: nowIso(), token };
		const added = calls.filter((call) => claimOf(call) === undefined);
		const claims = calls.flatMap((call) => claimOf(call) ?? []);
		const steps: Step[] = [
			{
				insert: [
					...inserted.map((row) => ({ ...row, token })),
					...added.map(({ row }) => ({ ...row, ...sent })),
				],
			},
			{ remove: { any: removed } },
			...theseClaims(claims).map((where) => ({ set: { ...sent, token: '' }, where })),
		];
		// The rows that are there until this write ends: on SQLite the ID of one that is gone comes again.
		const there = [...[...rows.values()].flat(), ...removed.map(([, , value]) => value)];
		const last = Math.max(0, ...there.map((id) => Number(id) || 0));
		const ofWrite = {
			all: [['token', 'eq', token] as const, ['id', 'gt', last] as const],
		};
		const find = given ?? (added.length > 0 ? { find: ofWrite } : undefined);
		if (find) steps.push(find);
		const outcome = await settled(writeAndFind(steps, claims));
		if ('error' in outcome) {
			answers.unshift(...inserted);
			gone.unshift(...removed);
			// They may have been written all the same.
			for (const call of calls) {
				announced.set(call, 'failed');
				rows.set(call, idsOf(call, []));
			}
			return [];
		}
		for (const call of calls) {
			// A row without the token of its claim is not one that a person has set to sent.
			const own = outcome.value.filter(
				({ id, call: name, status, token: now }) =>
					name === call.call &&
					status === 'sent' &&
					(claimOf(call) === undefined || (claimOf(call)!.id === id && !now)),
			);
			// What was inserted is there, also where n8n gives nothing back, as after the time limit of a workflow.
			const isLost = own.length === 0 && claimOf(call) !== undefined;
			rows.set(call, isLost ? [] : idsOf(call, own));
			announced.set(call, isLost ? 'lost' : 'stored');
			highestId = Math.max(highestId, ...own.map(({ id }) => Number(id)));
		}
		return outcome.value;
	}

	/**
	 * Runs steps; returns the rows that the last one finds or sets, and those of all claims. They are read where they did not come
	 * back: a step was run again after an error, though it had been committed, or there were several.
	 */
	async function writeAndFind(
		steps: readonly Step[],
		claims: readonly Claim[],
	): Promise<readonly Row[]> {
		const rows = await write(steps);
		const missing = claims.filter(({ id }) => !rows.some((row) => row['id'] === id));
		if (missing.length === 0) return rows;
		const ids = missing.map(({ id }) => id);
		return [...rows, ...(await write([{ find: oneOf('id', ids) }]))];
	}

	function idsOf(call: AskedCall, own: readonly Row[]): readonly unknown[] {
		const claim = claimOf(call);
		return claim ? [claim.id] : own.map(({ id }) => id);
	}

	/**
	 * Calls that are under way together often end together: a write waits for one that is late, as they would go apart for the
	 * rest of the run, with a write for each part.
	 */
	async function gatherAndWrite(): Promise<void> {
		const [count, isLate] = [due.size + rows.size, rows.size > 1];
		for (let ms = 0; isLate && due.size < count && ms < GATHER_MS; ms += LOOK_MS)
			// The execution may be canceled: what is paid for is written all the same.
			await clock.sleep(LOOK_MS, closed.signal).catch(() => undefined);
		const calls = [...due];
		due = new Set();
		if (calls.length === 0) await writeAll([]);
		else await admit(calls, async (find) => await writeAll(calls, find));
		for (const call of calls) if (!announced.has(call)) announced.set(call, 'failed');
	}

	/** Resolves after a write that has what is due. */
	async function written(isDue: () => boolean): Promise<void> {
		await running;
		if (!isDue()) return;
		await (running ??= gatherAndWrite().finally(() => {
			running = undefined;
		}));
	}

	/** Writes what has ended, if no announcement comes: the next one may be minutes away. */
	async function flushLater(): Promise<void> {
		isFlushing = true;
		await clock.sleep(FLUSH_MS, closed.signal).catch(() => undefined);
		isFlushing = false;
		await written(() => answers.length + gone.length > 0 && !closed.signal.aborted);
	}

	return {
		/** Resolves right before a call is sent. */
		async announce(call: AskedCall): Promise<Announced> {
			announced.delete(call);
			due.add(call);
			while (!announced.has(call)) await written(() => due.has(call));
			return announced.get(call)!;
		},
		/** Keeps the answer of a call, which goes into the next write; without a row the call leaves none. */
		settle(call: AskedCall, row?: Row): void {
			const ids = rows.get(call);
			rows.delete(call);
			if (row !== undefined) {
				gone.push(...(ids ?? []).map((id) => ['id', 'eq', Number(id)] as const));
				answers.push(row);
			}
			// By its name: a write whose error came afterwards has left rows whose IDs nobody knows.
			else if (ids !== undefined) gone.push(['call', 'eq', call.call]);
			if (!isFlushing) void flushLater();
		},
		/** Writes the answers that are left; returns the rows of the filter. */
		async flush(find?: Find): Promise<readonly Row[]> {
			while (running !== undefined) await running;
			const isDue = answers.length + gone.length > 0 || find !== undefined;
			return isDue ? await writeAll([], find) : [];
		},
		/** Ends the timer of `settle`, and returns the highest ID of the rows `sent` that were written. */
		end(): number {
			closed.abort();
			return highestId;
		},
	};
}
