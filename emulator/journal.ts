/** Record of one request. */
export interface JournalEntry {
	/** Milliseconds since 1970, by the emulator's clock. */
	readonly time: number;
	readonly method: string;
	readonly path: string;
	/** Account name; `unknown` for an unknown key, `none` without an `Authorization` header. */
	readonly identity: string;
	/** Whether the request had an `Authorization` header, valid or not. */
	readonly authorized: boolean;
	/** Parsed JSON body, if any; `DROPPED` for an old one of a full journal. */
	body?: unknown;
	/** Kind of the injected fault, if any. */
	fault?: string;
	/** File and line of the scripted reply, if any. */
	script?: string;
	/** HTTP status of the response; missing until headers are sent, and if they never are. */
	status?: number;
}

const DROPPED = '(dropped: the journal is full)';
/** A body takes about this much memory besides its text, in bytes. */
const BODY_OVERHEAD = 1_000;

/** Request journal: list, oldest first, bounded by the number of entries and by the size of their bodies. */
export class Journal {
	private list: JournalEntry[] = [];
	private readonly byRequest = new WeakMap<object, JournalEntry>();

	private bodies: { readonly entry: JournalEntry; readonly bytes: number }[] = [];
	private bytes = 0;

	/** @param limits of the number of entries, by default 10,000, and of the bytes of all bodies, by default 64 MiB */
	constructor(
		private readonly limits: Partial<
			Record<'maxEntries' | 'maxBytes', number | undefined>
		> = {},
	) {}

	get entries(): readonly JournalEntry[] {
		return this.list;
	}

	/** Entries with this path, for example `/v1/videos/tasks`. */
	of(path: string): readonly JournalEntry[] {
		return this.list.filter((entry) => entry.path === path);
	}

	/** @param request key for `find` */
	record(entry: JournalEntry, request: object): void {
		const { maxEntries = 10_000 } = this.limits;
		this.byRequest.set(request, entry);
		if (this.list.length >= maxEntries) this.list.shift();
		this.list.push(entry);
	}

	/** Adds the body of a recorded request; the oldest bodies are dropped when all are larger than the limit. */
	keepBody(request: object, body: unknown, size: number): void {
		const entry = this.find(request);
		if (entry === undefined) return;
		entry.body = body;
		const { maxBytes = 64 * 2 ** 20 } = this.limits;
		const bytes = size + BODY_OVERHEAD;
		this.bodies.push({ entry, bytes });
		this.bytes += bytes;
		while (this.bytes > maxBytes) {
			const oldest = this.bodies.shift()!;
			oldest.entry.body = DROPPED;
			this.bytes -= oldest.bytes;
		}
	}

	find(request: object): JournalEntry | undefined {
		return this.byRequest.get(request);
	}

	clear(): void {
		this.list = [];
		this.bodies = [];
		this.bytes = 0;
	}
}
