// @seconds 10
/** Faults of every operation at the same time, in one process: what one run leaves behind, or takes from another. */
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { thorough } from '../support/thorough';
import { checkEnding } from './checkEnding';
import { EXPECTATIONS, NONE } from './expectations';
import { FAULTS, type Fault, type FaultId } from './faults';
import { observe } from './observe';
import { OPERATION_IDS, OPERATIONS, waysFor, type Operation } from './operations';
import { startServers, type Servers } from './runCell';

/** The faults of the service itself: those of an address are counted, or need an nginx, for each operation. */
const FAULT_IDS = (Object.keys(FAULTS) as FaultId[]).filter((id) => !('address' in FAULTS[id]));

/** Distance between the faults that two operations meet at the same time. */
const STEP = Math.floor(FAULT_IDS.length / OPERATION_IDS.length);
/** In each round every operation meets another fault; all rounds are all cells. */
const ROUNDS = thorough(12, FAULT_IDS.length);
/** Rounds after which everything that is created once exists. */
const WARM_UP = Math.floor(ROUNDS / 3);
/** Allowed growth of the heap after them, in bytes, by what a later round creates once. */
const HEAP_SLACK = 3 * 1024 * 1024;

let servers: readonly Servers[];
const warnings: Error[] = [];
const noteWarning = (warning: Error) => {
	warnings.push(warning);
};
beforeAll(async () => {
	process.on('warning', noteWarning);
	servers = await Promise.all(
		OPERATION_IDS.map(async () => await startServers({ hasNginx: false })),
	);
});
afterAll(async () => {
	process.off('warning', noteWarning);
	await Promise.all(
		servers.map(async ({ stop }) => {
			await stop();
		}),
	);
});

/** Runs all operations side by side; each ends as it does alone. Returns the timers that are left. */
async function runRound(round: number): Promise<number> {
	const { cells, timersLeft } = await observe(async (observed) => {
		const running = OPERATION_IDS.map(async (id, index) => {
			const faultId = FAULT_IDS[(round + index * STEP) % FAULT_IDS.length]!;
			const operation: Operation = OPERATIONS[id];
			const fault: Fault = FAULTS[faultId];
			const [way] = waysFor(operation, round);
			const seen = await servers[index]!.runIn(observed, operation, fault, way!);
			return { ending: EXPECTATIONS[faultId][id], operation, seen, way: way! };
		});
		const ended = await Promise.all(running);
		// Timers of connections that have just closed are removed first.
		await turns();
		return { cells: ended, timersLeft: observed.time.pendingTimers() };
	});
	for (const { ending, operation, seen, way } of cells)
		if (ending !== NONE) checkEnding(ending, operation, seen, way);
	return timersLeft;
}

test('operations side by side end as they do alone, and leave no memory, socket, timer or listener', async () => {
	const atStart = await resources();
	for (let round = 0; round < WARM_UP; round++) expect(await runRound(round)).toBe(0);
	const warm = await resources();
	for (let round = WARM_UP; round < ROUNDS; round++) expect(await runRound(round)).toBe(0);
	const after = await resources();
	expect(warnings).toStrictEqual([]);
	expect(after.sockets).toBe(atStart.sockets);
	expect(after.listeners).toBe(warm.listeners);
	expect(after.heapBytes - warm.heapBytes).toBeLessThan(HEAP_SLACK);
}, 600_000);

async function turns(): Promise<void> {
	for (let turn = 0; turn < 50; turn++) await setImmediate();
}

/** What this process holds after garbage is collected. */
async function resources() {
	setFlagsFromString('--expose-gc');
	const collect = runInNewContext('gc') as () => void;
	await turns();
	collect();
	const listeners = process.eventNames().map((name) => process.listenerCount(name));
	return {
		heapBytes: process.memoryUsage().heapUsed,
		sockets: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
		listeners: listeners.reduce((sum, count) => sum + count, 0),
	};
}
