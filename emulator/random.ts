import { createHash } from 'node:crypto';

type Part = string | number;

const digest = (parts: readonly Part[]): Buffer =>
	createHash('sha256').update(parts.join('\u0000')).digest();

/** Deterministic pseudorandom number in [0, 1), from a hash of the parts: equal parts give an equal number. */
export function chance(...parts: readonly Part[]): number {
	return digest(parts).readUInt32BE(0) / 2 ** 32;
}

/** Deterministic choice of one element of a non-empty list, by a hash of the parts. */
export function pick<T>(list: readonly T[], ...parts: readonly Part[]): T {
	return list[Math.floor(chance(...parts) * list.length)]!;
}

/** Deterministic identifier of `length` (at most 64) hexadecimal digits, from a hash of the parts. */
export function hexId(length: number, ...parts: readonly Part[]): string {
	return digest(parts).toString('hex').slice(0, length);
}
