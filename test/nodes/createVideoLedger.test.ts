import type { ServerResponse } from 'node:http';

import type { IDataObject } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import {
	another,
	breakOff,
	byId,
	DATE,
	idsOf,
	movedClock,
	reject,
	reply,
	retryAs,
	RETRY,
	reusedOf,
	videoService,
	type More,
} from '../support/createdVideos';
import { dataTables, held, rowOperations, type DataTables } from '../support/dataTables';
import { allItems, canceler, type EnvironmentOptions, type RunResult } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { gate } from '../support/gate';

const DAY_MS = 86_400_000;
const TABLE = TASK_TABLE.name;
/** Long beside every write, on a busy machine as well: batches stay as small as they can be. */
const CREATION_MS = 5_000;
/** The key is the first letter of the prompt. */
const KEYED = { idempotencyKey: '={{ $json.prompt[0] }}', useExistingVideo: true };
/** Videos one after another. */
const SERIAL = { concurrency: 1 };

const clock = movedClock();
const service = videoService((prompt, nth) => {
	clock.aheadMs += CREATION_MS;
	return `task-${prompt}${nth > 1 ? ` ${nth}` : ''}`;
});
const { create, forget, loop, restore, rowsOf, sent } = service;
async function runKilledAt(
	prompt: string,
	prompts: readonly string[],
	options: IDataObject = {},
): Promise<void> {
	await service.runKilledAt(prompt, async () => await create(prompts, options));
}

/** The hints about the ledger: in these workflows no node waits, which a hint says as well. */
const hintsOf = ({ hints }: RunResult) =>
	hints.filter((message) => !message.includes('nothing in this workflow waits'));
const turn = async () => {
	await new Promise((resolve) => setImmediate(resolve));
};

/** Holds the answer to a creation back until it is to be given. */
function heldAnswer(prompt: string) {
	const [arrival, answer] = [gate(), gate()];
	const give = async (response: ServerResponse) => {
		arrival.open();
		await answer.passed;
		service.createTask(response, prompt);
	};
	service.answers = { [prompt]: [(response) => void give(response)] };
	return { arrived: arrival.passed, answer: answer.open };
}

/** The tables for a run that stops before its first step of this operation, until it is to go on. */
function heldAt(operation: string) {
	const [reach, go] = [gate(), gate()];
	const tables = held(service.tables, (operations) => {
		if (!operations.includes(operation)) return undefined;
		reach.open();
		return go.passed;
	});
	return { tables, reached: reach.passed, goOn: go.open };
}

/** The tables with an error for each write with this operation that was carried out, the first time. */
function unsureAt(operation: string, message: string): DataTables {
	const { executeWorkflow } = service.tables;
	const written = new Set<string>();
	return {
		...service.tables,
		executeWorkflow: async (info, ...more) => {
			const result = await executeWorkflow(info, ...more);
			const text = JSON.stringify([info.code!.nodes, more[1].inputData]);
			if (!rowOperations(info).includes(operation) || written.has(text)) return result;
			written.add(text);
			throw new Error(message);
		},
	};
}

describe('the rows of an execution', () => {
	test('before and after each creation', async () => {
		const seen: Record<string, string[]> = {};
		service.onRequest = (prompt) => {
			seen[prompt] = rowsOf();
		};
		// Beside a slow table calls are announced before their turn.
		jest.spyOn(performance, 'now').mockReturnValue(performance.now());
		await create(['a', 'b', 'c'], SERIAL);
		expect(seen).toStrictEqual({
			a: ['a sent'],
			b: ['a open', 'b sent'],
			c: ['a open', 'b open', 'c sent'],
		});
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
	});

	test('have what was sent, who asked, and when', async () => {
		const options = { pricePerSecond: 0.1, idempotencyKey: '=order {{ $itemIndex }}' };
		const parameters = { model: byId('video-m7'), duration: 7 };
		await create(['a', 'b'], options, { parameters });
		expect(service.tables.rows).toHaveLength(2);
		expect(service.tables.rows[1]).toMatchObject({
			task_id: 'task-b',
			status: 'open',
			prompt: 'b',
			duration: 8,
			estimated_cost: 0.8,
			adjustments: expect.stringContaining('"to":8') as string,
			idempotency_key: 'order 1',
			workflow_id: 'test',
			execution_id: '11',
			node: 'Tested',
			item: 1,
			sent_at: DATE,
			finished_at: null,
		});
		// The token of the execution is a secret.
		expect(JSON.stringify(service.tables.rows)).not.toContain('token-1');
	});

	test('On Error: Continue: a certain failure leaves none, nor does an invalid item; an unknown outcome stays', async () => {
		service.answers = { b: reject(401), c: breakOff };
		await create(['a', 'b', 'c', 'd', ' '], {}, { onError: 'continueErrorOutput' });
		expect(rowsOf()).toStrictEqual(['a open', 'c sent', 'd open']);
	});

	test('the node stops: those of items that were not sent are gone', async () => {
		service.answers = { c: reject(401) };
		const { status } = await create(['a', 'b', 'c', 'd', 'e'], { concurrency: 2 });
		expect(status).toBe('error');
		const created = sent().filter((prompt) => prompt !== 'c');
		expect(rowsOf()).toStrictEqual(created.map((prompt) => `${prompt} open`));
	});

	test.each([
		['only what is under way stays sent', {}],
		['keys are given back', KEYED],
	])('the time limit of the workflow ends it: %s', async (_name, options) => {
		const { onStart, cancel } = canceler();
		const noAnswer = () => undefined;
		service.answers = { c: noAnswer, d: noAnswer };
		await withFakeTimers(async (time) => {
			service.onRequest = (prompt) => {
				if (prompt !== 'c') return;
				time.moveSystemClock(2 * DAY_MS);
				cancel();
			};
			const timeLimitMs = Date.now() + DAY_MS;
			const more = { execution: { id: '11', token: 'token-1', timeLimitMs }, onStart };
			const six = ['a', 'b', 'c', 'd', 'e', 'f'];
			await create(six, { ...options, concurrency: 2 }, more);
		});
		await turn();
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c sent', 'd sent']);
	});

	const OF_OTHER = { status: 'sent', idempotency_key: 'b', prompt: 'b' };
	test.each<[string, IDataObject, string, IDataObject[], string[]]>([
		['right before a creation leaves none', {}, 'insert', [], []],
		['right before a creation with a key leaves none', KEYED, 'update', [], []],
		// It withdraws its claim of b.
		['while it waits for a key gives others back', KEYED, 'deleteRows', [OF_OTHER], ['b sent']],
	])('Stop %s, and sends nothing', async (_name, options, at, rows, left) => {
		const sent_at = new Date().toISOString();
		service.tables.insert(TASK_TABLE, ...rows.map((row) => ({ ...row, sent_at })));
		const { tables, reached, goOn } = heldAt(at);
		const { onStart, cancel } = canceler();
		const running = create(['a', 'b'], options, { tables, onStart });
		await reached;
		cancel();
		goOn();
		expect((await running).status).toBe('canceled');
		await turn();
		expect(sent()).toStrictEqual([]);
		expect(rowsOf()).toStrictEqual(left);
	});

	test.each([{ dryRun: true }, { taskLedger: false, ...SERIAL }])('%j: none', async (options) => {
		// Creations take longer than the second after which answers are written.
		clock.skipsPauses = true;
		const { outputs } = await create(['a', 'b'], options);
		expect(outputs[0]).toHaveLength(2);
		expect(service.tables.calls).toBe(0);
	});
});

describe('a retry after a kill', () => {
	const FOUR = ['a', 'b', 'c', 'd'];
	const THREE = ['a', 'b', 'c'];
	/** No connection to this address is possible, on no machine. */
	const NOWHERE = { credential: { baseUrl: 'http://255.255.255.255', apiKey: 'k' } };
	const UNKNOWN_AGAIN = { retryOutcomeUnknown: true, ...SERIAL };

	test('does not send without a claim what another retry may have sent meanwhile', async () => {
		await runKilledAt('p1', ['p1']);
		restore([]);
		const { tables } = service;
		let isLost = false;
		tables.fails = (operation) => {
			if (operation === 'update' && !isLost) {
				// Another retry removes the claim; then there is no space for another one.
				isLost = true;
				tables.edit((row) => row['status'] === 'claimed', { status: 'failed' });
				return undefined;
			}
			if (!isLost || operation !== 'insert') return undefined;
			tables.fails = () => undefined;
			return 'Data table size limit exceeded';
		};
		const { error } = await create(['p1'], {}, RETRY);
		expect(error?.message).toMatch(/^Task Ledger cannot be read, so this retry does not know/);
		expect(sent()).toStrictEqual([]);
	});

	test('reuses what was created, reports what was sent, creates the rest', async () => {
		await runKilledAt('c', FOUR, SERIAL);
		const more = { ...RETRY, onError: 'continueErrorOutput' } as const;
		const { outputs, status } = await create(FOUR, {}, more);
		expect(status).toBe('success');
		expect(sent()).toStrictEqual(['d']);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a', 'task-b', 'task-d']);
		expect(reusedOf(outputs[0])).toStrictEqual([true, true, false]);
		expect(outputs[0]![0]!.json['request']).toMatchObject({ prompt: 'a', model: 'video-m1' });
		const text = JSON.stringify(outputs[1]![0]!.json);
		expect(text).toContain(TABLE);
		expect(text).toContain('Retry If Outcome Is Unknown');
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c sent', 'd open']);
		const executions = service.tables.rows.map((row) => row['execution_id']);
		expect(new Set(executions)).toStrictEqual(new Set(['12']));
	});

	test('takes the task ID that a person has entered, without white space, which alone is none', async () => {
		await runKilledAt('a', ['a']);
		const { rows } = service.tables;
		restore(rows.map((row) => ({ ...row, task_id: ' ' })));
		const { error } = await create(['a'], {}, RETRY);
		expect(error!.message).toMatch(/stopped after it had sent this call/);
		restore(rows.map((row) => ({ ...row, task_id: ' found\n' })));
		const { outputs } = await create(['a'], {}, RETRY);
		expect(idsOf(outputs[0])).toStrictEqual(['found']);
		expect(service.tables.rows).toMatchObject([{ task_id: 'found', execution_id: '12' }]);
		expect(sent()).toStrictEqual([]);
	});

	test('reads a row whose adjustments a person has changed', async () => {
		await runKilledAt('b', ['a', 'b'], SERIAL);
		service.tables.edit(() => true, { adjustments: 'none' });
		const { outputs } = await create(['a'], {}, RETRY);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a']);
	});

	test.each<[string, string[], IDataObject, string[], More?]>([
		['a limit rejects', THREE, { maximumVideos: 1 }, []],
		['a limit leaves out', THREE, { maximumVideos: 2, takeWhatFits: true }, []],
		['another item stops that asks for something else', ['other', 'b'], {}, []],
		['another item stops whose key is rejected', ['a', 'd', 'b'], {}, ['d']],
		['another item stops, with a key', ['a', 'd', 'b'], KEYED, ['d']],
		['the service rejects, with a key', THREE, KEYED, ['b']],
		['finds no service, and leaves no row itself', THREE, {}, [], NOWHERE],
	])('with the option keeps the row of a call that %s', async (...row) => {
		const [, prompts, options, expected, more] = row;
		await runKilledAt('b', THREE, { ...SERIAL, ...options, maximumVideos: 0 });
		service.answers = { b: reject(401), d: reject(401) };
		await create(prompts, { ...UNKNOWN_AGAIN, ...options }, { ...RETRY, ...more });
		expect(rowsOf()).toStrictEqual(['a open', 'b sent']);
		// Without the option a retry gets past it.
		const { error } = await create(THREE, SERIAL, retryAs('13'));
		expect(error!.message).toMatch(
			/^1 of 3 .*stopped after it had sent this call.*2 have gone on/,
		);
		expect(sent()).toStrictEqual([...expected, 'c']);
	});

	test.each([{}, KEYED])('of a killed retry finds what all have created: %j', async (more) => {
		await runKilledAt('b', THREE, { ...SERIAL, ...more });
		const again = { ...UNKNOWN_AGAIN, ...more };
		await service.runKilledAt('b', async () => await create(THREE, again, RETRY));
		await create(THREE, again, retryAs('13'));
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
		const { outputs } = await create(THREE, {}, retryAs('14'));
		expect(reusedOf(outputs[0])).toStrictEqual([true, true, true]);
	});

	test.each(['file_name', 'origin'] as const)(
		'sends nothing where a person has removed the column %s of the table since',
		async (name) => {
			await runKilledAt('b', THREE, SERIAL);
			const { rows } = service.tables;
			const { [name]: _, ...columns } = TASK_TABLE.columns;
			service.tables = dataTables();
			const left = rows.map(({ [name]: _none, ...row }) => row);
			service.tables.insert({ ...TASK_TABLE, columns }, ...left);
			const { error } = await create(THREE, {}, RETRY);
			const problem = `this retry does not know what the earlier try paid for: The data table agent_video_tasks has other columns than this node writes. It needs also ${name} (string): add them`;
			expect(error!.message).toBe(`Task Ledger cannot be read, so ${problem}`);
			expect(sent()).toStrictEqual([]);
		},
	);

	test('beside another retry creates no video twice', async () => {
		await runKilledAt('b', FOUR, SERIAL);
		const onError = 'continueErrorOutput';
		const results = await Promise.all(
			['12', '13'].map(async (id) => await create(FOUR, {}, { ...retryAs(id), onError })),
		);
		expect(new Set(sent()).size).toBe(sent().length);
		for (const { outputs } of results)
			expect(outputs[0]!.length + outputs[1]!.length).toBe(FOUR.length);
		const third = await create(['a', 'c', 'd'], {}, retryAs('14'));
		expect(idsOf(third.outputs[0])).toStrictEqual(['task-a', 'task-c', 'task-d']);
		expect(sent().sort()).toStrictEqual(['c', 'd']);
	});

	test('keeps the model that was sent where the service names none', async () => {
		service.answers = { a: reply({ task_id: 'task-a', status: 'queued' }) };
		await create(['a'], KEYED);
		const { outputs } = await create(['a'], KEYED, another('12'));
		expect(outputs[0]).toMatchObject([{ json: { task_id: 'task-a', model: 'video-m1' } }]);
	});

	test('is none of another execution with the same items: that creates its own', async () => {
		await create(['a']);
		await create(['a'], {}, another('12'));
		await create(['a'], {}, { execution: { id: '13', token: 'other', isRetry: true } });
		expect(sent()).toStrictEqual(['a', 'a', 'a']);
	});

	test('with Retry On Fail repeats neither the earlier nor its own creations, and with the option only what is unknown', async () => {
		await runKilledAt('b', FOUR, SERIAL);
		service.answers = { c: [reject(401)], d: [reject(401)] };
		const more = { ...RETRY, retryOnFail: true };
		const { status, outputs } = await create(FOUR, UNKNOWN_AGAIN, more);
		expect(status).toBe('success');
		expect(sent()).toStrictEqual(['b', 'c', 'c', 'd', 'd']);
		expect(idsOf(outputs[0])).toStrictEqual(FOUR.map((name) => `task-${name}`));
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open', 'd open']);
	});
});

describe('a loop', () => {
	const ROUNDS = [['a', 'b'], ['c', 'b'], ['d']];

	test('after a kill in its last round every round has its own videos again', async () => {
		await service.runKilledAt('d', async () => await loop(ROUNDS, SERIAL));
		restore(service.tables.rows.filter(({ status }) => status !== 'sent'));
		const result = await loop(ROUNDS, SERIAL, RETRY);
		expect(sent()).toStrictEqual(['d']);
		const items = allItems(result, 'Create')[0]!;
		expect(idsOf(items)).toStrictEqual(['task-a', 'task-b', 'task-c', 'task-b 2', 'task-d']);
		expect(reusedOf(items)).toStrictEqual([true, true, true, true, false]);
	});

	test('after a kill the limits hold for the rounds of both tries', async () => {
		await loop(ROUNDS, SERIAL);
		service.server.requests.length = 0;
		const limit = { ...SERIAL, maximumVideos: 5 };
		const ended = await loop([...ROUNDS, ['e']], limit, RETRY);
		expect(ended.error!.message).toMatch(/would create 1.* has created 5 so far/);
		expect(sent()).toStrictEqual([]);
	});
});

test('tool calls of a retry have the video of their text, each once, and others are new', async () => {
	const call = async (prompt: string, more: More = {}) =>
		await create([prompt], {}, { type: 'createVideoTool', ...more });
	for (const prompt of ['a', 'b', 'c']) await call(prompt);
	service.server.requests.length = 0;
	const results: RunResult[] = [];
	for (const prompt of ['c', 'a', 'other']) results.push(await call(prompt, RETRY));
	const ids = results.flatMap(({ outputs }) => idsOf(outputs[0]));
	expect(ids).toStrictEqual(['task-c', 'task-a', 'task-other']);
	expect(sent()).toStrictEqual(['other']);
	const left = [expect.stringMatching(/has paid for 1 more, .*"b"/)];
	expect(results.map(hintsOf)).toStrictEqual([[], [], left]);
});

describe('a ledger that cannot be used', () => {
	const fails = (message: string, operations: readonly string[]) => () => {
		service.tables.fails = (operation) =>
			operations.includes(operation) ? message : undefined;
	};
	const isFull = fails('Data table size limit exceeded', ['insert']);
	const isForeign = () => {
		service.tables.insert({ name: TABLE, columns: { color: 'string' } }, { color: 'red' });
	};
	const CASES: [string, () => void][] = [
		['n8n without data tables', () => (service.tables.disabled = true)],
		['a table of this name with other columns', isForeign],
		['full tables', isFull],
		[
			'a locked table',
			() => {
				clock.skipsPauses = true;
				fails('SQLITE_BUSY: database is locked', ['get', 'insert', 'deleteRows'])();
			},
		],
	];
	const NOT_WRITTEN = expect.stringMatching(
		new RegExp(`^The ledger is not written\\. .*${TABLE}`),
	) as string;

	test('Maximum Videos of an execution names Task Ledger', async () => {
		isForeign();
		const { error } = await create(['a'], { maximumVideos: 5 });
		expect(error!.message).toMatch(/^Task Ledger cannot be kept: .*other columns/);
		expect(sent()).toStrictEqual([]);
		const { status } = await create(['a'], { maximumVideos: 5, taskLedger: false });
		expect(status).toBe('success');
	});

	test.each(CASES)('%s: creates all, and says so once', async (_name, prepare) => {
		prepare();
		const before = service.tables.rows;
		const result = await create(['a', 'b', 'c'], SERIAL);
		expect(idsOf(result.outputs[0])).toStrictEqual(['task-a', 'task-b', 'task-c']);
		expect(hintsOf(result)).toStrictEqual([NOT_WRITTEN]);
		expect(service.tables.rows).toStrictEqual(before);
	});

	test('a second try says so again, as only its hints are seen', async () => {
		isFull();
		service.answers = { b: [reject(401)] };
		const result = await create(['a', 'b'], SERIAL, { retryOnFail: true });
		expect(idsOf(result.outputs[0])).toStrictEqual(['task-a', 'task-b']);
		expect(hintsOf(result)).toStrictEqual([NOT_WRITTEN]);
	});

	test.each<[string, () => void, IDataObject?]>([
		...CASES,
		['Task Ledger is off', () => undefined, { taskLedger: false }],
	])('%s: a key fails before anything is sent', async (name, prepare, options = {}) => {
		prepare();
		const { error } = await create(['a'], { idempotencyKey: 'k', ...options });
		expect(error!.message).toMatch(/^Idempotency Key cannot be kept: /);
		expect(error!.message).toContain('taskLedger' in options ? name : TABLE);
		expect(error!.description).toMatch(/^Nothing was sent/);
		expect(sent()).toStrictEqual([]);
	});

	test.each([undefined, 'continueErrorOutput'] as const)(
		'it becomes full between two creations: those with a key are not sent, and their keys given back (%s)',
		async (onError) => {
			service.onRequest = isFull;
			const options = { idempotencyKey: '={{ $json.prompt }}', ...SERIAL };
			const more = { ...(onError && { onError }) };
			const { error, outputs } = await create(['a', 'b', 'c'], options, more);
			expect(sent()).toStrictEqual(['a']);
			expect(rowsOf()).toStrictEqual(['a sent']);
			const fields = outputs[1]?.[0]?.json;
			expect(error?.message ?? fields!['error']).toContain('Idempotency Key cannot be kept');
			expect(error?.description ?? fields!['message']).toMatch(
				/^This item was not sent, others were\..* retry this execution/,
			);
		},
	);

	test('it is full until the end: a Retry of the saved execution writes what is missing', async () => {
		service.onRequest = fails('Data table size limit exceeded', ['insert', 'update']);
		const full = await create(['a', 'b'], { ...KEYED, ...SERIAL });
		expect(full.status).toBe('error');
		expect(rowsOf()).toStrictEqual(['a sent']);
		service.onRequest = () => undefined;
		service.tables.fails = () => undefined;
		const { outputs, error } = await full.resume(RETRY.execution);
		expect(error).toBeUndefined();
		// The first one has gone on before.
		expect(idsOf(outputs[0])).toStrictEqual(['task-b']);
		expect(sent()).toStrictEqual(['a', 'b']);
		expect(rowsOf()).toStrictEqual(['a open', 'b open']);
	});

	test('after an answer it becomes writable again: nothing is lost', async () => {
		service.onRequest = (prompt) => {
			service.tables.fails = () => (prompt === 'c' ? undefined : 'locked');
		};
		const result = await create(['a', 'b', 'c'], SERIAL);
		expect(hintsOf(result)).toHaveLength(1);
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
	});

	test('a retry that cannot read it sends nothing', async () => {
		await runKilledAt('b', ['a', 'b'], SERIAL);
		fails('away', ['get'])();
		const { error } = await create(['a', 'b'], {}, RETRY);
		expect(error!.message).toMatch(/^Task Ledger cannot be read, /);
		expect(error!.description).toMatch(/^Nothing was sent\. .*Task Ledger/);
		expect(sent()).toStrictEqual([]);
	});

	test.each(CASES.slice(0, 2))(
		'a retry goes on with %s: it has no rows',
		async (_name, prepare) => {
			prepare();
			const result = await create(['a'], {}, RETRY);
			expect(idsOf(result.outputs[0])).toStrictEqual(['task-a']);
			expect(hintsOf(result)).toHaveLength(1);
		},
	);
});

describe('a write that has failed, and is there all the same', () => {
	test.each<[string, IDataObject, Partial<EnvironmentOptions>]>([
		['without keys', {}, {}],
		['with keys', KEYED, {}],
		['in a retry', {}, RETRY],
	])('is not there twice: %s', async (_name, given, execution) => {
		clock.skipsPauses = true;
		const options = { ...given, ...SERIAL };
		for (const operation of ['insert', 'update', 'deleteRows']) {
			const tables = unsureAt(operation, 'Connection terminated unexpectedly');
			const more = { ...another(operation), ...execution, tables };
			const { error } = await create(['a', 'b', 'c'], options, more);
			expect(error).toBeUndefined();
			expect(sent()).toStrictEqual(['a', 'b', 'c']);
			expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
			forget();
			service.tables = dataTables();
		}
	});

	test('of a claim: its call is not sent, and the key is free again', async () => {
		const tables = unsureAt('update', 'Data table size limit exceeded');
		const { error } = await create(['a 1'], KEYED, { tables });
		expect(error!.message).toMatch(/^Idempotency Key cannot be kept: /);
		expect(sent()).toStrictEqual([]);
		expect(rowsOf()).toStrictEqual([]);
	});
});

describe('two executions', () => {
	const RETRIES = [retryAs('12'), retryAs('13')] as const;
	const KEYS = [another('12'), another('13')] as const;

	/** The first execution stands still before its row becomes `sent`; the clock of the other one runs far ahead. */
	async function race(options: IDataObject, [first, second]: typeof RETRIES | typeof KEYS) {
		const { tables, reached, goOn } = heldAt('update');
		const slow = create(['a 1'], options, { ...first, tables });
		await reached;
		clock.skipsPauses = true;
		const onError = 'continueErrorOutput';
		const other = await create(['a 1'], options, { ...second, onError });
		goOn();
		return { slow: await slow, other };
	}
	describe.each([
		['with a key', KEYED, KEYS],
		['retries', {}, RETRIES],
	] as const)('%s', (_name, options, both) => {
		test('the one that stands still after its claim takes the video of the other one', async () => {
			const { slow, other } = await race(options, both);
			expect(reusedOf(other.outputs[0])).toStrictEqual([false]);
			expect(idsOf(slow.outputs[0])).toStrictEqual(['task-a 1']);
			expect(reusedOf(slow.outputs[0])).toStrictEqual([true]);
			expect(sent()).toStrictEqual(['a 1']);
			expect(rowsOf()).toStrictEqual(['a 1 open']);
		});

		test('it claims again where the other one has failed', async () => {
			service.answers = { 'a 1': [reject(401)] };
			const { slow, other } = await race(options, both);
			expect(other.outputs[1]).toHaveLength(1);
			expect(reusedOf(slow.outputs[0])).toStrictEqual([false]);
			expect(sent()).toStrictEqual(['a 1', 'a 1']);
			expect(rowsOf()).toStrictEqual(['a 1 open']);
		});
	});

	test('a retry that has seen the claim of another one sends nothing that this one has sent since', async () => {
		const [first, second] = RETRIES;
		const sending = heldAt('update');
		const slow = create(['a 1'], {}, { ...first, tables: sending.tables });
		await sending.reached;
		const claiming = heldAt('insert');
		const other = create(['a 1'], {}, { ...second, tables: claiming.tables });
		await claiming.reached;
		const { answer, arrived } = heldAnswer('a 1');
		sending.goOn();
		await arrived;
		const { operations } = service.tables;
		const { length } = operations;
		claiming.goOn();
		const isRead = () => operations.slice(length).includes('get');
		for (let turns = 0; turns < 10_000 && !isRead(); turns++) await turn();
		expect(isRead()).toBe(true);
		answer();
		expect(reusedOf((await slow).outputs[0])).toStrictEqual([false]);
		expect(reusedOf((await other).outputs[0])).toStrictEqual([true]);
		expect(sent()).toStrictEqual(['a 1']);
	});

	test.each<[string, IDataObject, typeof RETRIES | typeof KEYS]>([
		['with a key', KEYED, KEYS],
		['retries', {}, RETRIES],
		['retries with a key', KEYED, RETRIES],
		['retries with the option', { retryOutcomeUnknown: true }, RETRIES],
	])('%s: one waits for what the other one has under way', async (_name, options, both) => {
		if (both === RETRIES) await runKilledAt('a', ['a'], options);
		restore([]);
		const { answer, arrived } = heldAnswer('a');
		const first = create(['a'], options, both[0]);
		await arrived;
		const reading = heldAt('deleteRows');
		const second = create(['a'], options, { ...both[1], tables: reading.tables });
		await reading.reached;
		answer();
		await first;
		clock.skipsPauses = true;
		reading.goOn();
		const { outputs } = await second;
		expect(reusedOf(outputs[0])).toStrictEqual([true]);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a']);
		expect(sent()).toStrictEqual(['a']);
		expect(rowsOf()).toStrictEqual(['a open']);
	});
});

test('a task ID with white space gets the result of its video into its row', async () => {
	service.answers = { a: reply({ task_id: ' task-a\n', status: 'queued', model: 'video-m1' }) };
	const { outputs } = await create(['a']);
	const items = outputs[0]!.map(({ json: item }) => item);
	await service.wait(items, { download: false });
	expect(service.tables.rows).toMatchObject([{ task_id: 'task-a', finished_at: DATE }]);
});

test('of old rows those with a result go, beyond the newest 40,000; those with a key, open ones and those of this month stay', async () => {
	const row = (task_id: string, more: IDataObject = {}) => ({
		task_id,
		status: 'done',
		sent_at: '2020-01-01T00:00:00.000Z',
		finished_at: '2020-01-01T00:01:00.000Z',
		...more,
	});
	service.tables.insert(
		TASK_TABLE,
		row('old'),
		row('open', { finished_at: null }),
		row('keyed', { idempotency_key: 'order 1' }),
		row('', { status: 'sent', finished_at: null }),
		row('recent', { sent_at: new Date(Date.now() - 31 * DAY_MS).toISOString() }),
	);
	// The rows between them have been deleted: a row counts by its ID.
	const other = { name: 'other', columns: { color: 'string' } } as const;
	service.tables.insert(other, ...Array.from({ length: 41_000 }, () => ({ color: 'red' })));
	service.tables.drop(other.name);
	service.tables.insert(TASK_TABLE, row('young'));
	await create(['a']);
	const ids = service.tables.rows.map(({ task_id }) => task_id);
	expect(ids).toStrictEqual(['open', 'keyed', '', 'recent', 'young', 'task-a']);
});
