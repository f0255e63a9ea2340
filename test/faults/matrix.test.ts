// @seconds 12
import Table from 'cli-table3';

import { body } from './answers';
import { checkEnding } from './checkEnding';
import { EXPECTATIONS, type Cell } from './expectations';
import { FAULTS, type FaultId } from './faults';
import { OPERATIONS, waysFor, type OperationId } from './operations';
import { startServers, type Servers } from './runCell';

const FAULT_IDS = Object.keys(FAULTS) as FaultId[];
const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];
const CELLS = FAULT_IDS.flatMap((fault) =>
	OPERATION_IDS.map((operation) => ({ fault, operation, cell: EXPECTATIONS[fault][operation] })),
);

/** The result of each cell, for the table. */
const results = new Map<string, string>();
const nameOf = (fault: FaultId, operation: OperationId) =>
	`${FAULTS[fault].title}: ${OPERATIONS[operation].title}`;

let servers: Servers;
beforeAll(async () => {
	servers = await startServers();
}, 180_000);
afterAll(async () => {
	await servers.stop();
	print();
});

const notSkipped = CELLS.filter(({ cell }) => !('skipped' in cell));

test.each(notSkipped.map((each) => [nameOf(each.fault, each.operation), each] as const))(
	'%s',
	async (name, { fault, operation, cell }) => {
		if ('skipped' in cell) throw new Error('A skipped cell is not run');
		results.set(name, '✗');
		for (const way of waysFor(OPERATIONS[operation], FAULT_IDS.indexOf(fault))) {
			const seen = await servers.run(OPERATIONS[operation], FAULTS[fault], way);
			checkEnding(cell, OPERATIONS[operation], seen, way);
		}
		results.set(name, cell.ends === 'well' ? 'works' : summaryOf(cell));
	},
	60_000,
);

test('nginx compresses the responses', async () => {
	servers.answer(body({ status: 'processing' }));
	const response = await fetch(servers.nginxUrl, { headers: { 'accept-encoding': 'gzip' } });
	expect(response.headers.get('content-encoding')).toBe('gzip');
	expect(await response.json()).toStrictEqual({ status: 'processing' });
});

test('every cell was run, or is skipped with a reason', () => {
	expect(CELLS).toHaveLength(FAULT_IDS.length * OPERATION_IDS.length);
	const missing = CELLS.filter(
		({ fault, operation, cell }) =>
			!results.has(nameOf(fault, operation)) &&
			!('skipped' in cell && cell.skipped.length > 10),
	);
	expect(missing).toStrictEqual([]);
});

function summaryOf({ status, reason, requests }: Exclude<Cell, { skipped: string }>): string {
	const failure = status ?? reason ?? 'error';
	return requests === 1 ? String(failure) : `${failure} ×${requests}`;
}

/** Prints the matrix, and why cells were skipped. */
function print(): void {
	const reasons = [
		...new Set(CELLS.flatMap(({ cell }) => ('skipped' in cell ? [cell.skipped] : []))),
	];
	const table = new Table({
		head: ['', ...OPERATION_IDS.map((id) => OPERATIONS[id].title.replace(/,? /g, '\n'))],
		style: { head: [], border: [], compact: true },
	});
	for (const fault of FAULT_IDS) {
		table.push([
			FAULTS[fault].title,
			...OPERATION_IDS.map((operation) => {
				const cell = EXPECTATIONS[fault][operation];
				if ('skipped' in cell) return `(${reasons.indexOf(cell.skipped) + 1})`;
				return results.get(nameOf(fault, operation)) ?? '';
			}),
		]);
	}
	const notes = reasons.map((reason, index) => `(${index + 1}) skipped: ${reason}`);
	process.stdout.write(
		`\n${[table.toString(), '×n: number of requests. ✗: not as expected.', ...notes].join('\n')}\n`,
	);
}
