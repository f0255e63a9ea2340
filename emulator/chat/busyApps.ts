const BUSY_MS = 1_000;
const FINE_MS = 60_000;

/** Applications at their call-frequency limit: busy for a second, then fine for a minute (spec 7.1). */
export class BusyApps {
	private readonly firstCallMs = new Map<string, number>();

	/** How many milliseconds a caller has to wait now; 0 when the call may pass. */
	waitMs(code: string, nowMs: number): number {
		const firstMs = this.firstCallMs.get(code);
		if (firstMs === undefined || nowMs >= firstMs + BUSY_MS + FINE_MS) {
			this.firstCallMs.set(code, nowMs);
			return BUSY_MS;
		}
		return Math.max(firstMs + BUSY_MS - nowMs, 0);
	}
}
