/** One request as the emulator saw it. */
export interface JournalEntry {
	/** Milliseconds since 1970, by the emulator's clock. */
	readonly time: number;
	readonly method: string;
	readonly path: string;
	/** The account's name, `unknown` for a key the service does not know, `none` without a header. */
	readonly identity: string;
	/** Whether an `Authorization` header came along, whatever it held. */
	readonly authorized: boolean;
	/** The parsed JSON body, when there was one. */
	body?: unknown;
	/** The kind of fault that met it, if one did. */
	fault?: string;
	/** The HTTP status answered; missing while unanswered, and for ever when the connection was cut. */
	status?: number;
}

/** What was asked of the emulator, oldest first; the oldest entries go when it is full. */
export class Journal {
	private list: JournalEntry[] = [];
	private readonly byRequest = new WeakMap<object, JournalEntry>();

	constructor(private readonly limit = 10_000) {}

	get entries(): readonly JournalEntry[] {
		return this.list;
	}

	/** The entries of one path, for example `/v1/videos/tasks`. */
	of(path: string): readonly JournalEntry[] {
		return this.list.filter((entry) => entry.path === path);
	}

	/** @param request what the entry can be found by later */
	record(entry: JournalEntry, request: object): void {
		this.byRequest.set(request, entry);
		if (this.list.length >= this.limit) this.list.shift();
		this.list.push(entry);
	}

	find(request: object): JournalEntry | undefined {
		return this.byRequest.get(request);
	}

	clear(): void {
		this.list = [];
	}
}
