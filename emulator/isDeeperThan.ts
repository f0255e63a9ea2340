/** Whether JSON data nests deeper than so many levels. Safe for any depth. */
export function isDeeperThan(levels: number, value: unknown): boolean {
	let level: readonly unknown[] = [value];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > levels) return true;
		level = level.flatMap((item): unknown[] =>
			typeof item === 'object' && item !== null ? Object.values(item) : [],
		);
	}
	return false;
}
