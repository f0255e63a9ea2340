interface Entry {
	readonly index: number;
	readonly dueAtMs: number;
}

/** Min-heap priority queue ordered by due time; stale entries are dropped lazily on `peek`. */
export interface DueQueue {
	/** Adds an entry: the index of a task, and when it is due. */
	add(index: number, dueAtMs: number): void;
	/**
	 * The entry with the earliest due time, the first added of equal ones. It stays in the queue.
	 *
	 * @param isCurrent Tells a valid entry from a stale one, which is removed.
	 */
	peek(isCurrent: (index: number, dueAtMs: number) => boolean): Entry | undefined;
}

/** An empty queue. */
export function dueQueue(): DueQueue {
	const heap: (Entry & { readonly sequence: number })[] = [];
	let added = 0;

	const isBefore = (a: number, b: number) => {
		const [one, other] = [heap[a]!, heap[b]!];
		return (
			one.dueAtMs < other.dueAtMs ||
			(one.dueAtMs === other.dueAtMs && one.sequence < other.sequence)
		);
	};
	const swap = (a: number, b: number) => {
		[heap[a], heap[b]] = [heap[b]!, heap[a]!];
	};

	function siftUp(from: number): void {
		for (let child = from, parent; child > 0; child = parent) {
			parent = (child - 1) >> 1;
			if (!isBefore(child, parent)) return;
			swap(child, parent);
		}
	}

	function siftDown(): void {
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
		add: (index, dueAtMs) => {
			heap.push({ index, dueAtMs, sequence: added++ });
			siftUp(heap.length - 1);
		},
		peek: (isCurrent) => {
			for (let top = heap[0]; top !== undefined; top = heap[0]) {
				if (isCurrent(top.index, top.dueAtMs)) return top;
				const last = heap.pop()!;
				if (heap.length === 0) return undefined;
				heap[0] = last;
				siftDown();
			}
			return undefined;
		},
	};
}
