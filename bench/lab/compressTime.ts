/**
 * Preloaded into n8n: its clock runs BENCH_TIME_FACTOR times as fast. Dates, `performance.now`, `setTimeout` and
 * `setInterval` all follow, so that a wait of ten seconds takes one, for every node alike.
 */
const factor = Number(process.env['BENCH_TIME_FACTOR']);
const RealDate = Date;
const startMs = RealDate.now();
const now = () => Math.round(startMs + (RealDate.now() - startMs) * factor);

class FastDate extends RealDate {
	static override now(): number {
		return now();
	}

	constructor(...values: [] | ConstructorParameters<DateConstructor>) {
		if (values.length === 0) super(now());
		else super(...(values as [number]));
	}
}

globalThis.Date = new Proxy(FastDate, {
	apply: () => new FastDate().toString(),
}) as unknown as DateConstructor;

const steady = performance.now.bind(performance);
performance.now = () => steady() * factor;

for (const name of ['setTimeout', 'setInterval'] as const) {
	const real = globalThis[name] as (...values: unknown[]) => unknown;
	const fast = (work: unknown, ms = 0, ...values: unknown[]) =>
		real(work, ms / factor, ...values);
	// util.promisify finds the promised form there.
	Object.assign(globalThis, {
		[name]: Object.defineProperties(fast, Object.getOwnPropertyDescriptors(real)),
	});
}
