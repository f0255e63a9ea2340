import type { Fault } from './fault';

interface Waiting {
	readonly fault: Fault;
	skip: number;
	left: number;
}

export interface Target {
	readonly method: string;
	readonly path: string;
	readonly body: unknown;
}

function meets({ path, method, contains }: Fault, target: Target): boolean {
	if (path !== undefined && !target.path.startsWith(path)) return false;
	if (method !== undefined && target.method !== method.toUpperCase()) return false;
	return (
		contains === undefined ||
		(target.body !== undefined && JSON.stringify(target.body).includes(contains))
	);
}

/** The faults that are still to happen, in the order they were added. */
export class FaultQueue {
	private waiting: Waiting[] = [];

	get pending(): readonly Fault[] {
		return this.waiting.map(({ fault }) => fault);
	}

	add(...faults: readonly Fault[]): void {
		for (const fault of faults) {
			this.waiting.push({ fault, skip: fault.skip ?? 0, left: fault.count ?? 1 });
		}
	}

	clear(): void {
		this.waiting = [];
	}

	/** The first fault that meets a request; it is used up once it has met as many as it should. */
	take(target: Target): Fault | undefined {
		for (const entry of this.waiting.filter(({ fault }) => meets(fault, target))) {
			if (entry.skip > 0) {
				entry.skip--;
				continue;
			}
			entry.left--;
			this.waiting = this.waiting.filter(({ left }) => left > 0);
			return entry.fault;
		}
		return undefined;
	}
}
