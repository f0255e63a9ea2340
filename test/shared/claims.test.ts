import { isMade, mainRowOf } from '../../nodes/shared/durable/call';
import { decide, stateOf, type State } from '../../nodes/shared/durable/states';
import { STATES } from '../../scripts/stateTable';
import type { Row, Step } from '../../nodes/shared/engine/dataTable';
import { fakeClock } from '../support/fakeClock';
import { keyOwner, messageOf, statesIn, type OwnerOptions } from '../support/keyOwners';
import { rowTable, type Write } from '../support/rowTable';
import { seededRandom } from '../support/seededRandom';
import { thorough } from '../support/thorough';

const START_MS = Date.UTC(2026, 0, 1);
const BEHIND_MS = 60 * 60_000;

/** A clock for durations. That of the process, which the rows have, is behind it. */
function startClock(random?: () => number) {
	const clock = fakeClock(START_MS, random);
	jest.spyOn(Date, 'now').mockImplementation(() => clock.now() - BEHIND_MS);
	return clock;
}

describe('the state of a row', () => {
	const finished_at = '2026-01-01T00:00:00.000Z';
	test.each<[Row, State]>([
		[{ status: 'claimed' }, 'claimed'],
		[{ status: 'sent' }, 'sent'],
		[{ status: 'open', task_id: 't' }, 'open'],
		[{ status: 'completed', task_id: 't', finished_at }, 'done'],
		[{ status: 'failed', task_id: 't', finished_at }, 'failed'],
		// What a person may have made of a row frees nothing.
		[{ status: 'Claimed' }, 'sent'],
		[{ status: 'claimed ' }, 'sent'],
		[{ status: '' }, 'sent'],
		[{ status: null }, 'sent'],
		[{}, 'sent'],
		[{ status: 'done' }, 'sent'],
		[{ status: 'sent', task_id: ' t ' }, 'open'],
		[{ status: 'claimed', task_id: 't' }, 'open'],
		[{ status: 'sent', task_id: '  ' }, 'sent'],
		[{ status: 'any word', task_id: 't' }, 'open'],
		// A word for a failure does, as `taskState` has them.
		[{ status: 'failed' }, 'failed'],
	])('%j is %s', (row, state) => {
		expect(stateOf(row)).toBe(state);
	});

	test('each event leads to a state, and every state can be reached', () => {
		const reached = new Set<State>(['none']);
		for (let count = 0; count < reached.size;) {
			count = reached.size;
			for (const state of [...reached])
				for (const next of Object.values(STATES[state].events)) reached.add(next);
		}
		expect([...reached].toSorted()).toStrictEqual(Object.keys(STATES).toSorted());
	});

	test('no event takes back that a call was sent, but that it has certainly failed', () => {
		const back = Object.entries(STATES).flatMap(([state, { events }]) =>
			Object.entries(events).flatMap(([event, next]) =>
				['none', 'claimed'].includes(next) ? [`${state} ${event}`] : [],
			),
		);
		expect(back).toStrictEqual([
			'none has a key, or is of a retry',
			'claimed yields, or stands for a minute',
			'sent certainly fails, or is deleted',
		]);
	});
});

describe('the rows of a call', () => {
	const [claimed, sent, open] = [
		{ id: 1, status: 'claimed' },
		{ id: 2, status: 'sent' },
		{ id: 3, status: 'open', task_id: 't' },
	];
	const setToFailed = { ...sent, status: 'failed' };
	const failed = { ...open, status: 'failed' };
	test.each<[string, Row[], Row, boolean]>([
		['a claim', [claimed], claimed, false],
		['a claim twice', [claimed, { ...claimed, id: 4 }], { ...claimed, id: 4 }, false],
		['sent, and its claim a second time', [sent, { ...claimed, id: 4 }], sent, true],
		['its answer beside the row that announced it', [sent, open], open, true],
		['its answer before that', [open, { ...sent, id: 4 }], open, true],
		['a row that a person has set to failed', [setToFailed], setToFailed, false],
		['a video that has failed', [failed], failed, true],
	])('%s', (_name, rows, last, made) => {
		expect(mainRowOf(rows)).toStrictEqual(last);
		expect(isMade(rows)).toBe(made);
	});
});

/** Calls of a key as `ID call state`. */
const callsOf = (text: string) =>
	text
		.split(', ')
		.filter(Boolean)
		.map((each): Row => {
			const [id, call, status] = each.split(' ');
			return {
				...{ id: Number(id), call, status },
				...(['open', 'done', 'failed'].includes(status!) && { task_id: 'task' }),
				...(status === 'done' && { finished_at: 'x' }),
			};
		});

describe('what the owner of the call b does', () => {
	test.each<[string, string, string]>([
		['claims a key that nobody has', '', 'claim'],
		['claims a key whose video has failed', '1 a failed', 'claim'],
		['waits where another has claimed it', '1 a claimed', 'wait'],
		['sends where its claim is the only one', '2 b claimed', 'send'],
		['sends beside videos that have failed', '1 a failed, 2 b claimed', 'send'],
		['yields to a lower ID', '1 a claimed, 2 b claimed', 'withdraw'],
		['waits for a higher ID, which may not have seen it', '2 b claimed, 3 c claimed', 'wait'],
		['yields to one that is lower', '1 a claimed, 2 b claimed, 3 c claimed', 'withdraw'],
		...['sent', 'open', 'done'].flatMap((state): [string, string, string][] => [
			[`uses a lower ID that is ${state}`, `1 a ${state}, 2 b claimed`, `1 a ${state}`],
			[`uses a higher ID that is ${state}`, `2 b claimed, 3 c ${state}`, `3 c ${state}`],
			[`uses one that is ${state} without a claim`, `1 a ${state}`, `1 a ${state}`],
			[`uses ${state} beside other claims`, `1 a claimed, 3 c ${state}`, `3 c ${state}`],
		]),
		['uses the newest', '1 a done, 2 b claimed, 3 c open, 4 d failed', '3 c open'],
		['uses its own, which a person has set to sent', '2 b sent', '2 b sent'],
		['uses its own, to which a person has given a task', '2 b open', '2 b open'],
		['claims again where a person has set its own to failed', '2 b failed', 'claim'],
	])('%s', (_name, calls, decision) => {
		const [used] = callsOf(decision);
		const isWord = !decision.includes(' ');
		expect(decide(callsOf(calls), 'b')).toStrictEqual(isWord ? decision : { use: used });
	});
});

describe('owners at the same time', () => {
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
		const clock = startClock(random);
		const table = rowTable(clock, random);
		const sent: string[] = [];
		const tasks = new Map<string, Set<string>>(KEYS.map((key) => [key, new Set()]));
		const errors: string[] = [];
		let running = owners;
		async function own(name: string) {
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
		const all = names.map(async (name) => {
			await own(name).finally(() => (running -= 1));
		});
		await Promise.all([...all, ...(removed > 0 ? [vandal()] : [])]);
		return { table, sent, tasks, errors };
	}

	const some = (seeds: number) => thorough(seeds / 2, seeds);
	test.each<[string, World, number]>([
		['with keys', {}, some(60)],
		['whose claims are removed under them', { removed: 0.3 }, some(60)],
		['all claims of whom are removed all the time', { removed: 0.8, owners: 3 }, some(30)],
		['as retries of one execution', { isRetry: true }, some(40)],
		['as retries whose claims are removed', { isRetry: true, removed: 0.3 }, some(40)],
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
				const states = table.rows().map(({ status }) => status);
				expect(states).toStrictEqual(KEYS.map(() => 'open'));
				if (!world.isRetry)
					expect(statesIn(table).toSorted()).toStrictEqual(
						KEYS.map((key) => `${key} open`),
					);
			}
		},
	);

	test('after a failure that is certain another one sends', async () => {
		for (let seed = 0; seed < some(60); seed++) {
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
		const clock = startClock(random);
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
			for (let seed = 0; seed < thorough(100, 150); seed++) {
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

function world(reusesIds = false) {
	const clock = startClock();
	const table = rowTable(clock, undefined, reusesIds);
	const sent: string[] = [];
	const own = (execution = 'e1', more: Partial<OwnerOptions> = {}) =>
		keyOwner({ write: table.write, clock, execution, ...more });
	return {
		clock,
		table,
		sent,
		own,
		/** An owner whose table does this, once, before it gives back what was read. */
		ownBeside: (
			act: (read: readonly Row[]) => Promise<unknown>,
			more?: Partial<OwnerOptions>,
		) => {
			let isDone = false;
			const write: Write = async (...steps) => {
				const rows = await table.write(...steps);
				if (isDone || rows.length === 0) return rows;
				isDone = true;
				return ((await act(rows)) ?? rows) as readonly Row[];
			};
			return own('e1', { write, ...more });
		},
		send: (name: string) => async () => {
			sent.push(name);
			return await Promise.resolve(`task ${name}`);
		},
		/** A row of another execution. */
		insert: async (row: Row) => {
			const usual = {
				...{ idempotency_key: 'k', workflow_id: 'workflow', execution_id: 'other' },
				...{ account: 'account', origin: 'origin other', call: '0 k other-0 other' },
				...{ prompt: 'k', sent_at: new Date(Date.now()).toISOString() },
			};
			await table.write({ insert: [{ ...usual, ...row }] });
		},
	};
}

/** An owner asks for the key, and makes its call: how that ends. */
async function makes(
	{ own, send }: ReturnType<typeof world>,
	owner = own(),
	edit: () => void = () => undefined,
) {
	const call = owner.ask(0, 'k');
	await owner.open([call]);
	edit();
	return await owner.make(call, send('k')).catch(messageOf);
}

describe('a person edits the own claim before it is sent', () => {
	const to = (fields: Row) => (row: Row) => ({ ...row, ...fields });
	test.each<[string, (row: Row) => Row | undefined, readonly string[], RegExp]>([
		['to sent: it is not sent', to({ status: 'sent' }), [], /is in use: .*row 1 /],
		['to an unknown word: likewise', to({ status: 'Claimed' }), [], /is in use/],
		['to failed: claimed again', to({ status: 'failed' }), ['k'], /^task k$/],
		['and has a video', to({ status: 'open', task_id: 'theirs' }), [], /^theirs$/],
		['deletes it: claimed again', () => undefined, ['k'], /^task k$/],
		['clears its token: claimed again', to({ token: '' }), ['k'], /^task k$/],
	])('%s', async (_name, edit, expected, end) => {
		const here = world();
		const owner = here.own();
		const made = makes(here, owner, () => {
			here.table.edit(edit);
		});
		expect(await made).toMatch(end);
		expect(here.sent).toStrictEqual(expected);
		await owner.close();
		expect(here.table.rows().length).toBeLessThanOrEqual(2);
	});
});

describe('a key that another execution has', () => {
	test.each<[string, Row, end: RegExp, waitedMs: number, left: string]>([
		['sent just now: it is waited for', { status: 'sent' }, /is in use/, 90_000, 'other sent'],
		[
			'claimed by one that is gone: removed after a minute, however old it says to be',
			{ status: 'claimed', token: 't', sent_at: '2020-01-01T00:00:00Z' },
			/^task k$/,
			60_000,
			'e1 open',
		],
		[
			'claimed and without a token, as a person leaves it: never removed, and nothing of us stays',
			{ status: 'claimed', token: '' },
			/is in use: .*row 1 /,
			90_000,
			'other claimed',
		],
	])('%s', async (_name, row, end, waitedMs, left) => {
		const here = world();
		await here.insert(row);
		const owner = here.own();
		expect(await makes(here, owner)).toMatch(end);
		expect(here.clock.now() - START_MS).toBeGreaterThanOrEqual(waitedMs);
		expect(here.clock.now() - START_MS).toBeLessThan(waitedMs + 2_000);
		await owner.close();
		const rows = here.table
			.rows()
			.map(({ execution_id: id, status }) => [id, status].join(' '));
		expect(rows).toStrictEqual([left]);
		expect(here.sent).toHaveLength(left === 'e1 open' ? 1 : 0);
	});

	test('sent just now, and failed at the end of the wait: the key is free', async () => {
		const here = world();
		const { insert, clock, table } = here;
		await insert({ status: 'sent' });
		const write: Write = async (...steps) => {
			if (clock.now() - START_MS >= 90_000)
				table.edit((row) => (row['execution_id'] === 'other' ? undefined : row));
			return await table.write(...steps);
		};
		expect(await makes(here, here.own('e1', { write }))).toBe('task k');
	});

	test('sent by an earlier try of this execution, with other values: nobody will answer it', async () => {
		const here = world();
		const first = { origin: 'origin first', execution_id: 'first', call: '0 x c first' };
		await here.insert({ status: 'sent', ...first });
		const end = await makes(here, here.own('retry', { retryOf: 'first' }));
		expect(end).toMatch(/is in use: .*row 1 /);
		expect(here.clock.now()).toBe(START_MS);
		expect(here.sent).toStrictEqual([]);
	});

	test('claimed by one that was killed beside a video: it goes at once, as nobody needs it', async () => {
		const { own, insert, table, sent, clock } = world();
		await insert({ status: 'claimed', token: 't', call: '0 k killed killed' });
		await insert({ status: 'open', task_id: 'theirs' });
		const owner = own();
		const call = owner.ask(0, 'k');
		await owner.open([call]);
		expect(clock.now()).toBe(START_MS);
		await owner.close();
		expect(sent).toStrictEqual([]);
		expect(table.rows().map(({ status }) => status)).toStrictEqual(['open']);
	});

	test('claimed later by one that stays there: nothing of us is left behind at the end of the wait', async () => {
		const { own, insert, table, sent, send } = world();
		const owner = own();
		const call = owner.ask(0, 'k');
		const opened = owner.open([call]);
		await insert({ status: 'claimed', token: '' });
		await opened;
		const end = await owner.make(call, send('k')).catch(messageOf);
		// Which of both comes first is left to the table.
		expect(sent.length === 1 || end.includes('is in use')).toBe(true);
		await owner.close();
		const left = table.rows().filter(({ status }) => status === 'claimed');
		expect(left.map(({ execution_id }) => execution_id)).not.toContain('e1');
	});
});

test('the claim of an owner that waits for a higher one to the end goes', async () => {
	const { table, insert, ownBeside } = world();
	const owner = ownBeside(async () => {
		await insert({ status: 'claimed', token: '' });
		return [...table.rows()];
	});
	await owner.open([owner.ask(0, 'k')]);
	expect(table.rows().map(({ execution_id }) => execution_id)).toStrictEqual(['other']);
});

test('one that withdraws late does not remove the row of another, which has its ID by now', async () => {
	const { table, insert, ownBeside } = world(true);
	const owner = ownBeside(async (read) => {
		// The process is stopped after it has read: its claim is removed as a dead one, and another one sends its call.
		table.edit(() => undefined);
		await insert({ status: 'sent', token: '' });
		const lower = { ...table.rows()[0], id: 0, status: 'claimed', token: 't' };
		return [lower, ...read];
	});
	await owner.open([owner.ask(0, 'k')]);
	expect(table.rows()).toMatchObject([{ execution_id: 'other', status: 'sent' }]);
});

test('two retries: the row of the other one has the ID of one that a person has deleted', async () => {
	const { table, sent, send, insert, ownBeside } = world(true);
	const old: Row = { idempotency_key: '', origin: 'origin first', status: 'sent' };
	await insert({ ...old, execution_id: 'first', call: '0 old x first', item: 5 });
	const owner = ownBeside(
		async () => {
			table.edit(() => undefined);
			await insert({ ...old, call: '0 p x other', item: 0 });
		},
		{ execution: 'retry', retryOf: 'first' },
	);
	const call = owner.ask(0, '', 'p');
	await owner.open([call]);
	const end = await owner.make(call, send('p')).catch(messageOf);
	expect(table.rows()[0]).toMatchObject({ id: 1, execution_id: 'other' });
	expect(sent).toStrictEqual([]);
	expect(end).toMatch(/^Another retry of this execution makes the same call/);
});

test('801 keys are claimed in three writes, and those that are not sent are given back', async () => {
	const { own, table } = world();
	const owner = own();
	await owner.open(Array.from({ length: 801 }, (_, index) => owner.ask(index, `k${index}`)));
	expect(owner.claims.size).toBe(801);
	const inserts = (step: Step) => 'insert' in step && step.insert.length > 0;
	expect(table.calls.filter((steps) => steps.some(inserts))).toHaveLength(3);
	await owner.close();
	expect(table.rows()).toStrictEqual([]);
});

test('a table that never gives back what was written: an error', async () => {
	const { table, own } = world();
	const write: Write = async (...steps) => {
		await table.write(...steps);
		return [];
	};
	const owner = own('e1', { write });
	await expect(owner.open([owner.ask(0, 'k')])).rejects.toThrow(/does not return the claim/);
	expect(table.rows()).toStrictEqual([]);
});
