import type { IDataObject } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/ledger/taskTable';
import { dataTables, type DataTables } from '../support/dataTables';
import { runNode, type RunOptions, type RunResult } from '../support/engine';
import { json, startScriptedServer, type ScriptedServer } from '../support/scriptedServer';

const MINUTE_MS = 60_000;
const LONGEST_PAUSE_MS = 1_000;
/** In the middle of a month, at noon in UTC. */
const NOW_MS = Date.UTC(2026, 5, 15, 12);

let server: ScriptedServer;
let tables: DataTables;
/** Prompts that the service rejects. */
let rejected: string[];

beforeEach(async () => {
	tables = dataTables();
	rejected = [];
	jest.spyOn(Date, 'now').mockImplementation(() => NOW_MS);
	server = await startScriptedServer((response, { body }) => {
		const { prompt, model } = body as { prompt: string; model: string };
		if (rejected.includes(prompt)) json(response, 400, { error: { message: 'bad' } });
		else json(response, 200, { task_id: `task-${prompt}`, status: 'queued', model });
	});
});
afterEach(async () => {
	jest.restoreAllMocks();
	await server.stop();
});

/** Runs the node in an execution of its own. */
async function create(
	prompts: readonly string[],
	options: IDataObject,
	{
		id = '11',
		type = 'createVideo',
		...more
	}: Partial<RunOptions> & { id?: string; type?: string } = {},
): Promise<RunResult> {
	const { limitPeriod = 'day', ...others } = options;
	return await runNode(type, {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		tables,
		timezone: 'UTC',
		execution: { id, token: `token-${id}` },
		items: prompts.map((prompt) => ({ prompt })),
		parameters: {
			model: { __rl: true, mode: 'id', value: 'video-m1' },
			prompt: '={{ $json.prompt }}',
			duration: 5,
			aspectRatio: '',
			waitUntilFinished: false,
			limitPeriod,
			options: { retries: 0, ...others },
		},
		...more,
	});
}

/** A row of a video that was paid for some minutes ago. */
const paid = (minutes: number, more: IDataObject = {}) => ({
	task_id: `paid-${minutes}`,
	status: 'completed',
	sent_at: new Date(NOW_MS - minutes * MINUTE_MS).toISOString(),
	call: `call-${minutes}`,
	workflow_id: 'test',
	estimated_cost: 0.5,
	...more,
});
const sent = () => server.requests.map(({ body }) => (body as { prompt: string }).prompt);
const reserved = () =>
	tables.rows.filter(({ status }) => ['claimed', 'reserved'].includes(status as string));
const HOUR = 60;
const DAY = 24 * HOUR;

describe('what counts', () => {
	test.each<[string, IDataObject, IDataObject[], string]>([
		['nothing of yesterday', {}, [paid(13 * HOUR)], ''],
		['a video of today', {}, [paid(11 * HOUR)], 'this workflow has created 1 today'],
		[
			'a video of this month',
			{ limitPeriod: 'month' },
			[paid(14 * DAY)],
			'this workflow has created 1 this month',
		],
		['nothing of last month', { limitPeriod: 'month' }, [paid(15 * DAY)], ''],
		['no other workflow', {}, [paid(1, { workflow_id: 'other' })], ''],
		[
			'another workflow of the project',
			{ limitPeriod: 'projectDay' },
			[paid(1, { workflow_id: 'other' })],
			'this project has created 1 today',
		],
		['a failed video', {}, [paid(1, { status: 'failed' })], 'has created 1 today'],
		[
			'a request whose answer nobody has',
			{},
			[paid(9, { status: 'sent', task_id: null })],
			'has created 1 today',
		],
		[
			'a call once, whose row is being replaced',
			{ maximumVideos: 3 },
			[paid(1, { status: 'sent', task_id: null }), paid(1)],
			'',
		],
		[
			'a reservation of a minute',
			{},
			[paid(0.5, { status: 'reserved', task_id: null })],
			'created 1',
		],
		[
			'no reservation whose execution is gone',
			{},
			[paid(2, { status: 'reserved', task_id: null })],
			'',
		],
		['nothing with the default period', { limitPeriod: 'execution' }, [paid(1)], ''],
	])('%s', async (_name, options, rows, expected) => {
		tables.insert(TASK_TABLE, ...rows);
		const { error } = await create(['a', 'b'], { maximumVideos: 2, ...options });
		expect(error?.message ?? '').toMatch(expected === '' ? /^$/ : expected);
		expect(sent()).toHaveLength(expected === '' ? 2 : 0);
		expect(reserved().filter(({ call }) => !String(call).startsWith('call-'))).toStrictEqual(
			[],
		);
	});

	test('the day begins in the timezone of the workflow', async () => {
		// At noon in UTC it is 21:00 in Tokyo and 02:00 in Honolulu.
		tables.insert(TASK_TABLE, paid(11.5 * HOUR), paid(13 * HOUR), paid(22 * HOUR));
		const options = { maximumVideos: 1 };
		const inTokyo = await create(['a'], options, { timezone: 'Asia/Tokyo' });
		expect(inTokyo.error!.message).toContain('has created 2 today');
		const inHonolulu = await create(['a'], options, { timezone: 'Pacific/Honolulu' });
		expect(inHonolulu.status).toBe('success');
	});

	test('rows in several pages', async () => {
		const rows = Array.from({ length: 2_100 }, (_, index) =>
			paid(1, { call: `c${index}`, task_id: `t${index}` }),
		);
		tables.insert(TASK_TABLE, ...rows);
		const { error } = await create(['a'], { maximumVideos: 2_100 });
		expect(error!.message).toBe(
			'Maximum Videos is 2100. This run would create 1, and this workflow has created 2100 today',
		);
	});

	test('its own videos once, over executions and tools', async () => {
		const options = { maximumVideos: 3 };
		await create(['a', 'b'], options);
		const tool = { type: 'createVideoTool', onError: 'continueRegularOutput' } as const;
		await create(['c'], options, { ...tool, id: '12' });
		const { outputs } = await create(['d'], options, { ...tool, id: '13' });
		expect(outputs[0]![0]!.json).toMatchObject({
			error: 'Maximum Videos is 3. This run would create 1, and this workflow has created 3 today',
			message: 'Create no more videos now, and tell the user',
		});
		expect(sent()).toStrictEqual(['a', 'b', 'c']);
	});

	test('no video that a key has already', async () => {
		const options = { maximumVideos: 2, idempotencyKey: '={{ $json.prompt }}' };
		await create(['a', 'b'], options);
		const { status } = await create(['a', 'b'], options, { id: '12' });
		expect(status).toBe('success');
		const third = await create(['b', 'c'], options, { id: '13' });
		expect(third.error!.message).toContain('This run would create 1, ');
		expect(sent()).toStrictEqual(['a', 'b']);
	});
});

describe('Maximum Cost', () => {
	const options = { maximumCost: 1.5, pricePerSecond: 0.1 };

	test('is the sum of the estimated costs', async () => {
		tables.insert(TASK_TABLE, paid(1), paid(2));
		expect((await create(['a'], options)).status).toBe('success');
		const { error } = await create(['b'], options, { id: '12' });
		expect(error!.message).toBe(
			'Maximum Cost is 1.5. This run would cost 0.5, and this workflow has cost 1.5 today',
		);
		expect(sent()).toStrictEqual(['a']);
	});

	test('cannot be checked beside a video of unknown cost', async () => {
		tables.insert(TASK_TABLE, paid(1, { estimated_cost: null }));
		const { error } = await create(['a'], options);
		expect(error).toMatchObject({
			message:
				'Maximum Cost cannot be checked: 1 video of this workflow today has no estimated cost',
			description: expect.stringContaining('enter estimated_cost in their rows') as string,
		});
		expect(sent()).toStrictEqual([]);
		expect((await create(['a'], { maximumVideos: 5 }, { id: '12' })).status).toBe('success');
	});
});

describe('executions at the same time', () => {
	/** The pauses in which an execution waits for another one end at once. */
	beforeEach(() => {
		const start = setTimeout;
		jest.spyOn(globalThis, 'setTimeout').mockImplementation((work: () => void, ms = 0) =>
			start(work, ms > LONGEST_PAUSE_MS ? ms : 0),
		);
	});
	const runs = async (sizes: readonly number[], options: IDataObject) =>
		await Promise.all(
			sizes.map(
				async (size, run) =>
					(
						await create(
							Array.from({ length: size }, (_, index) => `${run}-${index}`),
							options,
							{ id: String(20 + run) },
						)
					).status,
			),
		);

	test.each<[string, IDataObject]>([
		['without keys', {}],
		['with keys', { idempotencyKey: '={{ $json.prompt }}' }],
	])('do not exceed the limit together, and use it: %s', async (_name, more) => {
		const statuses = await runs([3, 3, 3], { maximumVideos: 7, ...more });
		expect(statuses.toSorted()).toStrictEqual(['error', 'success', 'success']);
		expect(sent()).toHaveLength(6);
		expect(reserved()).toStrictEqual([]);
	});

	test('all of them go on where all fit', async () => {
		const statuses = await runs([2, 2, 2, 2], { maximumVideos: 8 });
		expect(statuses).toStrictEqual(Array(4).fill('success'));
		expect(sent()).toHaveLength(8);
	});
});

test('a creation that certainly fails gives its place back, and so does one that is not reached', async () => {
	rejected = ['a'];
	const options = { maximumVideos: 2, batching: { values: { concurrency: 1 } } };
	expect((await create(['a', 'b'], options)).status).toBe('error');
	expect(sent()).toStrictEqual(['a']);
	expect((await create(['c', 'd'], options, { id: '12' })).status).toBe('success');
});

test('a dry run is compared with the limit, and reserves nothing', async () => {
	tables.insert(TASK_TABLE, paid(1));
	const options = { maximumVideos: 2, dryRun: true };
	expect((await create(['a'], options)).status).toBe('success');
	const { error } = await create(['a', 'b'], options, { id: '12' });
	expect(error!.message).toContain(
		'This run would create 2, and this workflow has created 1 today',
	);
	expect(tables.rows).toHaveLength(1);
});

test.each<[string, IDataObject, RegExp]>([
	['is off', { taskLedger: false }, /^Limit Period cannot be kept: Task Ledger is off$/],
	['cannot be used', {}, /^Limit Period cannot be kept: .*n8n 2/],
])('where the ledger %s nothing is sent', async (name, options, message) => {
	tables.disabled = name === 'cannot be used';
	const { error } = await create(['a'], { maximumVideos: 5, ...options });
	expect(error!.message).toMatch(message);
	expect(error!.description).toMatch(/^Nothing was sent\. /);
	expect(sent()).toStrictEqual([]);
});

test('where the row of a call cannot be written it is not sent', async () => {
	let inserts = 0;
	tables.fails = (operation) =>
		operation === 'insert' && (inserts += 1) > 1 ? 'the table is full' : undefined;
	const { error } = await create(['a'], { maximumVideos: 5 });
	expect(error!.message).toMatch(/^Limit Period cannot be kept: .*the table is full/);
	expect(sent()).toStrictEqual([]);
});

test('without a limit the ledger is not read', async () => {
	await create(['a'], {});
	expect(tables.operations).not.toContain('get');
});
