/** Range of bytes, both ends inclusive. */
export interface ByteRange {
	readonly first: number;
	readonly last: number;
}

/**
 * Parses a `Range` header (RFC 9110, section 14).
 * @returns undefined for the whole file: no header, several ranges, or invalid syntax
 */
export function parseRange(
	header: string | undefined,
	length: number,
): ByteRange | 'unsatisfiable' | undefined {
	const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
	if (!match || match[0] === 'bytes=-') return undefined;

	const [, from, to] = match;
	const first = from ? Number(from) : Math.max(length - Number(to), 0);
	const last = from && to ? Math.min(Number(to), length - 1) : length - 1;
	if (first > last) return from && to && Number(to) < Number(from) ? undefined : 'unsatisfiable';
	return { first, last };
}
