import { hash } from 'node:crypto';

import type { IExecuteFunctions } from 'n8n-workflow';

import { n8nClock } from '../engine/clock';
import { placeOfItem } from '../engine/rest';
import { isToolRun } from '../engine/nodeRun';
import { openedRun } from '../run/run';
import type { Settled } from '../../client/concurrency';
import { objectOf } from '../../client/json';
import { callId, toCall } from './call';
import type { AskedCall, CallKind, LedgerKind, Paid, PlannedCall } from './call';
import { callLog } from './callLog';
import { originOf } from './origin';
import { ownRows } from './ownRows';

/** One run of a node that makes paid calls: what its parts share. */
export type LedgerRun<T> = Awaited<ReturnType<typeof ledgerRun<T>>>;

/** An expression that reads more than the JSON of the input item. */
const READS_MORE = /\$\(|\$(node|items|input|prevNode|binary|vars|env)\b/;

/** Names of the parameters by which hosts sign a URL, or limit its time. Any other one may tell which file it is. */
const SIGNING =
	// cspell:disable-next-line
	/^(x-(amz|goog|oss|cos|tos|obs)-(?!process).*|q-.*|_nc_.*|hdn.*|.*(token|signature|accesskeyid|accessid|credential)|(.*[-_])?(auth(orization)?|sig|sign|nonce|timestamp)|auth[-_]key|tempauth|exp|expir.*|key-pair-id|policy|s[eiprstv]?|srt|sk(oid|tid|[estv])|spr|ex|is|hm|oh|oe|ts?|_)$/i;

/** A hash of values, by default without what differs each time that a URL is signed. */
function hashOf(values: unknown, replacer = withoutSignature): string {
	return hash('sha256', JSON.stringify(values, replacer)).slice(0, 32);
}

function withoutSignature(_name: string, value: unknown): unknown {
	if (typeof value !== 'string' || !/^https?:\S+$/i.test(value)) return value;
	const [address, ...fields] = value.replace(/#.*/, '').split(/[?&]/);
	return [address, ...fields.filter((field) => !SIGNING.test(field.replace(/=.*/, '')))].join();
}

/** Reads what identifies this run and its calls. */
export async function ledgerRun<T>(
	context: IExecuteFunctions,
	kind: CallKind<T>,
	planned: readonly PlannedCall[],
	isOn: boolean,
) {
	const isTool = isToolRun(context);
	/** Index of the run; 0 for a tool. */
	const index = isTool ? 0 : placeOfItem(context, 0).run;
	/** Undefined where the ledger is off. */
	const origin = isOn && planned.length > 0 ? await originOf(context) : undefined;
	/** Of the credential; empty where the ledger is off. */
	const account = origin === undefined ? '' : openedRun(context).service().account;
	const clock = n8nClock(context);
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
	const { options, ...form } = context.getNode().parameters;
	const readsOthers = READS_MORE.test(
		JSON.stringify([form, objectOf(options)['idempotencyKey']]),
	);
	/** The input by the place of each item. */
	const input = new Map(
		context
			.getInputData()
			.map((item, index) => [placeOfItem(context, index).item, item.json] as const),
	);
	const asked = planned.map((each): AskedCall => {
		const { item, onConflict, entered, files } = each;
		const { idempotency_key: key = '' } = each.row;
		const values = hashOf(entered);
		// Without the key: one with a time or the ID of the execution in it differs in every try.
		const source = [input.get(item), form, files];
		const hashes = {
			fingerprint: hashOf([key, entered], (_name, value: unknown) => value),
			values,
			place: hashOf([...source, readsOthers && [key, values]]),
		};
		const call = callId({ run: index, own: origin?.own ?? '', ...hashes });
		const row = { ...each.row, ...caller, call, item };
		const known = toCall(kind, row);
		const lock = onConflict === 'create' ? `${known.key} ${values}` : known.key;
		const claim = `key ${call}`;
		return { ...each, ...known, source: hashOf(source), row, lock, claim, replaces: [] };
	});
	return {
		context,
		// Where the ledger is off, nothing reads what is missing.
		kind: kind as LedgerKind<T>,
		clock,
		index,
		isTool,
		asked,
		/** The outcomes that are known before anything is sent, by item. */
		known: new Map<number, Settled<Paid<T>>>(),
		log: callLog<T>(context, isTool ? 'tool' : index),
		origin,
		isRetry: origin?.isRetry === true,
		account,
		...ownRows(context, kind.table!, clock, origin, planned.length),
		/** Says that the ledger could not be written. */
		tell: (error: unknown) => {
			openedRun(context).mention(`The ledger is not written. ${(error as Error).message}`);
		},
	};
}
