import { hash } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../../client/ports';
import { accountOf } from '../run/account';
import { runsOf } from '../run/engine';
import { mentionOnce } from '../run/hints';
import { n8nClock } from '../run/clock';
import { isToolRun } from '../run/nodeContext';
import type { CallKind, PlannedCall } from './callKind';
import { runLog, toolLog, type CallLog } from './callLog';
import { onTable, type Row, type Step } from './dataTable';
import { callId } from './earlierCalls';
import { originOf, type Origin } from './origin';
import type { recognize } from './recognize';

/** A planned call with its ID and all its columns. */
export interface AskedPaid extends PlannedCall {
	readonly call: string;
	readonly fingerprint: string;
}

/** One run of a node that makes paid calls: what its parts share. */
export interface LedgerRun<T> {
	readonly context: IExecuteFunctions;
	readonly kind: CallKind<T>;
	readonly clock: Clock;
	/** Index of the run; 0 for a tool. */
	readonly index: number;
	readonly isTool: boolean;
	readonly asked: readonly AskedPaid[];
	readonly log: CallLog<T>;
	/** Undefined where the ledger is off. */
	readonly origin: Origin | undefined;
	readonly isRetry: boolean;
	/** Of the credential; empty where the ledger is off. */
	readonly account: string;
	/** By what earlier calls are recognized. */
	readonly mode: Parameters<typeof recognize>[2];
	readonly onLedger: (steps: readonly Step[]) => Promise<readonly Row[]>;
	/** Says that the ledger could not be written. */
	readonly tell: (error: unknown) => void;
}

/** Reads what identifies this run and its calls. */
export async function ledgerRun<T>(
	context: IExecuteFunctions,
	kind: CallKind<T>,
	planned: readonly PlannedCall[],
	isOn: boolean,
): Promise<LedgerRun<T>> {
	const isTool = isToolRun(context);
	const index = isTool ? 0 : runsOf(context).length;
	const origin = isOn && planned.length > 0 ? await originOf(context) : undefined;
	const account = origin === undefined ? '' : await accountOf(context);
	const columns = origin === undefined ? {} : { ...callerColumns(context, origin), account };
	return {
		context,
		kind,
		clock: n8nClock(context),
		index,
		isTool,
		asked: planned.map((each) => {
			const fingerprint = hash('sha256', each.key || each.entered).slice(0, 32);
			const call = callId({ run: index, fingerprint, own: origin?.own ?? '' });
			return {
				...each,
				call,
				fingerprint,
				row: { ...each.row, ...columns, call, item: each.item },
			};
		}),
		log: isTool ? toolLog<T>(context) : runLog<T>(context, index),
		origin,
		isRetry: origin?.isRetry === true,
		account,
		mode: origin?.hasPosition === false ? 'text' : isTool ? 'tool' : index,
		onLedger: async (steps) => await onTable(context, kind.table, ...steps),
		tell: (error) => {
			mentionOnce(context, `The ledger is not written. ${(error as Error).message}`);
		},
	};
}

/** Who makes the calls: the columns that a person reads, and by which a retry finds them. */
function callerColumns(context: IExecuteFunctions, { origin, root }: Origin): Row {
	const { id, name } = context.getWorkflow();
	return {
		workflow_id: id ?? '',
		workflow_name: name ?? '',
		execution_id: root,
		node: context.getNode().name,
		origin,
	};
}
