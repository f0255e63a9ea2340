// @seconds 25
import { OPERATIONS, waysFor, type Operation, type OperationId } from '../faults/operations';
import { attackScript } from './attackScript';
import { isWell, problemsOf, resultOf } from './invariants';
import { printMatrix } from './printMatrix';
import { startHostileServers, type HostileServers, type Scripts, type Seen } from './runCell';
import { SERVICE_ATTACKS, type Attack } from './service';

const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];
const CELLS = SERVICE_ATTACKS.flatMap((attack) =>
	OPERATION_IDS.map((id) => ({ attack, operation: OPERATIONS[id] })),
);
const nameOf = (attack: Attack, operation: Operation) => `${attack.title}: ${operation.title}`;

const results = new Map<string, string>();
let servers: HostileServers;
beforeAll(async () => {
	servers = await startHostileServers();
});
afterAll(async () => {
	await servers.stop();
	printMatrix(
		OPERATION_IDS.map((id) => OPERATIONS[id].title),
		SERVICE_ATTACKS.map((attack) => [
			attack.title,
			OPERATION_IDS.map((id) => {
				const skipped = attack.skip?.(OPERATIONS[id]);
				const result = results.get(nameOf(attack, OPERATIONS[id])) ?? '';
				return skipped === undefined ? { result } : { skipped };
			}),
		]),
	);
});

const attacked = (operation: Operation, attack: Attack): Scripts => ({
	service: (hosts) => attackScript(operation, attack, hosts),
});

const run = CELLS.filter(({ attack, operation }) => attack.skip?.(operation) === undefined);

test.each(run.map((cell) => [nameOf(cell.attack, cell.operation), cell] as const))(
	'%s',
	async (name, { attack, operation }) => {
		results.set(name, '✗');
		const ways =
			attack.everyWay === true
				? waysFor(operation, SERVICE_ATTACKS.indexOf(attack))
				: operation.ways.slice(0, 1);
		for (const way of ways) {
			const seen = await servers.run(operation, attacked(operation, attack), way);
			const problems = await problemsOf(seen, attack, way);
			if (problems.length === 0) problems.push(...endProblems(attack, operation, seen));
			expect(problems).toStrictEqual([]);
			results.set(name, resultOf(operation, seen));
		}
	},
	120_000,
);

/** What is wrong with the end that the attack must have. */
function endProblems({ ends, says }: Attack, operation: Operation, seen: Seen): string[] {
	const { outcome } = seen;
	const { error, items } = outcome;
	// The visitor of a chat does not read where it went; the execution tells.
	const { context } = (error ?? {}) as { readonly context?: object };
	const said = JSON.stringify([
		[error?.message, error?.description, context],
		items.map(({ json }) => json),
	]);
	const isRight = ends === undefined || isWell(operation, outcome) === (ends === 'well');
	return [
		...(isRight ? [] : [`ends ${resultOf(operation, seen)}: ${error?.message ?? ''}`]),
		...(says === undefined || says.test(said) ? [] : [`does not say ${String(says)}`]),
	];
}

test('every cell was run, or is skipped with a reason', () => {
	const missing = CELLS.filter(
		({ attack, operation }) =>
			!results.has(nameOf(attack, operation)) &&
			(attack.skip?.(operation) ?? '').length <= 10,
	);
	expect(missing).toStrictEqual([]);
});
