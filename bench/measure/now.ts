/** Milliseconds since 1970 with fractions, the same in every process of this machine. */
export function nowMs(): number {
	return performance.timeOrigin + performance.now();
}
