import { createHash } from 'node:crypto';

type Part = string | number;

const digest = (parts: readonly Part[]): Buffer =>
	createHash('sha256').update(parts.join('\u0000')).digest();

/** A number in [0, 1) decided by the parts alone: the same parts give the same number. */
export function chance(...parts: readonly Part[]): number {
	return digest(parts).readUInt32BE(0) / 2 ** 32;
}

/** One element of a list that is not empty, decided by the parts alone. */
export function pick<T>(list: readonly T[], ...parts: readonly Part[]): T {
	return list[Math.floor(chance(...parts) * list.length)]!;
}

/** An identifier of `length` (at most 64) hexadecimal digits, decided by the parts alone. */
export function hexId(length: number, ...parts: readonly Part[]): string {
	return digest(parts).toString('hex').slice(0, length);
}
