interface Entry {
	readonly index: number;
	readonly atMs: number;
}

/** What falls due when; the first is found without looking at the others. */
export interface DueQueue {
	/** Enters something by its index. */
	add(index: number, atMs: number): void;
	/** The entry that is due first, of those due at once the one entered first. Entries that no longer count are dropped. */
	first(counts: (index: number, atMs: number) => boolean): Entry | undefined;
}

/** An dueQueue without entries: a binary heap. */
export function dueQueue(): DueQueue {
	const heap: (Entry & { readonly nth: number })[] = [];
	let entered = 0;

	const isBefore = (a: number, b: number) => {
		const [one, other] = [heap[a]!, heap[b]!];
		return one.atMs < other.atMs || (one.atMs === other.atMs && one.nth < other.nth);
	};
	const swap = (a: number, b: number) => {
		[heap[a], heap[b]] = [heap[b]!, heap[a]!];
	};

	function rise(from: number): void {
		for (let child = from, parent; child > 0; child = parent) {
			parent = (child - 1) >> 1;
			if (!isBefore(child, parent)) return;
			swap(child, parent);
		}
	}

	function sink(): void {
		for (let parent = 0; ;) {
			const [left, right] = [2 * parent + 1, 2 * parent + 2];
			let least = parent;
			if (left < heap.length && isBefore(left, least)) least = left;
			if (right < heap.length && isBefore(right, least)) least = right;
			if (least === parent) return;
			swap(parent, least);
			parent = least;
		}
	}

	return {
		add: (index, atMs) => {
			heap.push({ index, atMs, nth: entered++ });
			rise(heap.length - 1);
		},
		first: (counts) => {
			for (let top = heap[0]; top !== undefined; top = heap[0]) {
				if (counts(top.index, top.atMs)) return top;
				const last = heap.pop()!;
				if (heap.length === 0) return undefined;
				heap[0] = last;
				sink();
			}
			return undefined;
		},
	};
}
