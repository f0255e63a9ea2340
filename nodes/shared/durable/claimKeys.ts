import { randomUUID } from 'node:crypto';

import { grouped, settled, slices, valueOf, type Settled } from '../../client/concurrency';
import { idRange, oneOf, type Filter, type Row, type Step } from '../engine/dataTable';
import { isOwn } from '../run/credential';
import { byCall, mainRowOf, outcomeOf, toKnown, type AskedCall, type Paid } from './call';
import { lockOf, type CallRun } from './callRun';
import { keyConflict, keyInUse, keyOfOther, notKept } from './errors';
import { decide, stateOf } from './states';
import { nowIso, taskIdOf } from './taskTable';

/** A claim that may be sent: its row, and which video of its key it is, where the others have failed. */
export interface Claim {
	readonly id: number;
	readonly token: string;
	readonly attempt: number;
}

/** Maximum claims of one write, and keys of one filter. All rows of so many keys are one page, unless many have failed. */
const GROUP = 400;
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

/** What no other row has, also later: on SQLite the ID of a row that was removed comes again. */
export const rowName = ({ id, call }: Row) => `${String(id)} ${String(call)}`;

/** Whether the key of a row holds in a workflow: a person may have added a row to it without one. */
export const isOfWorkflow = (id: string, { workflow_id }: Row) =>
	[id, '', null].includes(workflow_id as string);

/** Whether a row is a claim: nothing was sent for it. */
export const isClaim = (row: Row) => stateOf(row) === 'claimed';

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
 * @param earlier The names of the rows that `findEarlierCalls` has judged, by which no other retry competes, and whether their try has ended.
 * @param tokens Gets the tokens of the claims that were written: `release` removes them.
 * @returns The claims of the calls that are left to send, of those with one key for the first.
 * @throws InputError where no key can be claimed, and the error of a canceled execution. The claims are withdrawn then.
 */
export async function claimKeys<T>(
	run: CallRun<T>,
	calls: readonly AskedCall[],
	earlier: ReadonlyMap<unknown, boolean>,
	tokens: Set<string>,
): Promise<ReadonlyMap<AskedCall, Claim>> {
	const { kind, clock, account, known, log, origin, onLedger, isRetry } = run;
	const leaders = new Map<string, AskedCall>();
	for (const each of calls)
		if (each.lock !== '' && !leaders.has(each.lock)) leaders.set(each.lock, each);
	const claims = new Map<AskedCall, Claim>();
	/** The rows of the call that has the key, or an error. */
	const outcomes = new Map<AskedCall, Settled<readonly Row[]>>();
	/** When claims of others were first seen, by the token of their write. */
	const seen = new Map<unknown, number>();

	/** Inserts claims, and reads all rows with a lock of the open calls. */
	async function claimAndRead(toClaim: readonly AskedCall[], open: readonly AskedCall[]) {
		const token = randomUUID();
		if (toClaim.length > 0) tokens.add(token);
		const claimed = { status: 'claimed', sent_at: nowIso(), token };
		const insert = toClaim.map(({ row }) => ({ ...row, ...claimed }));
		const keys = open.flatMap(({ key }) => (key === '' ? [] : [key]));
		const find: Filter =
			keys.length > 0
				? oneOf('idempotency_key', keys)
				: { all: [['origin', 'eq', origin!.origin]] };
		const rows = await onLedger({ insert }, { find });
		return grouped(rows, (row) => lockOf(row, isRetry));
	}

	/** Whether a row with its lock competes with a call. Without a key only another retry does. */
	function isOfCall(row: Row, { call, key }: AskedCall): boolean {
		const isOther = !run.sentAgain.has(row['call'] as string);
		if (key !== '') return isOther && isOfWorkflow(run.workflowId, row);
		const isRival = row['execution_id'] !== origin!.root && !earlier.has(rowName(row));
		return isRival || row['call'] === call;
	}

	/** Whether a claim of another one has stood for too long. */
	function isDead({ token }: Row): boolean {
		const sinceMs = seen.get(token) ?? clock.now();
		seen.set(token, sinceMs);
		return clock.now() - sinceMs >= CLAIM_MS;
	}

	/** Whether the answer of a sent call may still come. */
	function isAwaited(row: Row): boolean {
		const ageMs = Date.now() - Date.parse(row['sent_at'] as string);
		return ageMs <= ANSWER_MS && earlier.get(rowName(row)) !== true;
	}

	/**
	 * Judges the rows that compete for a call: it gets its claim or its outcome, or is left open.
	 *
	 * @returns Whether it is to be claimed, and the rows that go.
	 */
	function judge(call: AskedCall, rivals: readonly Row[], isLate: boolean) {
		const made = [...byCall(rivals).values()];
		const main = made.map(mainRowOf);
		const decision = decide(main, call.call);
		const own = rivals.findLast((row) => row['call'] === call.call && isClaim(row));
		const others = main.filter((row) => row !== own);
		const used = typeof decision === 'object' ? decision.use : undefined;
		const hasVideo = used !== undefined && stateOf(used) !== 'sent';
		// Beside a video nobody needs a claim: its owner, if it lives, finds the video when it begins again.
		const gone = others.filter(
			(row) => isClaim(row) && row['token'] && (hasVideo || isDead(row)),
		);
		if (decision === 'send') {
			const failed = main.filter((row) => stateOf(row) === 'failed').length;
			const { id, token } = own as { id: number; token: string };
			claims.set(call, { id, token, attempt: failed + 1 });
			return { gone };
		}
		if (own && (decision !== 'wait' || isLate)) gone.push(own);
		const row = used ?? others.find(isClaim) ?? call.row;
		if (hasVideo) {
			const value = made[main.indexOf(row)]!;
			outcomes.set(call, { value });
			// A kill may have left the row of a call beside that of its answer.
			gone.push(...value.filter((each) => taskIdOf(each) === ''));
		} else if ((isLate && decision !== 'claim') || (used && !isAwaited(row)))
			outcomes.set(call, { error: keyInUse(row) });
		return { toClaim: decision === 'claim', gone };
	}

	async function claimAll(part: readonly AskedCall[]): Promise<void> {
		const deadlineMs = clock.now() + WAIT_MS;
		let toClaim = part;
		for (let open = part; open.length > 0;) {
			const byLock = await claimAndRead(toClaim, open);
			const isLate = clock.now() >= deadlineMs;
			const judged = open.map((call) => {
				const ofLock = byLock.get(call.lock) ?? [];
				const rivals = ofLock.filter((row) => isOfCall(row, call));
				return { call, ...judge(call, rivals, isLate) };
			});
			const again = judged.flatMap((each) => (each.toClaim ? [each.call] : []));
			// Somebody may have removed it between the write and the read, but not each time.
			if (isLate && again.some((call) => toClaim.includes(call)))
				throw new Error('it does not return the claim that was written');
			await onLedger(...removals(judged.flatMap(({ gone }) => gone)));
			open = open.filter((call) => !claims.has(call) && !outcomes.has(call));
			toClaim = again.filter((call) => open.includes(call));
			if (open.length > 0)
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
		const error = keyConflict(each, first);
		if (error || !made) return error && { error };
		// For the next try: by then the video may have failed, which frees the key.
		log.keep({ ...first, isOfOther: true });
		return outcomeOf(first, true);
	}

	const ended = await settled(claimParts());
	if ('error' in ended) {
		await onLedger(...release(tokens)).catch(() => undefined);
		tokens.clear();
		if (calls.some(({ key }) => key !== '')) throw notKept('Idempotency Key', ended.error);
		valueOf(ended);
	}
	let others = 0;
	for (const each of calls) {
		const leader = leaders.get(each.lock) ?? each;
		const outcome = outcomeFor(each, leader);
		if (outcome !== undefined) known.set(each.index, outcome);
		if (each.hash !== leader.hash && !(outcome && 'error' in outcome)) others += 1;
	}
	if (others > 0)
		run.hint(
			`Items with the Idempotency Key of another item, other values, and its video: ${others}. If each is to have a video, enter other keys`,
		);
	return claims;
}

/**
 * The steps that remove rows: claims by compare-and-delete, so that who lives begins again. Never by the ID alone: on SQLite another
 * row may have it by then.
 */
export function removals(rows: readonly Row[]): readonly Step[] {
	const isOfWrite = (row: Row) => isClaim(row) && Boolean(row['token']);
	const others = rows.filter((row) => !isOfWrite(row));
	const filters = [
		...others.map(({ id, call }): Filter => {
			return {
				all: [
					['id', 'eq', Number(id)],
					['call', 'eq', String(call)],
				],
			};
		}),
		...theseClaims(
			rows
				.filter(isOfWrite)
				.map(({ id, token }) => ({ id: Number(id), token: String(token) })),
		),
	];
	return filters.map((remove) => ({ remove }));
}

/** All claims of one write that were not sent. */
function claimsOf(token: string) {
	return {
		all: [['token', 'eq', token] as const, ['status', 'eq', 'claimed'] as const],
	} satisfies Filter;
}

/** Filters of claims, as long as they are claims: those of one write whose rows follow each other together. */
export function theseClaims(claims: readonly Pick<Claim, 'id' | 'token'>[]): readonly Filter[] {
	const groups: (typeof claims)[number][][] = [];
	for (const claim of [...claims].sort((one, other) => one.id - other.id)) {
		const before = groups.at(-1)?.at(-1);
		if (before?.token === claim.token && before.id + 1 === claim.id) groups.at(-1)!.push(claim);
		else groups.push([claim]);
	}
	return groups.map((group) => ({
		all: [...claimsOf(group[0]!.token).all, ...idRange(group)],
	}));
}
