import type { Call } from '../../nodes/shared/ledger/call';
import type { CallLog } from '../../nodes/shared/ledger/callLog';
import { merged } from '../../nodes/shared/ledger/recall';

const failure = { kind: 'network', message: 'broke off', advice: [], details: {} } as const;
const call: Call<string> = {
	call: 'c',
	fingerprint: 'f',
	values: 'v',
	place: 'p',
	about: '',
	key: '',
	run: 0,
	item: 0,
};
const logOf = (...calls: Call<string>[]): CallLog<string> => ({
	known: () => calls,
	keep: () => undefined,
	drop: () => undefined,
});
const interrupted = { ...failure, message: 'An earlier try was stopped' };

test('a failure that the log and the ledger know has the words of the log', () => {
	const rows = [{ ...call, failure: interrupted, readBy: '12' }];
	expect(merged(logOf({ ...call, failure }), rows, '12')).toStrictEqual([
		{ ...call, failure, readBy: '12' },
	]);
});

test('a failure is forgotten once its row, which an earlier retry has read, is deleted', () => {
	const rows = [{ ...call, failure: interrupted, readBy: '12' }];
	const inFirstRetry = merged(logOf({ ...call, failure }), rows, '12');
	expect(merged(logOf(...inFirstRetry), [], '13')).toStrictEqual([]);
});

test('a failure that never had a row is kept', () => {
	const log = logOf({ ...call, failure });
	expect(merged(log, [], '12')).toStrictEqual([{ ...call, failure }]);
	expect(merged(log, [], undefined)).toStrictEqual([{ ...call, failure }]);
});

test('a task ID that a person has entered into the row counts more than a failure in the log', () => {
	const rows = [{ ...call, result: 'found', readBy: '12' }];
	expect(merged(logOf({ ...call, failure }), rows, '12')).toStrictEqual(rows);
});
