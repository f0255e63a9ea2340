// @seconds 10
import type { IDataObject } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { DATE, parametersOf, POLL, reject, reply, videoService } from '../support/createdVideos';
import { held, type DataTables } from '../support/dataTables';
import { allItems, packageNode, runNode, stubNode, type RunOptions } from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { gate } from '../support/gate';
import { COMPLETED, FAILED } from '../support/waitOutputs';
import { CONNECTED, fieldsOf, ids, idsOf, NOT_FAILED, WAIT, waitIn } from '../support/waitRuns';

const MINUTE_MS = 60_000;
const NOTHING_OPEN =
	'No open tasks of this API key in the workflow that are 15 minutes old or more (see Minimum Age)';
const NO_ROW = 'The results of these tasks have no row in the data table agent_video_tasks:';
const MODERATED = reply({ status: 'failed', error_message: 'moderation' });
const PROCESSING = reply({ status: 'processing' });
const UNKNOWN = reject(404);
const REJECTED = reject(401);
const GONE = reject(410);

const service = videoService();
const { server, urlOf } = service;
const polled = () => service.requested(POLL);
let account: string;
let tables: DataTables;
/** Offset of the clock of this process, in milliseconds. */
let aheadMs: number;

beforeEach(() => {
	({ tables } = service);
	aheadMs = 0;
	const now = Date.now.bind(Date);
	jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
	account = accountOf(readCredential(credential()));
});

const KEY = 'k-secret';
const credential = () => ({ baseUrl: server.url, apiKey: KEY });
const ago = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toISOString();
const asked = (task_id: string, more: IDataObject = {}) => ({
	task_id,
	status: task_id === '' ? 'sent' : 'queued',
	sent_at: ago(20),
	call: `call-${task_id}`,
	workflow_id: 'test',
	account,
	...more,
});
const insert = (...rows: readonly (IDataObject | string)[]) => {
	const cells = rows.map((row) => (typeof row === 'string' ? asked(row) : row));
	tables.insert(TASK_TABLE, ...cells);
};

async function wait(more: Partial<RunOptions> = {}) {
	return await runNode('waitForVideo', { credential: credential(), tables, ...more });
}
/** The same while time jumps, for answers that are asked for again. */
const waitLong = async (more: Partial<RunOptions>) =>
	await withFakeTimers(async () => await wait(more));
const collect = async (parameters: IDataObject = {}, more: Partial<RunOptions> = {}) =>
	await wait({ ...more, parameters: { tasks: 'ledger', ...parameters } });
type WaitIn = Parameters<typeof waitIn>;
const inWorkflow = async (wires: WaitIn[1], more: WaitIn[2]) =>
	await waitIn(server.url, wires, { tables, ...more });

const rowOf = (taskId: string) => tables.rows.find(({ task_id }) => task_id === taskId);

describe('results', () => {
	test('are written once for all tasks, with what a person looks for', async () => {
		service.answers = {
			b: MODERATED,
			c: reply({ error: { message: 'no such task' } }, 400),
			'/cdn/d': GONE,
		};
		insert('a', 'b', 'c', 'd', 'other');
		const before = rowOf('other');
		await waitLong({ items: ids('a', 'b', 'c', 'd') });
		expect(rowOf('a')).toMatchObject({
			status: 'done',
			video_url: urlOf('a'),
			file_name: 'a.mp4',
			error: null,
			finished_at: DATE,
			delivered_at: DATE,
		});
		expect(rowOf('b')).toMatchObject({
			status: 'failed',
			error: 'moderation',
			video_url: null,
			finished_at: DATE,
			delivered_at: null,
		});
		// As of a service that does not know a new task yet, a wrong base URL, or an account without credit: left to be collected.
		expect(rowOf('c')).toMatchObject({
			status: 'open',
			error: expect.stringContaining('no such task') as string,
			finished_at: null,
		});
		expect(rowOf('d')).toMatchObject({
			status: 'open',
			video_url: urlOf('d'),
			error: expect.stringContaining('410') as string,
			finished_at: null,
			delivered_at: null,
		});
		expect(rowOf('other')).toStrictEqual(before);
		// One to find the table, one to find the rows, two to write.
		expect(tables.calls).toBe(4);
	});

	test.each([
		['of one account are in one row', [KEY, KEY], 1],
		['of two accounts that have the same task ID are in a row of each', [KEY, 'k-other'], 2],
	])('of two executions that write them at the same moment: those %s', async (_n, keys, rows) => {
		const credentials = keys.map((apiKey) => ({ baseUrl: server.url, apiKey }));
		const owners = credentials.map((each) => accountOf(readCredential(each)));
		insert(...[...new Set(owners)].map((owner) => asked('a', { account: owner, call: owner })));
		const [first, second, release] = [gate(), gate(), gate()];
		// Its row is taken by the second one before it writes its own, and it removes nothing before that one has ended.
		const one = held(tables, async (steps) => {
			if (steps.includes('insert')) await second.passed;
			if (!steps.includes('deleteRows') || steps.includes('insert')) return;
			first.open();
			await release.passed;
		});
		const other = held(tables, async (steps) => {
			if (!steps.includes('insert')) return;
			second.open();
			await first.passed;
		});
		const waits = [one, other].map((each, index) =>
			wait({ items: ids('a'), tables: each, credential: credentials[index]! }),
		);
		await waits[1];
		release.open();
		await waits[0];
		expect(tables.rows).toMatchObject(Array(rows).fill({ task_id: 'a', status: 'done' }));
	});

	test('of a row that a person has added with a task ID alone are in one row, also the second time', async () => {
		tables.insert(TASK_TABLE, { task_id: 'a' });
		for (let times = 0; times < 2; times++) {
			await wait({ items: ids('a') });
			expect(tables.rows).toMatchObject([{ task_id: 'a', status: 'done' }]);
		}
	});

	test('of a service that sends other types are written, and keep no others from it', async () => {
		service.answers = {
			a: reply({ status: 'completed', video_url: 5 }),
			b: reply({ status: 'failed', error_message: { code: 7 } }),
			d: reply({ status: 'completed', error_message: 'the prompt is too long' }),
		};
		insert('a', 'b', 'c', 'd');
		// It is polled again: its URL might come a little later.
		await waitLong({ items: ids('a', 'b', 'c', 'd') });
		expect(rowOf('a')).toMatchObject({ status: 'open', video_url: '5' });
		expect(rowOf('b')).toMatchObject({ status: 'failed', finished_at: DATE });
		expect(rowOf('c')).toMatchObject({ status: 'done', finished_at: DATE });
		expect(rowOf('d')).toMatchObject({
			status: 'failed',
			error: 'the prompt is too long',
			finished_at: DATE,
		});
	});

	test('of a large batch are written in few steps, and the rest of each row stays', async () => {
		// One more than one write takes.
		const tasks = Array.from({ length: 201 }, (_, index) => `task-${index}`);
		const error = 'timeout of an earlier wait';
		insert('other', ...tasks.map((id) => asked(id, { error, prompt: `Prompt of ${id}` })));
		const parameters = { download: false };
		await wait({ items: ids(...tasks, 'made-elsewhere'), parameters });
		expect(tables.rows).toHaveLength(202);
		for (const id of tasks)
			expect(rowOf(id)).toMatchObject({
				status: 'done',
				prompt: `Prompt of ${id}`,
				call: `call-${id}`,
				finished_at: DATE,
				// None was asked for.
				file_name: null,
				error: null,
			});
		expect(rowOf('other')).toMatchObject({ status: 'queued', finished_at: null });
		expect(tables.operations.length).toBeLessThan(12);
		// Two for 200 rows.
		expect(tables.sizeSums).toBe(4);
	});

	const take = () => {
		tables.edit(({ finished_at }) => finished_at === null, { token: 'other' });
	};
	test.each<[string, 'fails' | 'failsLate', () => void, string | undefined]>([
		['another run takes their row in between', 'fails', take, undefined],
		[
			'another run has just written them in between',
			'fails',
			() => {
				take();
				insert(asked('a', { status: 'done', finished_at: ago(0) }));
			},
			undefined,
		],
		[
			...(['an error hides that the old one was removed', 'failsLate'] as const),
			() => undefined,
			'SQLITE_BUSY: database is locked',
		],
	])('are in one row where %s', async (_name, hook, happens, error) => {
		insert('a', 'b');
		tables[hook] = (operation) => {
			if (operation !== 'deleteRows') return undefined;
			tables[hook] = () => undefined;
			happens();
			return error;
		};
		await waitLong({ items: ids('a', 'b') });
		expect(tables.rows).toHaveLength(2);
		for (const id of ['a', 'b'])
			expect(rowOf(id)).toMatchObject({ status: 'done', finished_at: DATE });
	});

	test('are in one row where a kill has left the old one beside it', async () => {
		const old = { prompt: 'Old', call: 'x' };
		const written = { ...old, prompt: 'New', status: 'done', finished_at: ago(1) };
		insert(asked('a', old), 'b', asked('a', written));
		expect(idsOf((await collect()).outputs[COMPLETED])).toStrictEqual(['a', 'b']);
		expect(tables.rows).toMatchObject([
			{ task_id: 'b', status: 'done' },
			{ task_id: 'a', status: 'done', prompt: 'New' },
		]);
	});

	test.each<[string, IDataObject]>([
		['whose task ID a person has cleared', { task_id: '' }],
		['of another API key', { account: 'other' }],
	])('are named where there is only a row %s', async (_name, change) => {
		insert({ ...asked('a'), ...change }, 'b');
		const [before] = tables.rows;
		const { hints } = await wait({ items: ids('a', 'b') });
		expect(hints).toContain(`${NO_ROW} a`);
		expect(tables.rows).toMatchObject([before, { status: 'done' }]);
	});

	test.each([
		['removes the table while the task is polled', POLL, 'a, b', undefined],
		['removes the table while its file is downloaded', '/cdn/a', 'a, b', undefined],
		['clears its task ID while the task is polled', POLL, 'a', ''],
		['changes its task ID while its file is downloaded', '/cdn/a', 'a', 'z'],
	])('are named where a person %s', async (_name, path, lost, task_id) => {
		insert('a', 'b');
		const [before] = tables.rows;
		service.onRequest = (_name, requested) => {
			if (requested !== path) return;
			service.onRequest = () => undefined;
			if (task_id !== undefined) tables.edit((row) => row['task_id'] === 'a', { task_id });
			else {
				tables.drop(TASK_TABLE.name);
				insert('c');
			}
		};
		const { outputs, hints } = await wait({ items: ids('a', 'b') });
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a', 'b']);
		expect(hints).toContain(`${NO_ROW} ${lost}`);
		// The row stays.
		if (task_id !== undefined)
			expect(tables.rows).toMatchObject([{ ...before, task_id }, { status: 'done' }]);
	});

	describe('of a video that was delivered before', () => {
		const again = { items: ids('a'), parameters: { options: { onFailed: 'output' } } };
		const done = () => ({
			status: 'done',
			finished_at: ago(5),
			delivered_at: ago(5),
			video_url: urlOf('a'),
		});

		test.each([400, 403, 404])(
			'help where the service does not know it: %i',
			async (status_code) => {
				insert(asked('a', done()));
				const delivered = rowOf('a');
				service.answers = { a: reject(status_code) };
				const { outputs, hints } = await waitLong(again);
				expect(outputs[FAILED]).toStrictEqual([]);
				expect(outputs[COMPLETED]).toMatchObject([
					{
						json: { task_id: 'a', status: 'completed', video_url: urlOf('a') },
						binary: { data: { mimeType: 'video/mp4' } },
					},
				]);
				expect(hints).toContainEqual(
					expect.stringMatching(
						/^1 video delivered before, which the service does not know/,
					),
				);
				expect(rowOf('a')).toStrictEqual(delivered);
			},
		);

		test.each([
			['has failed', MODERATED],
			['has no video', reply({ status: 'completed', error_message: 'too long' })],
		])('do not overrule the service, where the task %s', async (_name, report) => {
			insert(asked('a', done()));
			const before = rowOf('a');
			service.answers = { a: report };
			const { outputs } = await wait(again);
			expect(outputs[COMPLETED]).toStrictEqual([]);
			expect(fieldsOf(outputs[FAILED])).toMatchObject([{ task_id: 'a', reason: 'failed' }]);
			expect(rowOf('a')).toStrictEqual(before);
		});

		test.each<[string, IDataObject, ...IDataObject[]]>([
			['from a row that is not finished', { status: 'open', finished_at: null }],
			['from a row that has failed', { status: 'failed' }],
			['from a row of another API key', { account: 'other' }],
			['from a row without a URL', { video_url: null }],
			['where another row of this account has the task ID', {}, { call: 'new' }],
			['where a row of another account has it', {}, { call: 'new', account: 'other' }],
		])('do not help %s', async (_name, cells, ...beside) => {
			const others = beside.map((each) => asked('a', each));
			insert(asked('a', { ...done(), ...cells }), ...others);
			service.answers = { a: UNKNOWN };
			const { outputs } = await waitLong(again);
			expect(fieldsOf(outputs[FAILED])).toMatchObject([{ task_id: 'a', reason: 'refused' }]);
		});

		test('stay where only this download fails, and help later', async () => {
			insert(asked('a', done()));
			service.answers = { '/cdn/a': GONE };
			await waitLong(again);
			expect(rowOf('a')).toMatchObject({ status: 'done', finished_at: DATE });
			service.answers = { a: UNKNOWN };
			const parameters = { ...again.parameters, download: false };
			const { outputs } = await waitLong({ ...again, parameters });
			expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a']);
		});

		test('stay, and those of a newer task with the same ID are in its own row', async () => {
			insert(asked('a', done()), asked('a', { call: 'new' }));
			const [before] = tables.rows;
			service.answers = { a: MODERATED };
			const { outputs } = await wait(again);
			expect(fieldsOf(outputs[FAILED])).toMatchObject([{ task_id: 'a', reason: 'failed' }]);
			expect(tables.rows).toStrictEqual([
				{ ...before, token: expect.any(String) as string },
				expect.objectContaining({ status: 'failed', finished_at: DATE }),
			]);
		});

		test('keep the time of the first delivery', async () => {
			insert(asked('a', done()));
			const { delivered_at, finished_at } = rowOf('a')!;
			await wait(again);
			expect(rowOf('a')).toMatchObject({ delivered_at });
			expect(rowOf('a')!['finished_at']).not.toBe(finished_at);
		});
	});

	test.each<[string, (operation: string) => string | undefined]>([
		['is locked', (each) => (each === 'update' ? 'database is locked' : undefined)],
		['cannot be created', (each) => (each === 'create' ? 'the module is disabled' : undefined)],
	])('are delivered when the table %s, and that is said once', async (name, fails) => {
		if (name === 'is locked') insert('a');
		tables.fails = fails;
		const { outputs, hints } = await waitLong({ items: ids('a') });
		expect(outputs[COMPLETED]).toMatchObject([
			{ json: { task_id: 'a' }, binary: { data: {} } },
		]);
		expect(hints.filter((each) => each.includes('ledger'))).toStrictEqual([
			expect.stringMatching(/^The results are not in the task ledger\. .*agent_video_tasks/),
		]);
	});

	const OWN = { tasks: 'ledger' };
	// What creates none has no table that it could miss.
	test.each<[string, IDataObject, string, RegExp]>([
		[WAIT, {}, 'done', /^1 finished/],
		[WAIT, { ...OWN, ledgerTasks: 'project' }, 'done', /^1 finished/],
		[WAIT, OWN, 'queued', /^No open tasks/],
		['Create', {}, 'done', /^1 finished/],
		['Create', OWN, 'queued', /^Tasks cannot .* is not in its project: .* deleted or renamed/],
	])(
		'are written into a new table after the old one was deleted, and not looked for there: %s %j',
		async (start, parameters, status, said) => {
			const prompted = { parameters: parametersOf({}, { prompt: 'A kite' }) };
			const create = packageNode('Create', 'createVideo', prompted);
			const done = stubNode('Done', ([item]) => {
				if (item!.json['task_id'] === 'b') return [];
				tables.drop(TASK_TABLE.name);
				insert(asked('b', { workflow_id: 'other' }));
				return [{ json: { task_id: 'b' } }];
			});
			insert('a');
			const wires = { Create: [[WAIT]], [WAIT]: [['Done']], Done: [[WAIT]] };
			const more = { items: ids('a'), nodes: [create, done], start, parameters };
			const { error, hints } = await inWorkflow(wires, more);
			expect(rowOf('b')).toMatchObject({ status });
			expect(error?.message ?? hints.at(-1)).toMatch(said);
			expect(hints.join()).not.toContain('ledger');
		},
	);

	test('are not written when Task Ledger is off', async () => {
		await wait({ items: ids('a'), parameters: { options: { taskLedger: false } } });
		expect(tables.calls).toBe(0);
	});

	test('are written of finished tasks alone, in Ask Once', async () => {
		service.answers = { b: PROCESSING };
		insert('a', 'b');
		await wait({ items: ids('a', 'b'), parameters: { waitMode: 'once', download: false } });
		expect(rowOf('a')).toMatchObject({ status: 'done', finished_at: DATE });
		expect(rowOf('b')).toMatchObject({ status: 'queued', finished_at: null, error: null });
	});

	test('are written by a tool, too', async () => {
		insert('a');
		const parameters = { taskId: 'a' };
		await runNode('waitForVideoTool', { credential: credential(), tables, parameters });
		expect(rowOf('a')).toMatchObject({ status: 'done', finished_at: DATE });
	});
});

describe('tasks from the ledger', () => {
	test('come out with their files and with what the ledger knows; then they are finished', async () => {
		const known = {
			prompt: 'A kite',
			model: 'video-m1',
			idempotency_key: 'order-1',
			execution_id: '7',
			item: 2,
			estimated_cost: 0.5,
		};
		service.answers = { f: MODERATED };
		insert(
			asked('a', known),
			asked('f', { prompt: 'A fox' }),
			asked('b', { finished_at: ago(1) }),
			asked('young', { sent_at: ago(10) }),
		);
		// The items of a schedule have no task_id, and their number does not matter.
		const { outputs } = await collect({}, { items: [{ timestamp: 1 }, { timestamp: 2 }] });
		const ledger = { ...known, workflow_id: 'test', sent_at: DATE, delivered_at: null };
		expect(outputs[COMPLETED]).toStrictEqual([
			{
				json: expect.objectContaining({
					task_id: 'a',
					status: 'completed',
					ledger,
				}) as IDataObject,
				binary: { data: expect.objectContaining({ fileName: 'a.mp4' }) as object },
				pairedItem: { item: 0 },
			},
		]);
		expect(fieldsOf(outputs[FAILED])).toMatchObject([
			{ task_id: 'f', reason: 'failed', ledger: { prompt: 'A fox' } },
		]);
		expect(rowOf('a')).toMatchObject({ finished_at: DATE, collected_at: DATE });

		const again = await collect();
		expect(again.status).toBe('success');
		expect(again.outputs.flat()).toStrictEqual([]);
		expect(again.hints).toStrictEqual([NOTHING_OPEN]);
		expect(polled()).toStrictEqual(['a', 'f']);
	});

	test.each<[string, IDataObject, string[]]>([
		['of this workflow', {}, ['b', 'c']],
		['of another workflow', { workflowId: 'other' }, ['a']],
		['of the project', { ledgerTasks: 'project' }, ['a', 'b', 'c', 'd']],
		['younger ones, too', { options: { minimumAge: 5 } }, ['b', 'c', 'young']],
		['the oldest ones', { options: { maximumTasks: 1 } }, ['b']],
		['without an account', { workflowId: 'third' }, ['d']],
	])('%s', async (_name, parameters, expected) => {
		insert(
			asked('a', { workflow_id: 'other' }),
			...['b', 'c'],
			asked('young', { sent_at: ago(10) }),
			asked('d', { workflow_id: 'third', account: '' }),
			asked('e', { account: account.replace(/ .*/, ' other') }),
		);
		const { outputs } = await collect({ download: false, ...parameters });
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(expected);
	});

	test('of a ledger with very many rows no more are read than are wanted, however many others have', async () => {
		const many = (count: number, more: IDataObject) =>
			Array.from({ length: count }, (_, index) =>
				asked(`${String(more['call'])}-${index}`, more),
			);
		insert(...many(1_500, { call: 'taken', collected_at: ago(1) }));
		insert(...many(3_000, { call: 'new' }));
		const options = { maximumTasks: 2 };
		const result = await collect({ download: false, options });
		expect(idsOf(result.outputs[COMPLETED])).toStrictEqual(['new-0', 'new-1']);
		// As many as are wanted, two pages, the results twice, and for each use at most one of a table that an earlier test had.
		expect(tables.operations.filter((each) => each === 'get').length).toBeLessThan(8);
	});

	test('are taken and written by three writes that n8n checks, however many they are', async () => {
		const tasks = Array.from({ length: 12 }, (_, index) => `t-${index}`);
		insert(...tasks);
		expect(idsOf((await collect({ download: false })).outputs[COMPLETED])).toStrictEqual(tasks);
		expect(tables.rows.map(({ task_id }) => task_id)).toStrictEqual(tasks);
		expect(tables.sizeSums).toBe(3);
	});

	test('of three runs at the same moment one gets the task', async () => {
		insert('a', 'b');
		const runs = await Promise.all([1, 2, 3].map(() => collect({ download: false })));
		const taken = runs.flatMap(({ outputs }) => idsOf(outputs[COMPLETED]));
		expect(taken.sort()).toStrictEqual(['a', 'b']);
		expect(polled().sort()).toStrictEqual(['a', 'b']);
	});

	test('a task that a run took is left to it for 25 minutes, and then comes after the others', async () => {
		insert(asked('a', { collected_at: ago(26) }), asked('b', { collected_at: ago(24) }), 'c');
		const parameters = { download: false, options: { maximumTasks: 1 } };
		expect(idsOf((await collect(parameters)).outputs[COMPLETED])).toStrictEqual(['c']);
		expect(idsOf((await collect(parameters)).outputs[COMPLETED])).toStrictEqual(['a']);
		const third = await collect(parameters);
		expect(third.hints).toStrictEqual([
			`${NOTHING_OPEN}; 1 belong to a run of the last 25 minutes`,
		]);
	});

	test('a later run of the node in the same execution takes others', async () => {
		insert('a', 'b');
		let runs = 0;
		const done = stubNode('Done', (items) => ((runs += 1) < 2 ? items : []));
		const result = await inWorkflow(
			{ [WAIT]: [['Done']], Done: [[WAIT]] },
			{ nodes: [done], parameters: { tasks: 'ledger', options: { maximumTasks: 1 } } },
		);
		expect(idsOf(allItems(result, WAIT)[COMPLETED])).toStrictEqual(['a', 'b']);
	});

	test('a task ID that a person has entered with white space is collected and finished without it', async () => {
		insert(asked(' a\n', { status: 'sent' }), asked(' ', { status: 'sent' }));
		const { outputs, hints } = await collect();
		expect(polled()).toStrictEqual(['a']);
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a']);
		expect(rowOf('a')).toMatchObject({ status: 'done', finished_at: DATE });
		expect(hints[0]).toMatch(/^Creations without an answer: row \d+ /);
	});

	test('requests without an answer are named, unless the answer is in another row', async () => {
		insert(
			asked('', { call: 'x', execution_id: '7', item: 1 }),
			asked('', { call: 'y', execution_id: '8' }),
			asked('b', { call: 'y', finished_at: ago(1) }),
			asked('', { call: 'z', sent_at: ago(3) }),
			asked('', { call: 'c', status: 'claimed' }),
			// A person has added it, as its video has another row without a call.
			asked('', { call: null, execution_id: '9' }),
			asked('d', { call: null, finished_at: ago(1) }),
		);
		const [hint] = (await collect()).hints;
		expect(hint).toMatch(
			/^Creations without an answer: row \d+ \(execution 7, item 1, \d{4}-[^()]*\), row \d+ \(execution 9, [^()]*\)\. .* enter the task_id of each video that exists, and delete the other rows$/,
		);
		expect(polled()).toStrictEqual([]);
	});

	const FIRST = { id: '1', token: 't' };
	const RETRY = { id: '2', token: 't', isRetry: true };

	test("n8n's Retry takes what the failed try had taken", async () => {
		service.answers = { a: REJECTED };
		insert('a');
		const first = await collect({ download: false }, { execution: FIRST });
		expect(first.status).toBe('error');
		service.answers = {};
		const last = await first.resume(RETRY);
		expect(idsOf(last.outputs[COMPLETED])).toStrictEqual(['a']);
	});

	/** A run that fails after b has gone on. */
	async function runFailing(parameters: IDataObject) {
		const more = { parameters: { tasks: 'ledger', ...parameters }, execution: FIRST };
		const first = await withFakeTimers(async () => await inWorkflow(NOT_FAILED, more));
		expect(first.status).toBe('error');
		expect(idsOf(allItems(first, 'Done')[0])).toStrictEqual(['b']);
		return first;
	}

	test("n8n's Retry takes what the failed try has left, after the others have gone on", async () => {
		service.answers = { a: PROCESSING };
		insert('a', 'b');
		const first = await runFailing({ options: { maximumWait: 1 } });
		service.answers = {};
		const last = await first.resume(RETRY);
		expect(idsOf(allItems(last, 'Done')[0])).toStrictEqual(['b', 'a']);
	});

	test("n8n's Retry takes the same tasks first, however many newer ones wait", async () => {
		insert('a', 'b');
		service.answers = { '/cdn/a': GONE };
		const newer = Array.from({ length: 60 }, (_, index) => `new-${index}`);
		// Before the row of the failed download is written again, behind these.
		service.onRequest = (_name, path) => {
			if (path === '/cdn/a' && rowOf('new-0') === undefined) insert(...newer);
		};
		const first = await runFailing({ download: true, options: { maximumTasks: 2 } });
		service.answers = {};
		const last = await first.resume(RETRY);
		expect(idsOf(allItems(last, 'Done')[0])).toStrictEqual(['b', 'a', 'new-0']);
	});

	test('a failed video fails the node as well, after the completed ones have gone on', async () => {
		service.answers = { a: MODERATED };
		insert('a', 'b');
		const { error } = await runFailing({});
		expect(error!.message).toMatch(
			/^1 of 2 videos failed: a .*Retry does not change what failed at the service, and costs nothing$/,
		);
		expect(rowOf('a')).toMatchObject({ status: 'failed', finished_at: DATE });
		expect(rowOf('b')).toMatchObject({ status: 'done', finished_at: DATE });
	});

	test('Retry On Fail loses no video for which n8n runs the node again', async () => {
		service.answers = { a: MODERATED };
		insert('a', 'b');
		const { outputs } = await inWorkflow(NOT_FAILED, {
			parameters: { tasks: 'ledger' },
			onError: 'continueRegularOutput',
			retryOnFail: true,
		});
		expect(idsOf(outputs[COMPLETED])).toContain('b');
		expect(rowOf('b')).toMatchObject({ status: 'done' });
	});

	test('Retry On Fail goes on with the same tasks', async () => {
		service.answers = { a: REJECTED };
		insert('a');
		await collect({ download: false }, { retryOnFail: true });
		// Without them the second try would find the task taken, and end well without it.
		expect(polled().length).toBeGreaterThan(1);
	});

	test.each<[string, Parameters<typeof collect>, string, RegExp]>([
		['workflow', [{ workflowId: '={{ null }}' }], 'Workflow ID is empty', /Enter a text/],
		[
			'option',
			[{ options: { maxTasks: 5 } }],
			'options.maxTasks is no parameter of this node',
			/Write options.maximumTasks instead/,
		],
		[
			'credential',
			[{}, { credential: { baseUrl: '', apiKey: KEY } }],
			'Base URL is empty',
			/Enter/,
		],
	])('a wrong %s is an error of its own', async (_name, [form, more], message, remedy) => {
		for (const onError of [undefined, 'continueRegularOutput'] as const) {
			const { error, outputs } = await collect(form, {
				...more,
				...(onError && { onError }),
			});
			const { json: failed = {} } = outputs[FAILED]?.[0] ?? {};
			expect(error?.message ?? failed['error']).toBe(message);
			expect(error?.description ?? failed['message']).toMatch(remedy);
		}
		expect(polled()).toStrictEqual([]);
	});

	test('no table fails the node before it polls, or is an error of its output', async () => {
		tables.disabled = true;
		const { error } = await collect();
		expect(error!.message).toMatch(/^Tasks cannot be read from the task ledger: .*n8n 2/);
		expect(error!.description).toMatch(/set Tasks to From Input/);
		const { outputs } = await collect({}, { onError: 'continueRegularOutput' });
		expect(outputs[FAILED]![0]!.json['error']).toMatch(/^Tasks cannot be read/);
		expect(polled()).toStrictEqual([]);
	});
});

describe('suspended', () => {
	const parameters = { tasks: 'ledger', waitMode: 'suspend' };

	test('the tasks of the first step are kept until all are delivered', async () => {
		service.answers = { a: PROCESSING };
		insert(asked('a', { prompt: 'A kite' }), 'b');
		const first = await inWorkflow(CONNECTED, { parameters });
		expect(first.status).toBe('waiting');
		// It is open as well, but this run has its tasks.
		insert('late');
		service.answers = {};
		aheadMs += first.run.waitTill!.getTime() - Date.now();
		const last = await first.resume();
		expect(last.status).toBe('success');
		const [done] = allItems(last, WAIT);
		expect(idsOf(done)).toStrictEqual(['a', 'b']);
		expect(done![0]!.json['ledger']).toMatchObject({ prompt: 'A kite' });
		expect(rowOf('a')).toMatchObject({ finished_at: DATE });
		expect(polled()).not.toContain('late');
	});

	test('Maximum Wait counts from the collection, and a task of a timeout stays open', async () => {
		service.answers = { a: PROCESSING };
		insert(asked('a', { sent_at: ago(600) }));
		const first = await inWorkflow(CONNECTED, { parameters });
		expect(first.status).toBe('waiting');
		aheadMs += 11 * MINUTE_MS;
		const last = await first.resume();
		expect(fieldsOf(allItems(last, WAIT)[FAILED])).toMatchObject([{ reason: 'timeout' }]);
		expect(rowOf('a')).toMatchObject({
			status: 'open',
			finished_at: null,
			error: expect.stringContaining('may still complete') as string,
		});
	});
});
