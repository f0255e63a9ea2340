import type { Clock } from '../../nodes/client/ports';
import type { AskedCall, CallKind } from '../../nodes/shared/durable/call';
import { callWriter } from '../../nodes/shared/durable/callWriter';
import { lockOf, type CallRun } from '../../nodes/shared/durable/callRun';
import { claimKeys, release, type Claim } from '../../nodes/shared/durable/claimKeys';
import { findEarlierCalls } from '../../nodes/shared/durable/earlierCalls';
import { stateOf } from '../../nodes/shared/durable/states';
import { taskIdOf } from '../../nodes/shared/durable/taskTable';
import type { Row } from '../../nodes/shared/engine/dataTable';
import type { RowTable, Write } from './rowTable';

/** A result of a call is its task. */
export const KIND: CallKind<string> = {
	field: 'Prompt',
	describe: ({ prompt }) => String(prompt),
	toRow: (task) => ({ task_id: task, status: 'open' }),
	toResult: (row) => taskIdOf(row) || undefined,
};

export interface OwnerOptions {
	readonly write: Write;
	readonly isAlive?: () => boolean;
	readonly clock: Clock;
	/** The execution, and that which it retries. */
	readonly execution: string;
	readonly retryOf?: string;
	readonly useExisting?: boolean;
}

/** An execution that makes calls as `openPaidCalls` does. */
export function keyOwner(options: OwnerOptions) {
	const { write, clock, execution, retryOf, useExisting = false, isAlive = () => true } = options;
	const isRetry = retryOf !== undefined;
	const origin = `origin ${retryOf ?? execution}`;
	const known: CallRun<string>['known'] = new Map();
	const run = {
		...{ context: {}, node: {} },
		kind: KIND,
		clock,
		account: 'account',
		known,
		sentAgain: new Map(),
		origin: { origin, root: execution, own: execution, called: '', kept: new Set() },
		onLedger: write,
		recognition: 'all',
		firstRun: 0,
		log: { calls: () => [], keep: () => undefined, drop: () => undefined },
		tell: () => undefined,
		isRetry,
		workflowId: 'workflow',
	} as unknown as CallRun<string>;
	const tokens = new Set<string>();
	const claims = new Map<AskedCall, Claim>();
	const writer = callWriter({
		clock,
		claimOf: (call) => claims.get(call),
		write: async (steps) => await write(...steps),
		admit: async (_calls, announce) => {
			await announce();
		},
	});
	/** The rows that a retry has read at its beginning. */
	let earlier: ReadonlyMap<unknown, boolean> = new Map();

	/** A call of an item; the hash is that of its prompt. */
	function ask(index: number, key: string, prompt = key): AskedCall {
		const call = `0 ${prompt} ${execution}-${index} ${execution}`;
		const row: Row = {
			call,
			prompt,
			idempotency_key: key,
			workflow_id: 'workflow',
			execution_id: execution,
			origin,
			account: 'account',
			item: index,
		};
		const place = { run: 0, item: index };
		const lock = lockOf(row, isRetry);
		const more = { call, hash: prompt, key, about: prompt, lock, row, useExisting };
		return { index, place, ...place, entered: prompt, retryOutcomeUnknown: false, ...more };
	}

	/** Reads what earlier tries have made, as a run does first, and claims the rest. */
	async function open(calls: readonly AskedCall[]): Promise<void> {
		if (isRetry) earlier = await findEarlierCalls({ ...run, asked: [...calls] });
		await claim(calls.filter(({ index }) => !known.has(index)));
	}

	async function claim(calls: readonly AskedCall[]): Promise<void> {
		for (const [call, own] of await claimKeys(run, calls, earlier, tokens))
			claims.set(call, own);
	}

	/** @returns The task, of this or another call. Throws why there is none. */
	async function make(call: AskedCall, send: (attempt: number) => Promise<string>) {
		const outcome = () => known.get(call.index);
		while (outcome() === undefined) {
			const announced = await writer.announce(call);
			if (announced === 'failed') throw new Error('not written');
			if (announced === 'stored') {
				if (!isAlive()) throw new Error('killed');
				const task = await send(claims.get(call)?.attempt ?? 1);
				if (!isAlive()) throw new Error('killed');
				writer.settle(
					call,
					task === '' ? undefined : { ...call.row, ...KIND.toRow!(task) },
				);
				return task;
			}
			claims.delete(call);
			await claim([call]);
		}
		const found = outcome()!;
		if ('error' in found) throw found.error as Error;
		return found.value.result;
	}

	return {
		claims,
		ask,
		make,
		open,
		close: async () => {
			await writer.flush();
			writer.end();
			await write(...release(tokens));
		},
	};
}

/** Calls with their states, as the rows show them. */
export const statesIn = (table: RowTable) =>
	table.rows().map((row) => `${String(row['idempotency_key'])} ${stateOf(row)}`);

/** The words of an error, with the hint of an InputError. */
export const messageOf = ({ message, hint = '' }: Error & { hint?: string }) => message + hint;
