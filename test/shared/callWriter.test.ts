import { InputError } from '../../nodes/client/errors';
import type { AskedCall } from '../../nodes/shared/durable/call';
import type { CallRun } from '../../nodes/shared/durable/callRun';
import { callWriter, type Announced } from '../../nodes/shared/durable/callWriter';
import type { Claim } from '../../nodes/shared/durable/claimKeys';
import { openLimit } from '../../nodes/shared/durable/limit';
import type { Row, Step } from '../../nodes/shared/engine/dataTable';
import { fakeClock } from '../support/fakeClock';
import { rowTable } from '../support/rowTable';

/** A call with a name. */
const asked = (name: string, index = 0) =>
	({ index, call: name, row: { call: name, prompt: name } }) as unknown as AskedCall;

const three = () => ['a', 'b', 'c'].map(asked) as [AskedCall, AskedCall, AskedCall];

/** A writer over a table; `tells` is whether n8n gives back what was written. */
function open({ reusesIds = false, tells = true } = {}) {
	const clock = fakeClock(1_000_000);
	const table = rowTable(undefined, undefined, reusesIds);
	const claims = new Map<AskedCall, Claim>();
	const writer = callWriter({
		clock,
		claimOf: (call) => claims.get(call),
		write: async (steps) => {
			const rows = await table.write(...steps);
			return tells ? rows : [];
		},
		admit: async (_calls, announce) => {
			await announce();
		},
	});
	return {
		clock,
		table,
		writer,
		/** Announces calls at once. */
		announceAll: async (calls: readonly AskedCall[]): Promise<readonly Announced[]> =>
			await Promise.all(calls.map(async (call) => await writer.announce(call))),
		/** Inserts claims of one write. */
		claim: async (token: string, ...calls: readonly AskedCall[]): Promise<void> => {
			await table.write({
				insert: calls.map(({ row }) => ({ ...row, status: 'claimed', token })),
			});
			for (const call of calls) {
				const row = table.rows().findLast((each) => each['call'] === call.call)!;
				claims.set(call, { id: Number(row['id']), token, attempt: 1 });
			}
		},
		shown: () =>
			table
				.rows()
				.map(({ call, status, token }) =>
					[call, status, ...(status === 'claimed' ? [token] : [])].join(' '),
				),
	};
}

const answer = (name: string): Row => ({ call: name, status: 'open', task_id: `task ${name}` });
const setsOf = (steps: readonly Step[]) => steps.filter((step) => 'set' in step);

describe('the rows at each point where n8n may be killed', () => {
	test('a call whose row has the ID of one that is gone leaves its answer only', async () => {
		const { writer, shown } = open({ reusesIds: true });
		for (const [index, name] of ['a', 'b', 'c'].entries()) {
			const call = asked(name, index);
			await writer.announce(call);
			writer.settle(call, name === 'a' ? undefined : answer(name));
			// As with a pause between the calls.
			await writer.flush();
		}
		expect(shown()).toStrictEqual(['b open', 'c open']);
		writer.end();
	});

	test('the answers of one group go with the announcement of the next', async () => {
		const { writer, table, shown } = open();
		const [a, b] = [asked('a'), asked('b', 1)];
		await writer.announce(a);
		writer.settle(a, answer('a'));
		await writer.announce(b);
		expect(shown()).toStrictEqual(['a open', 'b sent']);
		expect(table.calls).toHaveLength(2);
		writer.end();
	});

	test.each([
		['an answer', 'a', ['a open']],
		['a failure', undefined, []],
	])(
		'%s after which no announcement comes is written after a second',
		async (_name, task, left) => {
			const { writer, clock, shown } = open();
			const call = asked('a');
			await writer.announce(call);
			writer.settle(call, task === undefined ? undefined : answer(task));
			await clock.sleep(2_000);
			expect(clock.slept).toContain(1_000);
			expect(shown()).toStrictEqual(left);
			writer.end();
		},
	);
});

describe('gathering', () => {
	test('calls that come together are announced by one write, those that come meanwhile by the next', async () => {
		const { writer, table, announceAll } = open();
		const calls = ['a', 'b', 'c', 'd', 'e'].map(asked);
		expect(await announceAll(calls)).toStrictEqual(calls.map(() => 'stored'));
		expect(table.calls.length).toBeLessThanOrEqual(2);
		expect(table.rows()).toHaveLength(5);
		expect(writer.end()).toBe(5);
	});

	test('calls that end one after another go on together, and so do those after them', async () => {
		const { writer, table, clock, announceAll } = open();
		let calls = ['a', 'b', 'c', 'd', 'e'].map(asked);
		await announceAll(calls);
		const { length } = table.calls;
		for (let round = 1; round <= 3; round++) {
			const next = calls.map(({ call }, index) => asked(`${call}${round}`, index));
			const ending = calls.map(async (call, index) => {
				await clock.sleep(index * 6);
				writer.settle(call, answer(call.call));
				return await writer.announce(next[index]!);
			});
			await Promise.all(ending);
			calls = next;
		}
		expect(table.calls).toHaveLength(length + 3);
		writer.end();
	});
});

describe('compare-and-set', () => {
	test('claims of one write that follow each other are sent by one step', async () => {
		const { announceAll, claim, table } = open();
		const [a, b, c] = three();
		await claim('t', a, b, c);
		// The first write begins at once: what comes with it goes into the second.
		expect(await announceAll([a, b, c])).toStrictEqual(['stored', 'stored', 'stored']);
		for (const steps of table.calls.slice(1)) expect(setsOf(steps)).toHaveLength(1);
	});

	test('a claim between them that is not to be sent stays', async () => {
		const { announceAll, claim, shown } = open();
		const [a, b, c] = three();
		await claim('t', a, b, c);
		expect(await announceAll([a, c])).toStrictEqual(['stored', 'stored']);
		expect(shown()).toStrictEqual(['a sent', 'b claimed t', 'c sent']);
	});

	test('claims of several writes whose IDs follow each other', async () => {
		const { announceAll, claim, shown } = open();
		const [a, b] = [asked('a'), asked('b', 1)];
		await claim('t', a);
		await claim('u', b);
		expect(await announceAll([b, a])).toStrictEqual(['stored', 'stored']);
		expect(shown()).toStrictEqual(['a sent', 'b sent']);
	});

	test('a claim that another run has left with the same call is not sent', async () => {
		const { writer, claim, table } = open();
		const call = asked('a');
		await claim('t', call);
		await table.write({ insert: [{ call: 'a', status: 'claimed', token: 'old' }] });
		await writer.announce(call);
		expect(table.rows().map(({ status }) => status)).toStrictEqual(['sent', 'claimed']);
	});
});

test('an announcement whose rows the table does not give back ends', async () => {
	// As after the time limit of a workflow: n8n writes, and tells nothing.
	const { writer, table } = open({ tells: false });
	expect(await writer.announce(asked('a'))).toBe('stored');
	expect(table.calls).toHaveLength(1);
});

test('calls of one n8n are counted against a limit one group after another, so that what fits is sent', async () => {
	const table = rowTable();
	const run = {
		workflowId: 'w',
		origin: { origin: 'o' },
		state: () => ({ get: () => undefined, set: (value: object) => value }),
		onLedger: table.write,
	} as unknown as CallRun<unknown>;
	const limit = openLimit(run, {
		since: () => '2026-06-15T00:00:00.000Z',
		verify: () => undefined,
		excessOf: ({ videos }, { length }) =>
			videos + length > 3 ? new InputError('Maximum Videos', 'is 3', '') : undefined,
		takesWhatFits: false,
		dryRuns: [],
	});
	const sent = { status: 'sent', workflow_id: 'w', sent_at: '2026-06-15T12:00:00.000Z' };
	const announce = async (...names: readonly string[]) => {
		const calls = names.map(asked);
		return await limit.announce(calls, async (find) => {
			const insert = calls.map(({ row }) => ({ ...row, ...sent }));
			return await table.write({ insert }, ...(find ? [find] : []));
		});
	};
	const all = [announce('a', 'b'), announce('c', 'd'), announce('e')];
	const ended = (await Promise.allSettled(all)).map(({ status }) => status);
	expect(ended).toStrictEqual(['fulfilled', 'rejected', 'fulfilled']);
	expect(table.rows().map(({ call }) => call)).toStrictEqual(['a', 'b', 'e']);
});
