/**
 * How much of a test runs: the usual amount shows a fault, the full one (`THOROUGH=1`, weekly and before a release) also the
 * one that needs size, time or luck to show.
 */
export const thorough = <T>(usual: T, full: T): T =>
	process.env['THOROUGH'] === '1' ? full : usual;
