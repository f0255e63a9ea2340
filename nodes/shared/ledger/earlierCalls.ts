import { randomUUID } from 'node:crypto';

import type { AskedPaid, CallKind } from './callKind';
import { interrupted, type KnownCall } from './callLog';
import type { Row, Step } from './dataTable';
import type { Origin } from './origin';
import type { EarlierCall } from './recognize';

/** Whether a retry repeats the call of a row, of those that `ofOtherTries` finds. */
export function isRepeated(row: Row, { isAlone, own }: Origin): boolean {
	return !isAlone || partsOf(row).own === own;
}

/** The step that finds the calls of all tries of an execution but this one. */
export function ofOtherTries({ origin, root }: Origin): Step {
	const all = [
		['origin', 'eq', origin],
		['execution_id', 'neq', root],
	] as const;
	return { find: { all } };
}

/** Whether an item asks for something else than the call of its key. A row that a person has added has no values. */
export function differs(
	asked: Pick<AskedPaid, 'values' | 'place'>,
	{ values, place }: Pick<EarlierCall, 'values' | 'place'>,
): boolean {
	return values !== '' && values !== asked.values && place !== asked.place;
}

interface CallParts extends Pick<EarlierCall, 'run' | 'fingerprint' | 'values' | 'place'> {
	/** The execution that makes the call, see `Origin`. */
	readonly own: string;
}

/** A unique ID of a call, in one column with what is compared: a table is written the faster the fewer columns it has. */
export function callId({ run, fingerprint, own, values, place }: CallParts): string {
	return [run, fingerprint, randomUUID(), own, values, place].join(' ');
}

/** What the ID of a row's call consists of. */
export function partsOf({ call }: Row): CallParts {
	const [run, fingerprint = '', , own = '', values = '', place = ''] = String(call).split(' ');
	return { run: Number(run), fingerprint, own, values, place };
}

/**
 * A row as the call that it stands for.
 *
 * @param origin Says whether the position of the call tells which one it is.
 */
export function toKnown<T>(
	{ table, toResult, describe }: CallKind<T>,
	row: Row,
	origin?: Pick<Origin, 'hasPosition'>,
): KnownCall<T> {
	const result = toResult(row);
	return {
		...partsOf(row),
		...(origin?.hasPosition === false && { run: -1 }),
		call: row['call'] as string,
		key: (row['idempotency_key'] as string | null) ?? '',
		item: row['item'] as number,
		about: describe(row),
		...(result === undefined ? { failure: interrupted(table) } : { result }),
	};
}
