import { numberOption, type FormOption } from './options';

/** Longer than the longest call that the service allows (600 s, spec 8), in seconds. */
export const LONGEST_CALL_SECONDS = 620;

/** The idle timeout of a call: seconds without receiving any data. */
export function timeoutOption({
	defaultSeconds,
}: {
	readonly defaultSeconds: number;
}): FormOption<number> {
	return numberOption({
		name: 'timeout',
		label: 'Timeout',
		unit: 'Seconds',
		help: 'Idle timeout: how long a call may go without receiving any data. Data that keeps arriving resets it.',
		default: defaultSeconds,
		min: 0.1,
	});
}
