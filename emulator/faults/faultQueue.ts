import { EventEmitter, once } from 'node:events';
import type { JournalEntry } from '../journal';
import type { Fault } from './fault';

type FaultTarget = Pick<JournalEntry, 'method' | 'path' | 'body'>;

interface PendingFault {
	readonly fault: Fault;
	skip: number;
	left: number;
}

function matches({ path, method, contains }: Fault, target: FaultTarget): boolean {
	if (path !== undefined && !target.path.startsWith(path)) return false;
	if (method !== undefined && target.method !== method.toUpperCase()) return false;
	return contains === undefined || JSON.stringify(target.body ?? '').includes(contains);
}

/** Faults not used up yet, in the order they were added. */
export class FaultQueue {
	private queue: PendingFault[] = [];
	private readonly clearing = new EventEmitter().setMaxListeners(0);

	/** Resolves when the faults are cleared. */
	get cleared(): Promise<unknown> {
		return once(this.clearing, 'clear');
	}

	get pending(): readonly Fault[] {
		return this.queue.map(({ fault }) => fault);
	}

	add(...faults: readonly Fault[]): void {
		for (const fault of faults) {
			this.queue.push({ fault, skip: fault.skip ?? 0, left: fault.count ?? 1 });
		}
	}

	/** Removes the faults that are not used up, and lets held requests and bodies go on. */
	clear(): void {
		this.queue = [];
		this.clearing.emit('clear');
	}

	/** Takes the first fault that matches a request; it is removed after its last request. */
	take(target: FaultTarget): Fault | undefined {
		for (const entry of this.queue.filter(({ fault }) => matches(fault, target))) {
			if (entry.skip > 0) {
				entry.skip--;
				continue;
			}
			entry.left--;
			this.queue = this.queue.filter(({ left }) => left > 0);
			return entry.fault;
		}
		return undefined;
	}
}
