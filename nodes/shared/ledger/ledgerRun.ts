import { hash } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { accountOf } from '../run/credential';
import { runsOf } from '../run/engine';
import { mentionOnce } from '../run/hints';
import { n8nClock } from '../run/clock';
import { isToolRun } from '../run/nodeContext';
import type { CallKind, PlannedCall } from './callKind';
import { runLog, toolLog } from './callLog';
import { onTable, type Step } from './dataTable';
import { callId } from './earlierCalls';
import { originOf } from './origin';
import type { recognize } from './recognize';

/** A planned call with its ID and all its columns. */
export interface AskedPaid extends PlannedCall {
	readonly call: string;
	readonly fingerprint: string;
}

/** One run of a node that makes paid calls: what its parts share. */
export type LedgerRun<T> = Awaited<ReturnType<typeof ledgerRun<T>>>;

/** Reads what identifies this run and its calls. */
export async function ledgerRun<T>(
	context: IExecuteFunctions,
	kind: CallKind<T>,
	planned: readonly PlannedCall[],
	isOn: boolean,
) {
	const isTool = isToolRun(context);
	/** Index of the run; 0 for a tool. */
	const index = isTool ? 0 : runsOf(context).length;
	/** Undefined where the ledger is off. */
	const origin = isOn && planned.length > 0 ? await originOf(context) : undefined;
	/** Of the credential; empty where the ledger is off. */
	const account = origin === undefined ? '' : await accountOf(context);
	const { id, name } = context.getWorkflow();
	/** Who makes the calls: the columns that a person reads, and by which a retry finds them. */
	const caller = origin && {
		workflow_id: id ?? '',
		workflow_name: name ?? '',
		execution_id: origin.root,
		node: context.getNode().name,
		origin: origin.origin,
		account,
	};
	const asked = planned.map((each): AskedPaid => {
		const fingerprint = hash('sha256', each.key || each.entered).slice(0, 32);
		const call = callId({ run: index, fingerprint, own: origin?.own ?? '' });
		const row = { ...each.row, ...caller, call, item: each.item };
		return { ...each, call, fingerprint, row };
	});
	/** By what earlier calls are recognized. */
	const mode: Parameters<typeof recognize>[2] =
		origin?.hasPosition === false ? 'text' : isTool ? 'tool' : index;
	return {
		context,
		kind,
		clock: n8nClock(context),
		index,
		isTool,
		asked,
		log: isTool ? toolLog<T>(context) : runLog<T>(context, index),
		origin,
		isRetry: origin?.isRetry === true,
		account,
		mode,
		onLedger: async (steps: readonly Step[]) => await onTable(context, kind.table, ...steps),
		/** Says that the ledger could not be written. */
		tell: (error: unknown) => {
			mentionOnce(context, `The ledger is not written. ${(error as Error).message}`);
		},
	};
}
