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
	/** Parsed JSON body, if any. */
	body?: unknown;
	/** Kind of the injected fault, if any. */
	fault?: string;
	/** HTTP status of the response; missing until headers are sent, and if they never are. */
	status?: number;
}

/** Request journal: bounded list, oldest first; the oldest entry is dropped when it is full. */
export class Journal {
	private list: JournalEntry[] = [];
	private readonly byRequest = new WeakMap<object, JournalEntry>();

	constructor(private readonly limit = 10_000) {}

	get entries(): readonly JournalEntry[] {
		return this.list;
	}

	/** Entries with this path, for example `/v1/videos/tasks`. */
	of(path: string): readonly JournalEntry[] {
		return this.list.filter((entry) => entry.path === path);
	}

	/** @param request key for `find` */
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
