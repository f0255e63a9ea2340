// @seconds 12
import { OPERATIONS, waysFor, type Operation } from '../faults/operations';
import { thorough } from '../support/thorough';
import { attackScript } from './attackScript';
import { isWell, problemsOf, when } from './invariants';
import { startHostileServers, type HostileServers, type Seen } from './runCell';
import { SERVICE_ATTACKS, type Attack } from './service';

/** The operations that an attack is tried on: usually one in turn, and a third of them for what quotes the key. */
function operationsFor({ on, everyWay = false }: Attack, row: number): readonly Operation[] {
	const all: readonly Operation[] = Object.values(OPERATIONS);
	const possible = all.filter((operation) => on?.(operation) ?? true);
	const usual = possible.filter((_, index) =>
		everyWay ? (row + index) % 3 === 0 : row % possible.length === index,
	);
	return thorough(usual, possible);
}

const CELLS = SERVICE_ATTACKS.flatMap((attack, row) =>
	operationsFor(attack, row).map((operation) => ({ attack, operation, row })),
);

let servers: HostileServers;
beforeAll(async () => {
	servers = await startHostileServers();
});
afterAll(async () => {
	await servers.stop();
});

test.each(CELLS)(
	'$attack.title: $operation.title',
	async ({ attack, operation, row }) => {
		const ways =
			attack.everyWay === true
				? waysFor(operation, Math.floor(row / 3))
				: operation.ways.slice(0, 1);
		for (const way of ways) {
			const seen = await servers.run(
				operation,
				{ service: (hosts) => attackScript(operation, attack, hosts) },
				way,
			);
			const problems = await problemsOf(seen, attack, way);
			expect([...problems, ...endProblems(attack, operation, seen)]).toStrictEqual([]);
		}
	},
	120_000,
);

/** What is wrong with the end that the attack must have. */
function endProblems({ ends, says }: Attack, operation: Operation, { outcome }: Seen): string[] {
	const { error, items } = outcome;
	// The visitor of a chat does not read where it went; the execution tells.
	const { context } = (error ?? {}) as { readonly context?: object };
	const said = JSON.stringify([
		[error?.message, error?.description, context],
		items.map(({ json }) => json),
	]);
	const isRight = ends === undefined || isWell(operation, outcome) === (ends === 'well');
	return [
		...when(!isRight, `does not end ${ends}: ${error?.message ?? ''}`),
		...when(says?.test(said) === false, `does not say ${String(says)}`),
	];
}

test('each operation is attacked', () => {
	const attacked = new Set(CELLS.map(({ operation }) => operation.title));
	expect(attacked.size).toBe(Object.keys(OPERATIONS).length);
});
