const MOST_DEPTH = 100;

/** Whether a body nests deeper than the service takes: writing it down again would end the process. */
export function isTooDeep(body: unknown): boolean {
	return isDeeperThan(MOST_DEPTH, body);
}

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
