const LIMITED_MS = 1_000;
const UNLIMITED_MS = 60_000;

/** Rate limiter of applications: limited for one second from the first call, then open for a minute (spec 7.1). */
export class AppRateLimits {
	private readonly firstCallMs = new Map<string, number>();

	/** Remaining wait in milliseconds; 0 if the call is allowed. */
	waitMs(code: string, nowMs: number): number {
		const firstMs = this.firstCallMs.get(code);
		if (firstMs === undefined || nowMs >= firstMs + LIMITED_MS + UNLIMITED_MS) {
			this.firstCallMs.set(code, nowMs);
			return LIMITED_MS;
		}
		return Math.max(firstMs + LIMITED_MS - nowMs, 0);
	}
}
