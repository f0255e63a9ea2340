export interface ByteRange {
	readonly first: number;
	readonly last: number;
}

/**
 * Which bytes a `Range` header asks for, both ends included (RFC 9110, 14).
 * Undefined means the whole file: no header, several ranges, or a form that is not understood.
 */
export function byteRange(
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
