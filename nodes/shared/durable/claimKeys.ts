import { randomUUID } from 'node:crypto';

import { settled, slices, valueOf, type Settled } from '../../client/concurrency';
import { oneOf, type Filter, type Row, type Step } from '../engine/dataTable';
import { isOwn } from '../run/credential';
import { byCall, grouped, mainRowOf, outcomeOf, toKnown, type AskedCall, type Paid } from './call';
import { lockOf, type CallRun } from './callRun';
import { claimsOf, decide, theseClaims, type KeyedCall } from './claim';
import { keyConflict, keyInUse, keyOfOther, notKept } from './errors';
import { stateOf } from './states';
import { taskIdOf } from './taskTable';

/** A claim that may be sent: its row, and which video of its key it is, where the others have failed. */
export interface Claim {
	readonly id: number;
	readonly token: string;
	readonly attempt: number;
}

/** Maximum claims of one write, and keys of one filter. */
const GROUP = 200;
/** How long to wait for others at most. */
const WAIT_MS = 90_000;
/** A claim of another execution is removed when this one has seen it for so long: if its owner still runs, it begins again. */
const CLAIM_MS = 60_000;
/**
 * A creation is answered within two minutes by default: nobody waits for an older one. The clocks of two hosts may differ, but
 * this decides only how soon the error comes.
 */
const ANSWER_MS = 180_000;
/** Bounds of the random pause between two reads. */
const [MIN_PAUSE_MS, MAX_PAUSE_MS] = [500, 1_000] as const;

/** Whether a row is a claim: nothing was sent for it. */
export const isClaim = (row: Row) => stateOf(row) === 'claimed';

function toKeyed(row: Row): KeyedCall {
	return { call: String(row['call']), state: stateOf(row), id: Number(row['id']) };
}

/** The steps that remove what is left of the claims of these writes. */
export function release(tokens: Iterable<string>): readonly Step[] {
	return [...tokens].map((token) => ({ remove: claimsOf(token) }));
}

/**
 * Claims the keys of calls, so that one call at most is sent for each of them: in all executions of the workflow, and on all
 * workers that use the same database. n8n's tables have no unique constraint; `decide` says how it is held. In a retry calls
 * without a key are claimed, too, by their place, for two retries at the same moment.
 *
 * Known then are the outcomes of calls whose key another execution has, and errors.
 *
 * @param earlier IDs of the rows that `recallCalls` has judged: no other retry competes by them.
 * @param tokens Gets the tokens of the claims that were written: `release` removes them.
 * @returns The claims of the calls that are left to send, of those with one key for the first.
 * @throws InputError where no key can be claimed, and the error of a canceled execution. The claims are withdrawn then.
 */
export async function claimKeys<T>(
	run: CallRun<T>,
	calls: readonly AskedCall[],
	earlier: ReadonlySet<unknown>,
	tokens: Set<string>,
): Promise<ReadonlyMap<AskedCall, Claim>> {
	const { kind, clock, account, known, origin, onLedger, isRetry } = run;
	const leaders = new Map<string, AskedCall>();
	for (const each of calls)
		if (each.lock !== '' && !leaders.has(each.lock)) leaders.set(each.lock, each);
	const claims = new Map<AskedCall, Claim>();
	/** The rows of the call that has the key, or an error. */
	const outcomes = new Map<AskedCall, Settled<readonly Row[]>>();
	/** When claims of others were first seen, by the ID of their row. */
	const seen = new Map<number, number>();

	function findAll(open: readonly AskedCall[]): Filter {
		const keys = open.flatMap(({ key }) => (key === '' ? [] : [key]));
		return keys.length > 0
			? oneOf('idempotency_key', keys)
			: { all: [['origin', 'eq', origin!.origin]] };
	}

	/** Whether a row with its lock competes with a call. Without a key only another retry does. */
	function isOfCall(row: Row, { call, key }: AskedCall): boolean {
		if (key !== '') return [run.workflowId, '', null].includes(row['workflow_id'] as string);
		const isRival = row['execution_id'] !== origin!.root && !earlier.has(row['id']);
		return isRival || row['call'] === call;
	}

	/** Whether a claim of another one is to be removed. */
	function isDead({ id }: Row): boolean {
		const sinceMs = seen.get(Number(id)) ?? clock.now();
		seen.set(Number(id), sinceMs);
		return clock.now() - sinceMs >= CLAIM_MS;
	}

	async function claimAll(part: readonly AskedCall[]): Promise<void> {
		const deadlineMs = clock.now() + WAIT_MS;
		let toClaim = part;
		for (let open = part; open.length > 0;) {
			const token = randomUUID();
			if (toClaim.length > 0) tokens.add(token);
			const claimed = {
				status: 'claimed',
				sent_at: new Date(Date.now()).toISOString(),
				token,
			};
			const insert = toClaim.map(({ row }) => ({ ...row, ...claimed }));
			const rows = await onLedger({ insert }, { find: findAll(open) });
			const byLock = grouped(rows, (row) => lockOf(row, isRetry));
			const written = new Set(toClaim);
			const [next, withdrawn, dead] = [[] as AskedCall[], [] as Row[], [] as Row[]];
			for (const call of open) {
				const rivals = (byLock.get(call.lock) ?? []).filter((row) => isOfCall(row, call));
				const ofLock = [...byCall(rivals).values()];
				const states = ofLock.map(mainRowOf).map(toKeyed);
				const decision = decide(states, call.call);
				const own = rivals.findLast((row) => row['call'] === call.call && isClaim(row));
				const isLate = clock.now() >= deadlineMs;
				const others = ofLock.map(mainRowOf).filter((row) => row !== own);
				const hasVideo = typeof decision === 'object' && decision.use.state !== 'sent';
				// Beside a video nobody needs a claim: its owner, if it lives, finds the video when it begins again.
				dead.push(...others.filter((row) => isClaim(row) && (hasVideo || isDead(row))));
				// Somebody may have removed it between the write and the read.
				if (decision === 'claim' && written.has(call) && isLate)
					throw new Error('it does not return the claim that was written');
				if (decision === 'send') {
					const failed = states.filter(({ state }) => state === 'failed').length;
					const { id, token: ownToken } = own as { id: number; token: string };
					claims.set(call, { id, token: ownToken, attempt: failed + 1 });
					continue;
				}
				if (own && (decision !== 'wait' || isLate)) withdrawn.push(own);
				if (typeof decision === 'object') {
					const made = ofLock.find((of) => mainRowOf(of)['id'] === decision.use.id)!;
					const main = mainRowOf(made);
					const isOld = !(
						clock.now() - Date.parse(main['sent_at'] as string) <=
						ANSWER_MS
					);
					if (hasVideo) outcomes.set(call, { value: made });
					else if (isLate || isOld) outcomes.set(call, { error: keyInUse(main) });
					// A kill may have left the row of a call beside that of its answer.
					if (taskIdOf(main) !== '')
						withdrawn.push(...made.filter((row) => !taskIdOf(row)));
				} else if (isLate) outcomes.set(call, { error: keyInUse(others[0] ?? call.row) });
				if (decision === 'claim') next.push(call);
			}
			const isClaimOfWrite = (row: Row) => isClaim(row) && Boolean(row['token']);
			await onLedger(
				...removalsOfCall(withdrawn.filter((row) => !isClaimOfWrite(row))),
				...removals([...withdrawn.filter(isClaimOfWrite), ...dead]),
			);
			open = open.filter((call) => !claims.has(call) && !outcomes.has(call));
			toClaim = next.filter((call) => open.includes(call));
			if (open.length > toClaim.length || toClaim.some((call) => written.has(call)))
				await clock.sleep(MIN_PAUSE_MS + (MAX_PAUSE_MS - MIN_PAUSE_MS) * clock.random());
		}
	}

	async function claimParts(): Promise<void> {
		for (const part of slices([...leaders.values()], GROUP)) await claimAll(part);
	}

	function outcomeFor(each: AskedCall, leader: AskedCall): Settled<Paid<T>> | undefined {
		const made = outcomes.get(leader);
		if (made && 'error' in made) return made;
		const row = made && mainRowOf(made.value);
		if (row && !isOwn(row, account)) return { error: keyOfOther(row) };
		const first = made ? toKnown(kind, made.value) : leader;
		// A row that a person has added has no hash.
		if (!each.useExisting && first.hash !== '' && first.hash !== each.hash)
			return { error: keyConflict(each, first) };
		return made && outcomeOf(first, true);
	}

	const ended = await settled(claimParts());
	if ('error' in ended) {
		await onLedger(...release(tokens)).catch(() => undefined);
		tokens.clear();
		if (calls.some(({ key }) => key !== '')) throw notKept('Idempotency Key', ended.error);
		valueOf(ended);
	}
	for (const each of calls) {
		const leader = leaders.get(each.lock);
		const outcome = leader && outcomeFor(each, leader);
		if (outcome !== undefined) known.set(each.index, outcome);
	}
	return claims;
}

/**
 * The steps that remove claims by compare-and-delete: who lives begins again. A row that a person has set back to claimed has no
 * token, and is never removed. Never by the ID alone: on SQLite another row may have it by then.
 */
export function removals(claims: readonly Row[]): readonly Step[] {
	const rows = claims
		.filter(({ token }) => token)
		.map(({ id, token }) => ({ id: Number(id), token: String(token) }));
	return theseClaims(rows).map((remove) => ({ remove }));
}

/** The steps that remove rows of a call. */
function removalsOfCall(rows: readonly Row[]): readonly Step[] {
	return rows.map(({ id, call }) => ({
		remove: {
			all: [
				['id', 'eq', Number(id)],
				['call', 'eq', String(call)],
			],
		},
	}));
}
