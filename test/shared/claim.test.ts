import {
	claimKeys,
	decide,
	type ClaimRow,
	type ClaimTable as TableOfKeys,
} from '../../nodes/shared/ledger/claim';
import type { Clock } from '../../nodes/client/ports';
import { fakeClock, type FakeClock } from '../support/fakeClock';
import { seededRandom } from '../support/seededRandom';

const row = (id: number, claim: string, state: ClaimRow['state']): ClaimRow => ({
	id,
	claim,
	state,
	row: { claim },
});

interface Key {
	readonly claim: string;
}
/** The table of a single key. */
type ClaimTable = Omit<TableOfKeys<Key>, 'find'> & {
	readonly find: () => Promise<readonly ClaimRow[]>;
};

async function claimKey(
	table: ClaimTable,
	clock: Clock,
	{ claim, waitMs }: { readonly claim: string; readonly waitMs: number },
) {
	const key = { claim };
	const find = async () => [await table.find()];
	return (await claimKeys({ ...table, find }, [key], clock, waitMs)).get(key)!;
}

describe('what the owner of claim b does', () => {
	const mine = row(2, 'b', 'claimed');
	test.each([
		['claims a free key', [], 'claim'],
		['does not claim a key that another has claimed', [row(1, 'a', 'claimed')], 'wait'],
		['does not claim a key that another has reserved', [row(1, 'a', 'reserved')], 'wait'],
		['reserves the key when its claim is the only one', [mine], 'reserve'],
		['yields to a lower ID', [row(1, 'a', 'claimed'), mine], 'withdraw'],
		[
			'waits for a higher ID, which may not have seen it',
			[mine, row(3, 'c', 'claimed')],
			'wait',
		],
		['yields to a higher ID that is reserved', [mine, row(3, 'c', 'reserved')], 'withdraw'],
		['counts its own claim once', [mine, row(4, 'b', 'claimed')], 'reserve'],
	] as const)('%s', (_name, rows, decision) => {
		expect(decide(rows, 'b')).toBe(decision);
	});

	test('uses the newest of the settled rows', () => {
		const newest = row(4, '', 'settled');
		const rows = [row(1, '', 'settled'), mine, newest, row(5, 'c', 'reserved')];
		expect(decide(rows, 'b')).toStrictEqual({ settled: newest.row });
	});
});

/** A table whose inserts get their IDs before they are visible, and whose operations take a random time. */
function slowTable(clock: FakeClock, random: () => number) {
	let lastId = 0;
	let rows: ClaimRow[] = [];
	const pause = async () => {
		await clock.sleep(random() * 400);
	};
	const change = async (work: () => void) => {
		await pause();
		work();
		await pause();
	};
	const find = async () => {
		await pause();
		const found = rows.toSorted((a, b) => a.id - b.id);
		await pause();
		return found;
	};
	const insert = async (claim: string, state: ClaimRow['state']) => {
		await pause();
		const id = (lastId += 1);
		await change(() => {
			rows = [...rows, row(id, claim, state)];
		});
	};
	const remove = async (claim: string) => {
		await change(() => {
			rows = rows.filter((each) => each.claim !== claim);
		});
	};
	return {
		rows: () => rows,
		forKey: (claim: string): ClaimTable => ({
			find,
			claim: async () => {
				await insert(claim, 'claimed');
			},
			reserve: async () => {
				await change(() => {
					rows = rows.map((each) =>
						each.claim === claim ? row(each.id, claim, 'reserved') : each,
					);
				});
			},
			withdraw: async () => {
				await remove(claim);
			},
		}),
		settle: async (claim: string, name: string) => {
			await insert(name, 'settled');
			await remove(claim);
		},
	};
}

const OWNERS = ['a', 'b', 'c', 'd', 'e'];

test('of many owners at once one works for the key, and the others get its outcome', async () => {
	for (let seed = 0; seed < 400; seed++) {
		const random = seededRandom(seed);
		const clock = fakeClock(0, random);
		const table = slowTable(clock, random);
		const worked: string[] = [];
		const outcomes = await Promise.all(
			OWNERS.map(async (claim) => {
				await clock.sleep(random() * 1_000);
				const options = { claim, waitMs: 100_000 };
				const outcome = await claimKey(table.forKey(claim), clock, options);
				if (typeof outcome === 'object') return outcome['claim'];
				worked.push(`${claim} ${outcome}`);
				await clock.sleep(random() * 5_000);
				await table.settle(claim, `of ${claim}`);
				return `of ${claim}`;
			}),
		);
		expect({ seed, worked }).toStrictEqual({
			seed,
			worked: [expect.stringMatching(/reserved/)],
		});
		expect(new Set(outcomes).size).toBe(1);
		expect(table.rows().map(({ state }) => state)).toStrictEqual(['settled']);
	}
});

test('after a failure the next owner works for the key', async () => {
	const random = seededRandom(7);
	const clock = fakeClock(0, random);
	const table = slowTable(clock, random);
	let running = 0;
	const outcomes = await Promise.all(
		OWNERS.map(async (claim) => {
			const key = table.forKey(claim);
			const outcome = await claimKey(key, clock, { claim, waitMs: 100_000 });
			running += 1;
			expect(running).toBe(1);
			await clock.sleep(2_000);
			running -= 1;
			await key.withdraw([]);
			return outcome;
		}),
	);
	expect(outcomes).toStrictEqual(OWNERS.map(() => 'reserved'));
	expect(table.rows()).toStrictEqual([]);
});

describe('somebody who waits', () => {
	/** A table on which another has the key. */
	const taken = (more: Partial<ClaimTable> = {}) => {
		const done: string[] = [];
		const table: ClaimTable = {
			find: () => Promise.resolve([row(1, 'a', 'reserved')]),
			claim: () => {
				done.push('claim');
				return Promise.resolve();
			},
			reserve: () => Promise.resolve(done.push('reserve')),
			withdraw: () => Promise.resolve(done.push('withdraw')),
			...more,
		};
		return { table, done };
	};
	const options = { claim: 'b', waitMs: 2_000 };

	test('reads again every 500 to 1000 ms, up to the limit', async () => {
		const clock = fakeClock(0, seededRandom(1));
		const { table, done } = taken();
		expect(await claimKey(table, clock, options)).toBe('timeout');
		expect(clock.now()).toBe(2_000);
		clock.slept.slice(0, -1).forEach((ms) => {
			expect(ms).toBeGreaterThanOrEqual(500);
			expect(ms).toBeLessThan(1_000);
		});
		expect(done).toStrictEqual([]);
	});

	test.each([
		['at the limit', undefined],
		['when the execution is canceled', new Error('canceled')],
	])('withdraws its claim %s', async (_name, cancellation) => {
		const clock = fakeClock();
		let rows: readonly ClaimRow[] = [];
		const { table, done } = taken({
			find: () => Promise.resolve(rows),
			claim: () => {
				done.push('claim');
				rows = [row(2, 'b', 'claimed'), row(3, 'c', 'claimed')];
				return Promise.resolve();
			},
		});
		const sleep = async (ms: number) => {
			if (cancellation) throw cancellation;
			await clock.sleep(ms);
		};
		const outcome = claimKey(table, { ...clock, sleep }, options);
		await (cancellation
			? expect(outcome).rejects.toBe(cancellation)
			: expect(outcome).resolves.toBe('timeout'));
		expect(done).toStrictEqual(['claim', 'withdraw']);
	});
});
