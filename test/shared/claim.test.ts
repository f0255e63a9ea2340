import { decide, type State } from '../../nodes/shared/durable/states';
import type { Row } from '../../nodes/shared/engine/dataTable';
import { fakeClock } from '../support/fakeClock';
import { keyOwner, messageOf, statesIn } from '../support/keyOwners';
import { rowTable } from '../support/rowTable';
import { seededRandom } from '../support/seededRandom';

const at = (id: number, call: string, state: State): Row => ({
	...{ id, call, status: state },
	...(['open', 'done', 'failed'].includes(state) && { task_id: 'task' }),
	...(state === 'done' && { finished_at: 'x' }),
});

describe('what the owner of the call b does', () => {
	const mine = at(2, 'b', 'claimed');
	test.each<[string, readonly Row[], ReturnType<typeof decide>]>([
		['claims a key that nobody has', [], 'claim'],
		['claims a key whose video has failed', [at(1, 'a', 'failed')], 'claim'],
		['waits where another has claimed it', [at(1, 'a', 'claimed')], 'wait'],
		['sends where its claim is the only one', [mine], 'send'],
		['sends beside videos that have failed', [at(1, 'a', 'failed'), mine], 'send'],
		['yields to a lower ID', [at(1, 'a', 'claimed'), mine], 'withdraw'],
		[
			'waits for a higher ID, which may not have seen it',
			[mine, at(3, 'c', 'claimed')],
			'wait',
		],
		[
			'yields where one ID is lower and another higher',
			[at(1, 'a', 'claimed'), mine, at(3, 'c', 'claimed')],
			'withdraw',
		],
		...(['sent', 'open', 'done'] as const).flatMap(
			(state): [string, readonly Row[], ReturnType<typeof decide>][] => [
				[
					`uses a lower ID that is ${state}`,
					[at(1, 'a', state), mine],
					{ use: at(1, 'a', state) },
				],
				[
					`uses a higher ID that is ${state}`,
					[mine, at(3, 'c', state)],
					{ use: at(3, 'c', state) },
				],
				[
					`uses one that is ${state} without a claim`,
					[at(1, 'a', state)],
					{ use: at(1, 'a', state) },
				],
				[
					`uses one that is ${state} beside other claims`,
					[at(1, 'a', 'claimed'), at(3, 'c', state)],
					{ use: at(3, 'c', state) },
				],
			],
		),
		[
			'uses the newest of several',
			[at(1, 'a', 'done'), mine, at(3, 'c', 'open'), at(4, 'd', 'failed')],
			{ use: at(3, 'c', 'open') },
		],
		[
			'uses its own, which a person has set to sent',
			[at(2, 'b', 'sent')],
			{ use: at(2, 'b', 'sent') },
		],
		[
			'uses its own, to which a person has given a task',
			[at(2, 'b', 'open')],
			{ use: at(2, 'b', 'open') },
		],
		['claims again where a person has set its own to failed', [at(2, 'b', 'failed')], 'claim'],
	])('%s', (_name, calls, decision) => {
		expect(decide(calls, 'b')).toStrictEqual(decision);
	});
});

describe('owners at the same time', () => {
	let now: () => number;
	beforeEach(() => {
		jest.spyOn(Date, 'now').mockImplementation(() => now());
	});
	afterEach(() => {
		jest.restoreAllMocks();
	});

	/** What a run of random orders does besides. */
	interface World {
		/** Share of the claims that is removed under their owners each time somebody looks. */
		readonly removed?: number;
		/** Share of the calls that certainly fail. */
		readonly failing?: number;
		/** How long a call takes at most, in milliseconds. */
		readonly creationMs?: number;
		readonly owners?: number;
		/** Whether all are retries of one execution, whose calls have no keys. */
		readonly isRetry?: boolean;
	}

	const KEYS = ['x', 'y', 'z'];

	async function race(seed: number, world: World) {
		const { removed = 0, failing = 0, creationMs = 4_000, owners = 4, isRetry = false } = world;
		const random = seededRandom(seed);
		const clock = fakeClock(Date.UTC(2026, 0, 1), random);
		now = () => clock.now();
		const table = rowTable(clock, random);
		const sent: string[] = [];
		const tasks = new Map<string, Set<string>>(KEYS.map((key) => [key, new Set()]));
		const errors: string[] = [];
		let running = owners;
		async function own(name: string) {
			try {
				await ownAll(name);
			} finally {
				running -= 1;
			}
		}
		async function ownAll(name: string) {
			await clock.sleep(random() * 1_000);
			const retryOf = isRetry ? { retryOf: 'first' } : {};
			const owner = keyOwner({ write: table.write, clock, execution: name, ...retryOf });
			const calls = KEYS.map((key, index) => owner.ask(index, isRetry ? '' : key, key));
			await owner.open(calls);
			const order = calls.toSorted(() => random() - 0.5);
			for (const call of order) {
				const made = owner.make(call, async () => {
					const task = `${call.hash} of ${name}`;
					const fails = random() < failing;
					sent.push(`${call.hash} ${fails ? 'fails' : 'pays'}`);
					await clock.sleep(random() * creationMs);
					return fails ? '' : task;
				});
				await made.then(
					(task) => task && tasks.get(call.hash)!.add(task),
					(error: unknown) => errors.push((error as Error).message),
				);
			}
			await owner.close();
		}
		async function vandal() {
			while (running > 0) {
				table.edit((row) =>
					row['status'] === 'claimed' && random() < removed ? undefined : row,
				);
				await clock.sleep(random() * 400);
			}
		}
		const names = Array.from({ length: owners }, (_, index) => `e${index}`);
		await Promise.all([...names.map(own), ...(removed > 0 ? [vandal()] : [])]);
		return { table, sent, tasks, errors };
	}

	test.each<[string, World, number]>([
		['with keys', {}, 60],
		['whose claims are removed under them', { removed: 0.3 }, 60],
		['all claims of whom are removed all the time', { removed: 0.8, owners: 3 }, 30],
		['as retries of one execution', { isRetry: true }, 40],
		['as retries whose claims are removed', { isRetry: true, removed: 0.3 }, 40],
	])(
		'%s: one sends each call, all have its task, and nothing is left',
		async (_name, world, seeds) => {
			for (let seed = 0; seed < seeds; seed++) {
				const { table, sent, tasks, errors } = await race(seed, world);
				expect({ seed, sent: sent.toSorted() }).toStrictEqual({
					seed,
					sent: KEYS.map((key) => `${key} pays`),
				});
				// A retry does not know whether the other one lives that has sent a call.
				const stopped = 'An earlier try was stopped after it had sent this call';
				expect(errors.filter((each) => !world.isRetry || each !== stopped)).toStrictEqual(
					[],
				);
				for (const key of KEYS) expect(tasks.get(key)!.size).toBe(1);
				expect(table.rows().map(({ status }) => status)).toStrictEqual([
					'open',
					'open',
					'open',
				]);
				if (!world.isRetry)
					expect(statesIn(table).toSorted()).toStrictEqual(
						KEYS.map((key) => `${key} open`),
					);
			}
		},
	);

	test('after a failure that is certain another one sends', async () => {
		for (let seed = 0; seed < 60; seed++) {
			const { table, sent, tasks } = await race(seed, { failing: 0.5 });
			for (const key of KEYS) {
				const ofKey = sent.filter((each) => each.startsWith(key));
				const paid = ofKey.indexOf(`${key} pays`);
				// Nobody sends after the one that pays.
				expect({ seed, paid }).toStrictEqual({
					seed,
					paid: paid < 0 ? paid : ofKey.length - 1,
				});
				expect(ofKey.length).toBeLessThanOrEqual(4);
				expect(tasks.get(key)!.size).toBe(paid < 0 ? 0 : 1);
			}
			expect(table.rows().every(({ status }) => status === 'open')).toBe(true);
		}
	});

	/**
	 * An execution, retries of it at the same time, and a last one. All but the last may be killed at any step, and any call of the
	 * table may run its steps again.
	 */
	async function kills(seed: number, hasKeys: boolean) {
		const random = seededRandom(seed);
		const clock = fakeClock(Date.UTC(2026, 0, 1), random);
		now = () => clock.now();
		const table = rowTable(clock, random);
		const sent: string[] = [];
		async function run(name: string, killedAtMs: number) {
			const isAlive = () => clock.now() < killedAtMs;
			const write = table.of({ isAlive, repeats: () => random() < 0.1 });
			const retryOf = name === 'first' ? {} : { retryOf: 'first' };
			const owner = keyOwner({ write, isAlive, clock, execution: name, ...retryOf });
			const calls = KEYS.map((key, index) => owner.ask(index, hasKeys ? key : '', key));
			await owner.open(calls);
			const ends = new Map<string, string>();
			for (const call of calls) {
				const made = owner.make(call, async () => {
					sent.push(call.hash);
					await clock.sleep(random() * 2_000);
					return `${call.hash} of ${name}`;
				});
				const end = await made.catch(messageOf);
				ends.set(call.hash, end);
			}
			await owner.close();
			return ends;
		}
		const until = async (work: Promise<unknown>, ms: number) => {
			await Promise.race([work.catch(() => undefined), clock.sleep(ms)]);
			await clock.sleep(Math.max(0, begunMs + ms - clock.now()));
		};
		let begunMs = clock.now();
		const killAt = () => begunMs + random() * 6_000;
		await until(run('first', killAt()), 6_000);
		begunMs = clock.now();
		const both = ['second', 'third'].map(async (name) => {
			await clock.sleep(random() * 1_500);
			await run(name, killAt());
		});
		await until(Promise.all(both), 6_000);
		await clock.sleep(300_000);
		return { table, sent, ends: await run('last', Infinity) };
	}

	test.each([
		['without keys', false],
		['with keys', true],
	])(
		'killed at any step, %s: nothing is sent twice, and what was sent is known',
		async (_name, hasKeys) => {
			for (let seed = 0; seed < 150; seed++) {
				const { sent, ends } = await kills(seed, hasKeys);
				expect({ seed, sent: [...new Set(sent)] }).toStrictEqual({ seed, sent });
				// Of a call that was announced and not sent nobody can tell.
				const stopped = 'stopped after it had sent|has no answer yet';
				for (const key of KEYS) {
					const video = sent.includes(key) ? `${key} of|` : '';
					expect({ seed, end: ends.get(key) }).toStrictEqual({
						seed,
						end: expect.stringMatching(`${video}${stopped}`) as string,
					});
				}
			}
		},
	);
});
