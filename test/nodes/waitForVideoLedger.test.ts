// @seconds 10
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { dataTables, type DataTables } from '../support/dataTables';
import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { sampleFile } from '../support/sampleFiles';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED, FAILED } from '../support/waitOutputs';

const MINUTE_MS = 60_000;
const NOTHING_OPEN =
	'No open tasks of the workflow that are 15 minutes old or more (see Minimum Age)';
const DATE = expect.stringMatching(/^\d{4}-.*Z$/) as string;

let account: string;
let tables: DataTables;
/** What the service reports of a task; every other task is completed. */
let reports: Record<string, object>;
/** What happens at a request. */
let onRequest: (path: string) => void;
/** Offset of the clock of this process, in milliseconds. */
let aheadMs: number;

const server = serverForEach((response, { path, body }) => {
	onRequest(path);
	if (path.startsWith('/cdn/')) {
		const isGone = path.includes('gone');
		response.writeHead(isGone ? 410 : 200, { 'content-type': 'video/mp4' });
		response.end(sampleFile('video/mp4'));
		return;
	}
	const { task_id } = body as { task_id: string };
	const { status_code = 200, ...report } = (reports[task_id] ?? {
		status: 'completed',
		video_url: urlOf(task_id),
	}) as { status_code?: number };
	json(response, status_code, status_code === 200 ? { task_id, ...report } : report);
});

beforeEach(() => {
	tables = dataTables();
	reports = {};
	onRequest = () => undefined;
	aheadMs = 0;
	const now = Date.now.bind(Date);
	jest.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
	account = accountOf(readCredential(credential()));
});
afterEach(() => {
	jest.restoreAllMocks();
});

const urlOf = (taskId: string) => `${server.url}/cdn/${taskId}.mp4`;
const credential = () => ({ baseUrl: server.url, apiKey: 'k-secret' });
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

async function wait(more: Partial<RunOptions> = {}) {
	return await runNode('waitForVideo', { credential: credential(), tables, ...more });
}
async function collect(parameters: IDataObject = {}, more: Partial<RunOptions> = {}) {
	return await wait({ ...more, parameters: { tasks: 'ledger', ...parameters } });
}

const rowOf = (taskId: string) => tables.rows.find(({ task_id }) => task_id === taskId);
const polled = () =>
	server.requests
		.filter(({ path }) => path === '/v1/videos/tasks')
		.map(({ body }) => (body as { task_id: string }).task_id);
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
const hintsOf = ({ run }: RunResult) =>
	Object.values(run.data.resultData.runData)
		.flat()
		.flatMap(({ hints = [] }) => hints.map(({ message }) => message));

describe('results', () => {
	test('are written once for all tasks, with what a person looks for', async () => {
		reports = {
			b: { status: 'failed', error_message: 'moderation' },
			c: { status_code: 400, error: { message: 'no such task' } },
			'gone-d': { status: 'completed', video_url: urlOf('gone-d') },
		};
		tables.insert(TASK_TABLE, ...['a', 'b', 'c', 'gone-d', 'other'].map((id) => asked(id)));
		const before = rowOf('other');
		const items = ['a', 'b', 'c', 'gone-d'].map((task_id) => ({ task_id }));
		await withFakeTimers(async () => await wait({ items }));
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
		// Left to be collected.
		expect(rowOf('c')).toMatchObject({
			status: 'open',
			error: expect.stringContaining('no such task') as string,
			finished_at: null,
		});
		expect(rowOf('gone-d')).toMatchObject({
			status: 'open',
			video_url: urlOf('gone-d'),
			error: expect.stringContaining('410') as string,
			finished_at: null,
			delivered_at: null,
		});
		expect(rowOf('other')).toStrictEqual(before);
		// One to find the table, one to find the rows, two to write.
		expect(tables.calls).toBe(4);
	});

	test('of several executions that wait for the same tasks are in one row each', async () => {
		const ids = Array.from({ length: 30 }, (_, index) => `t-${index}`);
		tables.insert(TASK_TABLE, ...ids.map((id) => asked(id, { estimated_cost: 1 })));
		const items = ids.map((task_id) => ({ task_id }));
		const parameters = { download: false };
		await Promise.all([1, 2, 3].map(async () => await wait({ items, parameters })));
		expect(tables.rows.map(({ task_id }) => task_id)).toStrictEqual(ids);
		expect(tables.rows.every((row) => row['finished_at'] !== null)).toBe(true);
	});

	test('of two executions that write them at the same moment are in one row', async () => {
		tables.insert(TASK_TABLE, asked('a'));
		const gate = () => {
			let open: () => void = () => undefined;
			const passed = new Promise<void>((resolve) => (open = resolve));
			return { passed, open };
		};
		const [first, second, release] = [gate(), gate(), gate()];
		const held = (hold: (steps: readonly unknown[]) => Promise<unknown>): DataTables => {
			const executeWorkflow: DataTables['executeWorkflow'] = async (info, ...more) => {
				await hold(info.code!.nodes.map(({ parameters }) => parameters['operation']));
				return await tables.executeWorkflow(info, ...more);
			};
			return { ...tables, executeWorkflow };
		};
		const items = [{ task_id: 'a' }];
		// Its row is taken by the second one before it writes its own, and it removes nothing before that one has ended.
		const one = held(async (steps) => {
			if (steps.includes('insert')) await second.passed;
			if (!steps.includes('deleteRows') || steps.includes('insert')) return;
			first.open();
			await release.passed;
		});
		const other = held(async (steps) => {
			if (!steps.includes('insert')) return;
			second.open();
			await first.passed;
		});
		const waits = [wait({ items, tables: one }), wait({ items, tables: other })];
		await waits[1];
		release.open();
		await waits[0];
		expect(tables.rows).toMatchObject([{ task_id: 'a', status: 'done' }]);
	});

	test('of a service that sends other types are written, and keep no others from it', async () => {
		reports = {
			a: { status: 'completed', video_url: 5 },
			b: { status: 'failed', error_message: { code: 7 } },
			d: { status: 'completed', error_message: 'the prompt is too long' },
		};
		tables.insert(TASK_TABLE, ...['a', 'b', 'c', 'd'].map((id) => asked(id)));
		const items = ['a', 'b', 'c', 'd'].map((task_id) => ({ task_id }));
		// It is polled again: its URL might come a little later.
		await withFakeTimers(async () => await wait({ items }));
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
		const ids = Array.from({ length: 250 }, (_, index) => `task-${index}`);
		tables.insert(
			TASK_TABLE,
			asked('other'),
			...ids.map((id) => asked(id, { prompt: `Prompt of ${id}` })),
		);
		const items = [...ids, 'made-elsewhere'].map((task_id) => ({ task_id }));
		await wait({ items, parameters: { download: false } });
		expect(tables.rows).toHaveLength(251);
		for (const id of ids) {
			expect(rowOf(id)).toMatchObject({
				status: 'done',
				prompt: `Prompt of ${id}`,
				call: `call-${id}`,
				finished_at: DATE,
			});
		}
		expect(rowOf('other')).toMatchObject({ status: 'queued', finished_at: null });
		expect(tables.operations.length).toBeLessThan(12);
		// Two for 200 rows.
		expect(tables.sizeSums).toBe(4);
	});

	test.each<[string, () => void]>([
		[
			'another run takes their row',
			() => {
				tables.edit(({ finished_at }) => finished_at === null, { token: 'other' });
			},
		],
		[
			'another run has just written them',
			() => {
				tables.edit(({ finished_at }) => finished_at === null, { token: 'other' });
				tables.insert(TASK_TABLE, asked('a', { status: 'done', finished_at: ago(0) }));
			},
		],
	])('are in one row where %s in between', async (_name, happens) => {
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		tables.fails = (operation) => {
			if (operation !== 'deleteRows') return undefined;
			tables.fails = () => undefined;
			happens();
			return undefined;
		};
		await wait({ items: [{ task_id: 'a' }, { task_id: 'b' }] });
		expect(tables.rows).toHaveLength(2);
		for (const id of ['a', 'b']) expect(rowOf(id)).toMatchObject({ status: 'done' });
	});

	test('are in one row where an error hides that the old one was removed', async () => {
		tables.insert(TASK_TABLE, asked('a'));
		tables.failsLate = (operation) => {
			if (operation !== 'deleteRows') return undefined;
			tables.failsLate = () => undefined;
			return 'SQLITE_BUSY: database is locked';
		};
		await withFakeTimers(async () => await wait({ items: [{ task_id: 'a' }] }));
		expect(tables.rows).toMatchObject([{ task_id: 'a', status: 'done', finished_at: DATE }]);
	});

	test('are in one row where a kill has left the old one beside it', async () => {
		const old = { prompt: 'Old', call: 'x' };
		tables.insert(
			TASK_TABLE,
			asked('a', old),
			asked('b'),
			asked('a', { ...old, prompt: 'New', status: 'done', finished_at: ago(1) }),
		);
		expect(idsOf((await collect()).outputs[COMPLETED])).toStrictEqual(['a', 'b']);
		expect(tables.rows).toMatchObject([
			{ task_id: 'b', status: 'done' },
			{ task_id: 'a', status: 'done', prompt: 'New' },
		]);
	});

	test('a completed task is finished without a file when none was asked for', async () => {
		tables.insert(TASK_TABLE, asked('a', { error: 'timeout of an earlier wait' }));
		await wait({ items: [{ task_id: 'a' }], parameters: { download: false } });
		expect(rowOf('a')).toMatchObject({ finished_at: DATE, file_name: null, error: null });
	});

	test.each([
		[400, 'a service that does not know a new task yet'],
		[404, 'a wrong base URL'],
		[406, 'an account without credit'],
	])('status %i, as from %s, leaves the task open, to be collected', async (status_code) => {
		reports = { a: { status_code, error: { message: 'no' } } };
		tables.insert(TASK_TABLE, asked('a'));
		const items = [{ task_id: 'a' }];
		await withFakeTimers(async () => await wait({ items }));
		expect(rowOf('a')).toMatchObject({ status: 'open', finished_at: null });
		reports = {};
		expect(idsOf((await collect()).outputs[COMPLETED])).toStrictEqual(['a']);
	});

	test.each<[string, IDataObject]>([
		['whose task ID a person has cleared', { task_id: '' }],
		['of another API key', { account: 'other' }],
	])('are named where there is only a row %s', async (_name, change) => {
		tables.insert(TASK_TABLE, { ...asked('a'), ...change }, asked('b'));
		const before = tables.rows[0];
		const result = await wait({ items: [{ task_id: 'a' }, { task_id: 'b' }] });
		expect(hintsOf(result)).toContain(
			'The results of these tasks have no row in the data table agent_video_tasks: a',
		);
		expect(tables.rows).toMatchObject([before, { status: 'done' }]);
	});

	test.each([
		['the task is polled', '/v1/videos/tasks'],
		['its file is downloaded', '/cdn/a.mp4'],
	])('are named where a person removes the table while %s', async (_name, path) => {
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		onRequest = (requested) => {
			if (requested !== path) return;
			onRequest = () => undefined;
			tables.drop(TASK_TABLE.name);
			tables.insert(TASK_TABLE, asked('c'));
		};
		const result = await wait({ items: [{ task_id: 'a' }, { task_id: 'b' }] });
		expect(idsOf(result.outputs[COMPLETED])).toStrictEqual(['a', 'b']);
		expect(hintsOf(result)).toContain(
			'The results of these tasks have no row in the data table agent_video_tasks: a, b',
		);
	});

	test.each([
		['clears its task ID while the task is polled', '/v1/videos/tasks', ''],
		['clears its task ID while its file is downloaded', '/cdn/a.mp4', ''],
		['changes its task ID while the task is polled', '/v1/videos/tasks', 'z'],
		['changes its task ID while its file is downloaded', '/cdn/a.mp4', 'z'],
	])('are named where a person %s, and its row stays', async (_name, path, task_id) => {
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		const [before] = tables.rows;
		onRequest = (requested) => {
			if (requested !== path) return;
			onRequest = () => undefined;
			tables.edit((row) => row['task_id'] === 'a', { task_id });
		};
		const result = await wait({ items: [{ task_id: 'a' }, { task_id: 'b' }] });
		expect(idsOf(result.outputs[COMPLETED])).toStrictEqual(['a', 'b']);
		expect(hintsOf(result)).toContain(
			'The results of these tasks have no row in the data table agent_video_tasks: a',
		);
		expect(tables.rows).toMatchObject([{ ...before, task_id }, { status: 'done' }]);
	});

	test('are written when a failed video fails the node; completed videos have gone on', async () => {
		reports = { b: { status: 'failed', error_message: 'moderation' } };
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		const { status } = await wait({
			items: [{ task_id: 'a' }, { task_id: 'b' }],
			parameters: { options: { onFailed: 'fail' } },
		});
		expect(status).toBe('error');
		expect(rowOf('a')).toMatchObject({ status: 'done', finished_at: DATE });
		expect(rowOf('b')).toMatchObject({ status: 'failed', finished_at: DATE });
	});

	describe('of a video that was delivered before', () => {
		const again = {
			items: [{ task_id: 'a' }],
			parameters: { options: { onFailed: 'output' } },
		};
		const done = () => ({
			status: 'done',
			finished_at: ago(5),
			delivered_at: ago(5),
			video_url: urlOf('a'),
		});

		test.each([400, 403, 404])(
			'help where the service does not know it: %i',
			async (status_code) => {
				tables.insert(TASK_TABLE, asked('a', { idempotency_key: 'order 1' }));
				await wait(again);
				const delivered = rowOf('a');
				reports = { a: { status_code, error: { message: 'Unknown task' } } };
				const result = await withFakeTimers(async () => await wait(again));
				expect(idsOf(result.outputs[FAILED])).toStrictEqual([]);
				expect(result.outputs[COMPLETED]).toMatchObject([
					{
						json: { task_id: 'a', status: 'completed', video_url: urlOf('a') },
						binary: { data: { mimeType: 'video/mp4' } },
					},
				]);
				expect(hintsOf(result)).toContainEqual(
					expect.stringMatching(
						/^1 video delivered before, which the service does not know/,
					),
				);
				expect(rowOf('a')).toStrictEqual(delivered);
			},
		);

		test.each([
			['has failed', { status: 'failed', error_message: 'moderation' }, 'failed'],
			['expires', { status: 'expired' }, 'failed'],
			['is canceled', { status: 'canceled' }, 'failed'],
			['has no video', { status: 'completed', error_message: 'too long' }, 'failed'],
		])('do not overrule the service, where the task %s', async (_name, report, reason) => {
			tables.insert(TASK_TABLE, asked('a', done()));
			const before = rowOf('a');
			reports = { a: report };
			const { outputs } = await wait(again);
			expect(outputs[COMPLETED]).toStrictEqual([]);
			expect(outputs[FAILED]).toMatchObject([{ json: { task_id: 'a', reason } }]);
			expect(rowOf('a')).toStrictEqual(before);
		});

		test.each<[string, () => IDataObject]>([
			['is not finished', () => ({ status: 'open', finished_at: null })],
			['has failed', () => ({ status: 'failed' })],
			['is of another API key', () => ({ account: account.replace(/ .*/, ' other') })],
			['has no URL', () => ({ video_url: null })],
		])('do not help from a row that %s', async (_name, change) => {
			tables.insert(TASK_TABLE, asked('a', { ...done(), ...change() }));
			reports = { a: { status_code: 404, error: { message: 'Unknown task' } } };
			const { outputs } = await withFakeTimers(async () => await wait(again));
			expect(outputs[FAILED]).toMatchObject([{ json: { task_id: 'a', reason: 'refused' } }]);
		});

		test.each<[string, IDataObject]>([
			['of this account', {}],
			['of another one', { account: 'other' }],
			['that is finished, too', { status: 'failed', finished_at: ago(1) }],
		])('do not help where another row %s has the task ID', async (_name, other) => {
			tables.insert(TASK_TABLE, asked('a', done()), asked('a', { call: 'new', ...other }));
			reports = { a: { status_code: 404, error: { message: 'Unknown task' } } };
			const { outputs } = await withFakeTimers(async () => await wait(again));
			expect(outputs[FAILED]).toMatchObject([{ json: { task_id: 'a', reason: 'refused' } }]);
		});

		test('stay where only this download fails, and help later', async () => {
			tables.insert(TASK_TABLE, asked('gone-a', { ...done(), video_url: urlOf('a') }));
			const items = [{ task_id: 'gone-a' }];
			reports = { 'gone-a': { status: 'completed', video_url: urlOf('gone-a') } };
			await withFakeTimers(async () => await wait({ ...again, items }));
			expect(rowOf('gone-a')).toMatchObject({ status: 'done', finished_at: DATE });
			reports = { 'gone-a': { status_code: 404, error: { message: 'Unknown task' } } };
			const parameters = { ...again.parameters, download: false };
			const { outputs } = await withFakeTimers(async () => await wait({ parameters, items }));
			expect(idsOf(outputs[COMPLETED])).toStrictEqual(['gone-a']);
		});

		test('stay, and those of a newer task with the same ID are in its own row', async () => {
			tables.insert(TASK_TABLE, asked('a', done()), asked('a', { call: 'new' }));
			const [before] = tables.rows;
			reports = { a: { status: 'failed', error_message: 'moderation' } };
			const { outputs } = await wait(again);
			expect(outputs[FAILED]).toMatchObject([{ json: { task_id: 'a', reason: 'failed' } }]);
			expect(tables.rows).toStrictEqual([
				{ ...before, token: expect.any(String) as string },
				expect.objectContaining({ status: 'failed', finished_at: DATE }),
			]);
		});

		test('keep the time of the first delivery', async () => {
			tables.insert(TASK_TABLE, asked('a', done()));
			const { delivered_at, finished_at } = rowOf('a')!;
			await wait(again);
			expect(rowOf('a')).toMatchObject({ delivered_at });
			expect(rowOf('a')!['finished_at']).not.toBe(finished_at);
		});
	});

	test('a task of a timeout stays open', async () => {
		reports = { a: { status: 'processing' } };
		tables.insert(TASK_TABLE, asked('a'));
		const first = await suspended({ items: [{ task_id: 'a' }], parameters: {} });
		aheadMs += 11 * MINUTE_MS;
		await first.resume();
		expect(rowOf('a')).toMatchObject({
			status: 'open',
			finished_at: null,
			error: expect.stringContaining('may still complete') as string,
		});
	});

	test.each<[string, (operation: string) => string | undefined]>([
		['is locked', (each) => (each === 'update' ? 'database is locked' : undefined)],
		['cannot be created', (each) => (each === 'create' ? 'the module is disabled' : undefined)],
	])('are delivered when the table %s, and that is said once', async (name, fails) => {
		if (name === 'is locked') tables.insert(TASK_TABLE, asked('a'));
		tables.fails = fails;
		const result = await withFakeTimers(async () => await wait({ items: [{ task_id: 'a' }] }));
		expect(idsOf(result.outputs[COMPLETED])).toStrictEqual(['a']);
		expect(result.outputs[COMPLETED]![0]!.binary).toBeDefined();
		expect(hintsOf(result).filter((each) => each.includes('ledger'))).toStrictEqual([
			expect.stringMatching(/^The results are not in the task ledger\. .*agent_video_tasks/),
		]);
	});

	test('are written into a new table after the old one was deleted', async () => {
		tables.insert(TASK_TABLE, asked('a'));
		await wait({ items: [{ task_id: 'a' }] });
		tables.drop(TASK_TABLE.name);
		tables.insert(TASK_TABLE, asked('b'));
		const result = await wait({ items: [{ task_id: 'b' }] });
		expect(rowOf('b')).toMatchObject({ status: 'done' });
		expect(hintsOf(result).join()).not.toContain('ledger');
	});

	test('are not written when Task Ledger is off', async () => {
		await wait({
			items: [{ task_id: 'a' }],
			parameters: { options: { taskLedger: false } },
		});
		expect(tables.calls).toBe(0);
	});

	test('are written by a tool, too', async () => {
		tables.insert(TASK_TABLE, asked('a'));
		await runNode('waitForVideoTool', {
			credential: credential(),
			tables,
			parameters: { taskId: 'a' },
		});
		expect(rowOf('a')).toMatchObject({ status: 'done', finished_at: DATE });
	});
});

describe('tasks from the ledger', () => {
	test('come out with their files and with what the ledger knows; then they are finished', async () => {
		tables.insert(
			TASK_TABLE,
			asked('a', {
				prompt: 'A kite',
				model: 'video-m1',
				idempotency_key: 'order-1',
				execution_id: '7',
				item: 2,
				estimated_cost: 0.5,
			}),
			asked('b', { finished_at: ago(1) }),
			asked('young', { sent_at: ago(10) }),
		);
		// The items of a schedule have no task_id, and their number does not matter.
		const { outputs } = await collect({}, { items: [{ timestamp: 1 }, { timestamp: 2 }] });
		expect(outputs[COMPLETED]).toStrictEqual([
			{
				json: expect.objectContaining({
					task_id: 'a',
					status: 'completed',
					ledger: {
						prompt: 'A kite',
						model: 'video-m1',
						idempotency_key: 'order-1',
						execution_id: '7',
						item: 2,
						workflow_id: 'test',
						sent_at: DATE,
						estimated_cost: 0.5,
						delivered_at: null,
					},
				}) as IDataObject,
				binary: { data: expect.objectContaining({ fileName: 'a.mp4' }) as object },
				pairedItem: { item: 0 },
			},
		]);
		expect(rowOf('a')).toMatchObject({ finished_at: DATE, collected_at: DATE });
		expect(polled()).toStrictEqual(['a']);

		const again = await collect();
		expect(again.status).toBe('success');
		expect(again.outputs.flat()).toStrictEqual([]);
		expect(hintsOf(again)).toStrictEqual([NOTHING_OPEN]);
		expect(polled()).toStrictEqual(['a']);
	});

	test('failed videos use the output Failed, with the ledger, and are finished', async () => {
		reports = { a: { status: 'failed', error_message: 'moderation' } };
		tables.insert(TASK_TABLE, asked('a', { prompt: 'A kite' }));
		const { outputs } = await collect();
		expect(outputs[FAILED]![0]!.json).toMatchObject({
			task_id: 'a',
			reason: 'failed',
			ledger: { prompt: 'A kite' },
		});
		expect(hintsOf(await collect())).toStrictEqual([NOTHING_OPEN]);
	});

	test.each<[string, IDataObject, string[]]>([
		['of this workflow', {}, ['b', 'c']],
		['of another workflow', { workflowId: 'other' }, ['a']],
		['of the project', { ledgerTasks: 'project' }, ['a', 'b', 'c', 'd']],
		['younger ones, too', { options: { minimumAge: 5 } }, ['b', 'c', 'young']],
		['the oldest ones', { options: { maximumTasks: 1 } }, ['b']],
		['without an account', { workflowId: 'third' }, ['d']],
	])('%s', async (_name, parameters, expected) => {
		tables.insert(
			TASK_TABLE,
			asked('a', { workflow_id: 'other' }),
			asked('b'),
			asked('c'),
			asked('young', { sent_at: ago(10) }),
			asked('d', { workflow_id: 'third', account: '' }),
			asked('e', { account: account.replace(/ .*/, ' other') }),
		);
		const { outputs } = await collect({ download: false, ...parameters });
		expect(idsOf(outputs[COMPLETED])).toStrictEqual(expected);
	});

	test('of other API keys and workflows are named, and stay', async () => {
		tables.insert(
			TASK_TABLE,
			asked('a', { account: account.replace(/ .*/, ' other') }),
			asked('b', { account: 'other.example.com key' }),
			asked('c', { workflow_id: 'other' }),
		);
		const before = tables.rows;
		expect(hintsOf(await collect())).toStrictEqual([
			expect.stringMatching(
				/^Open tasks of another API key or Base URL: a, b\. .*clear account/,
			),
			NOTHING_OPEN,
		]);
		expect(tables.rows).toStrictEqual(before);
		expect(polled()).toStrictEqual([]);
	});

	test('of a ledger with very many rows no more are read than are wanted, however many others have', async () => {
		const many = (count: number, more: IDataObject) =>
			Array.from({ length: count }, (_, index) =>
				asked(`${String(more['call'])}-${index}`, more),
			);
		tables.insert(
			TASK_TABLE,
			...many(1_500, { call: 'taken', collected_at: ago(1) }),
			...many(3_000, { call: 'new' }),
		);
		const options = { maximumTasks: 2 };
		const result = await collect({ download: false, options });
		expect(idsOf(result.outputs[COMPLETED])).toStrictEqual(['new-0', 'new-1']);
		// As many as are wanted, two pages, the results twice, and at most one of a table that an earlier test had.
		expect(tables.operations.filter((each) => each === 'get').length).toBeLessThan(7);
	});

	test('are taken and written by three writes that n8n checks, however many they are', async () => {
		const ids = Array.from({ length: 50 }, (_, index) => `t-${index}`);
		tables.insert(TASK_TABLE, ...ids.map((id) => asked(id)));
		expect(idsOf((await collect({ download: false })).outputs[COMPLETED])).toStrictEqual(ids);
		expect(tables.rows.map(({ task_id }) => task_id)).toStrictEqual(ids);
		expect(tables.sizeSums).toBe(3);
	});

	test('of two runs at the same moment one gets the task', async () => {
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		const runs = await Promise.all([1, 2, 3].map(() => collect({ download: false })));
		expect(runs.flatMap(({ outputs }) => idsOf(outputs[COMPLETED])).sort()).toStrictEqual([
			'a',
			'b',
		]);
		expect(polled().sort()).toStrictEqual(['a', 'b']);
	});

	test('a task that a run took is left to it for 25 minutes, and then comes after the others', async () => {
		tables.insert(
			TASK_TABLE,
			asked('a', { collected_at: ago(26) }),
			asked('b', { collected_at: ago(24) }),
			asked('c'),
		);
		const parameters = { download: false, options: { maximumTasks: 1 } };
		expect(idsOf((await collect(parameters)).outputs[COMPLETED])).toStrictEqual(['c']);
		expect(idsOf((await collect(parameters)).outputs[COMPLETED])).toStrictEqual(['a']);
		const third = await collect(parameters);
		expect(hintsOf(third)).toStrictEqual([
			`${NOTHING_OPEN}; 1 belong to a run of the last 25 minutes`,
		]);
	});

	test('a later run of the node in the same execution takes others', async () => {
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		const parameters = { tasks: 'ledger', download: false, options: { maximumTasks: 1 } };
		let runs = 0;
		const nodes = [
			packageNode('Wait', 'waitForVideo', { parameters }),
			stubNode('Again', (items) => ((runs += 1) < 2 ? items : [])),
		];
		const wires = { Wait: [['Again']], Again: [['Wait']] };
		const result = await runWorkflow(nodes, wires, 'Wait', {
			credential: credential(),
			tables,
		});
		expect(idsOf(allItems(result, 'Wait')[COMPLETED])).toStrictEqual(['a', 'b']);
	});

	test('a task ID that a person has entered with white space is collected and finished without it', async () => {
		tables.insert(
			TASK_TABLE,
			asked(' a\n', { status: 'sent' }),
			asked(' ', { status: 'sent' }),
		);
		const result = await collect();
		expect(polled()).toStrictEqual(['a']);
		expect(idsOf(result.outputs[COMPLETED])).toStrictEqual(['a']);
		expect(rowOf('a')).toMatchObject({ status: 'done', finished_at: DATE });
		expect(hintsOf(result)[0]).toMatch(/^Creations without an answer: row \d+ /);
	});

	test('requests without an answer are named, unless the answer is in another row', async () => {
		tables.insert(
			TASK_TABLE,
			asked('', { call: 'x', execution_id: '7', item: 1 }),
			asked('', { call: 'y', execution_id: '8' }),
			asked('b', { call: 'y', finished_at: ago(1) }),
			asked('', { call: 'z', sent_at: ago(3) }),
			asked('', { call: 'c', status: 'claimed' }),
			// A person has added it, as its video has another row without a call.
			asked('', { call: null, execution_id: '9' }),
			asked('d', { call: null, finished_at: ago(1) }),
		);
		const [hint] = hintsOf(await collect());
		expect(hint).toMatch(
			/^Creations without an answer: row \d+ \(execution 7, item 1, \d{4}-[^()]*\), row \d+ \(execution 9, [^()]*\)\. .* enter the task_id of each video that exists, and delete the other rows$/,
		);
		expect(polled()).toStrictEqual([]);
	});

	test("n8n's Retry takes what the failed try had taken", async () => {
		reports = { a: { status_code: 401 } };
		tables.insert(TASK_TABLE, asked('a'));
		const first = await collect({ download: false }, { execution: { id: '1', token: 't' } });
		expect(first.status).toBe('error');
		reports = {};
		const last = await first.resume({ id: '2', token: 't', isRetry: true });
		expect(idsOf(last.outputs[COMPLETED])).toStrictEqual(['a']);
	});

	test("n8n's Retry takes what the failed try has left, after the others have gone on", async () => {
		reports = { a: { status: 'processing' } };
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		const nodes = [
			packageNode('Wait', 'waitForVideo', {
				parameters: { tasks: 'ledger', download: false, options: { maximumWait: 1 } },
			}),
			stubNode('Done', (items) => items),
		];
		const first = await withFakeTimers(
			async () =>
				await runWorkflow(nodes, { Wait: [['Done']] }, 'Wait', {
					credential: credential(),
					tables,
					execution: { id: '1', token: 't' },
				}),
		);
		expect(first.status).toBe('error');
		expect(idsOf(allItems(first, 'Done')[0])).toStrictEqual(['b']);
		reports = {};
		const last = await first.resume({ id: '2', token: 't', isRetry: true });
		expect(idsOf(allItems(last, 'Done')[0])).toStrictEqual(['b', 'a']);
	});

	test('Retry On Fail loses no video for which n8n runs the node again', async () => {
		reports = { a: { status: 'failed' } };
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		const more = { onError: 'continueRegularOutput', retryOnFail: true } as const;
		const parameters = { tasks: 'ledger', download: false };
		const nodes = [
			packageNode('Wait', 'waitForVideo', { parameters, ...more }),
			stubNode('Done', (items) => items),
		];
		const options = { credential: credential(), tables, ...more };
		const { outputs } = await runWorkflow(nodes, { Wait: [['Done']] }, 'Wait', options);
		expect(idsOf(outputs[COMPLETED])).toContain('b');
		expect(rowOf('b')).toMatchObject({ status: 'done' });
	});

	test('Retry On Fail goes on with the same tasks', async () => {
		reports = { a: { status_code: 401 } };
		tables.insert(TASK_TABLE, asked('a'));
		await collect({ download: false }, { retryOnFail: true });
		// Without them the second try would find the task taken, and end well without it.
		expect(polled().length).toBeGreaterThan(1);
	});

	test.each<[string, IDataObject, RegExp, RegExp]>([
		['no workflow', { workflowId: '={{ null }}' }, /^Workflow ID is empty$/, /Enter a text/],
		[
			'no table',
			{},
			/^Tasks cannot be read from the task ledger: .*n8n 2/,
			/set Tasks to From Input/,
		],
	])('%s fails the node before it polls', async (name, parameters, message, hint) => {
		tables.disabled = name === 'no table';
		const { error } = await collect(parameters);
		expect(error!.message).toMatch(message);
		expect(error!.description).toMatch(hint);
		expect(polled()).toStrictEqual([]);
	});

	test('an error of the ledger reaches the error output', async () => {
		tables.disabled = true;
		const { outputs } = await collect({}, { onError: 'continueRegularOutput' });
		expect(outputs[FAILED]![0]!.json['error']).toMatch(/^Tasks cannot be read/);
	});
});

async function suspended(more: Partial<RunOptions>): Promise<RunResult> {
	const nodes = [
		packageNode('Wait', 'waitForVideo', {
			parameters: { download: false, waitMode: 'suspend', ...more.parameters },
		}),
		...['Done', 'Lost'].map((name) => stubNode(name, (items) => items)),
	];
	const wires = { Wait: [['Done'], ['Lost']] };
	return await runWorkflow(nodes, wires, 'Wait', { credential: credential(), tables, ...more });
}

describe('suspended', () => {
	test('the tasks of the first step are kept until all are delivered', async () => {
		reports = { a: { status: 'processing' } };
		tables.insert(TASK_TABLE, asked('a', { prompt: 'A kite' }), asked('b'));
		const first = await suspended({ parameters: { tasks: 'ledger' } });
		expect(first.status).toBe('waiting');
		// It is open as well, but this run has its tasks.
		tables.insert(TASK_TABLE, asked('late'));
		reports = {};
		aheadMs += first.run.waitTill!.getTime() - Date.now();
		const last = await first.resume();
		expect(last.status).toBe('success');
		const [done] = allItems(last, 'Wait');
		expect(idsOf(done)).toStrictEqual(['a', 'b']);
		expect(done![0]!.json['ledger']).toMatchObject({ prompt: 'A kite' });
		expect(rowOf('a')).toMatchObject({ finished_at: DATE });
		expect(polled()).not.toContain('late');
	});

	test('Maximum Wait counts from the collection', async () => {
		reports = { a: { status: 'processing' } };
		tables.insert(TASK_TABLE, asked('a', { sent_at: ago(600) }));
		const first = await suspended({ parameters: { tasks: 'ledger' } });
		expect(first.status).toBe('waiting');
		aheadMs += 11 * MINUTE_MS;
		const last = await first.resume();
		expect(allItems(last, 'Wait')[FAILED]![0]!.json).toMatchObject({ reason: 'timeout' });
		expect(rowOf('a')).toMatchObject({ finished_at: null });
	});
});
