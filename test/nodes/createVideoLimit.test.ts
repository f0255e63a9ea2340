import type { ServerResponse } from 'node:http';

import type { IDataObject } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { dataTables, type DataTables } from '../support/dataTables';
import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';

const MINUTE_MS = 60_000;
const LONGEST_PAUSE_MS = 1_000;
/** In the middle of a month, at noon in UTC. */
const NOW_MS = Date.UTC(2026, 5, 15, 12);
const CREATE = '/v1/videos/generations';
const MODEL = { __rl: true, mode: 'id', value: 'video-m1' };

let tables: DataTables;
let nowMs: number;
/** Prompts that the service rejects. */
let rejected: string[];
/** Called for each creation that arrives, and awaited before it is answered. */
let onCreation: (prompt: string) => Promise<void> | void;

const server = serverForEach((response, { path, body }) => {
	const { prompt, task_id } = body as { prompt: string; task_id: string };
	if (path === CREATE)
		void Promise.resolve(onCreation(prompt)).then(() => {
			answer(response, prompt);
		});
	else json(response, 200, { task_id, status: 'completed', video_url: 'https://a.example/v' });
});

beforeEach(() => {
	tables = dataTables();
	rejected = [];
	nowMs = NOW_MS;
	onCreation = () => undefined;
	jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
	jest.restoreAllMocks();
});

function answer(response: ServerResponse, prompt: string): void {
	if (rejected.includes(prompt)) json(response, 401, { error: { message: 'bad' } });
	else json(response, 200, { task_id: `task-${prompt}`, status: 'queued', model: 'm' });
}

type Environment = Partial<RunOptions> & { readonly id?: string };

const environmentOf = (
	prompts: readonly string[],
	{ id = '11', ...more }: Environment,
): RunOptions => ({
	credential: { baseUrl: server.url, apiKey: 'k-secret' },
	tables,
	timezone: 'UTC',
	execution: { id, token: `token-${id}` },
	items: prompts.map((prompt) => ({ prompt })),
	...more,
});
const parametersOf = (options: IDataObject): IDataObject => ({
	model: MODEL,
	prompt: '={{ $json.prompt }}',
	duration: 5,
	aspectRatio: '',
	waitUntilFinished: false,
	options: { retries: 0, limitPeriod: 'day', ...options },
});

/** Runs the node in an execution of its own. */
async function create(
	prompts: readonly string[],
	options: IDataObject,
	{ type = 'createVideo', ...more }: Environment & { type?: string } = {},
): Promise<RunResult> {
	const parameters = parametersOf(options);
	return await runNode(type, { ...environmentOf(prompts, more), parameters });
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
const sent = () =>
	server.requests
		.filter(({ path }) => path === CREATE)
		.map(({ body }) => (body as { prompt: string }).prompt);
const claimed = () => tables.rows.filter(({ status }) => status === 'claimed');
/** What the items have: a task, or why they have none. */
const shownOf = (items: RunResult['outputs'][number] = []) =>
	items.map(({ json: { task_id, reason, error } }) => error ?? reason ?? task_id);
const HOUR = 60;
const DAY = 24 * HOUR;

describe('what counts', () => {
	test.each<[string, IDataObject, IDataObject[], string]>([
		['a video of today', {}, [paid(11 * HOUR)], 'this workflow has created 1 today'],
		[
			'a video of this month',
			{ limitPeriod: 'month' },
			[paid(14 * DAY)],
			'this workflow has created 1 this month',
		],
		['nothing of last month', { limitPeriod: 'month' }, [paid(15 * DAY)], ''],
		['nothing with the default period', { limitPeriod: 'execution' }, [paid(1)], ''],
	])('%s', async (_name, options, rows, expected) => {
		tables.insert(TASK_TABLE, ...rows);
		const { error } = await create(['a', 'b'], { maximumVideos: 2, ...options });
		expect(error?.message ?? '').toMatch(expected === '' ? /^$/ : expected);
		expect(sent()).toHaveLength(expected === '' ? 2 : 0);
	});

	test('a request without an answer, whatever its day: a person decides about it', async () => {
		const lost = { status: 'sent', task_id: '' };
		tables.insert(TASK_TABLE, paid(1), paid(2 * DAY, lost), paid(3 * DAY, lost));
		const options = { maximumVideos: 4 };
		const { error } = await create(['a', 'b'], options);
		expect(error!.message).toContain('has created 3 today');
		const todo =
			'Rows with status "sent" in this limit: 2. When their execution has ended, enter the task_id of each video that exists, and delete the other rows';
		expect(error!.description).toMatch(/^Nothing was sent\. Use fewer items/);
		expect(error!.description).toContain(todo);
		const { hints } = await create(['a', 'b'], { ...options, takeWhatFits: true });
		expect(hints.filter((hint) => hint.includes(todo))).toHaveLength(1);
		expect(sent()).toStrictEqual(['a']);
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
		expect([6, 7]).toContain(sent().length);
		expect(claimed()).toStrictEqual([]);
	});

	test('do not exceed it either where each takes what fits', async () => {
		const statuses = await runs([3, 3, 3], { maximumVideos: 7, takeWhatFits: true });
		expect(statuses).toStrictEqual(Array(3).fill('success'));
		expect(sent()).toHaveLength(7);
	});

	test('the error of a later group does not say that nothing was sent', async () => {
		const options = { maximumVideos: 3, concurrency: 1 };
		onCreation = () => {
			tables.insert(TASK_TABLE, paid(1), paid(2));
		};
		const { error } = await create(['a', 'b'], options);
		expect(sent()).toStrictEqual(['a']);
		expect(error).toMatchObject({
			message: expect.stringContaining('1 of 2 videos failed') as string,
			description: expect.stringMatching(
				/^This item was not sent, others were\. Use fewer items, raise Maximum Videos/,
			) as string,
		});
	});

	test('all of them go on where all fit', async () => {
		const statuses = await runs([2, 2, 2, 2], { maximumVideos: 8 });
		expect(statuses).toStrictEqual(Array(4).fill('success'));
		expect(sent()).toHaveLength(8);
	});
});

test('a creation that certainly fails gives its place back, and so does one that is not reached', async () => {
	rejected = ['a'];
	const options = { maximumVideos: 2, concurrency: 1 };
	expect((await create(['a', 'b'], options)).status).toBe('error');
	expect(sent()).toStrictEqual(['a']);
	expect((await create(['c', 'd'], options, { id: '12' })).status).toBe('success');
});

test('a dry run is compared with the limit, and leaves no row', async () => {
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
	tables.fails = (operation) => (operation === 'insert' ? 'the table is full' : undefined);
	const { error } = await create(['a'], { maximumVideos: 5 });
	expect(error!.message).toMatch(/^Limit Period cannot be kept: .*the table is full/);
	expect(sent()).toStrictEqual([]);
});

describe('a batch over midnight', () => {
	const MIDNIGHT_MS = Date.UTC(2026, 5, 16);
	const batch = (name: string) => Array.from({ length: 6 }, (_, index) => `${name}-${index}`);
	const ONE_BY_ONE = { concurrency: 1 };

	beforeEach(() => {
		nowMs = MIDNIGHT_MS - MINUTE_MS;
	});

	test.each([{}, ONE_BY_ONE, { idempotencyKey: '={{ $json.prompt }}' }])(
		'does not exceed the limit of the next day with the schedule of midnight: %j',
		async (more) => {
			const options = { maximumVideos: 6, takeWhatFits: true, ...more };
			let next: Promise<RunResult> | undefined;
			onCreation = (prompt) => {
				if (prompt !== 'evening-2') return;
				nowMs = MIDNIGHT_MS + MINUTE_MS;
				next = create(batch('night'), options, { id: '12' });
			};
			expect((await create(batch('evening'), options)).status).toBe('success');
			expect((await next!).status).toBe('success');
			expect((await create(batch('day'), options, { id: '13' })).status).toBe('success');
			const ofDay = (day: string) =>
				tables.rows.filter((row) => String(row['sent_at']).startsWith(day));
			expect(ofDay('2026-06-16')).toHaveLength(6);
			expect(ofDay('2026-06-15')).toHaveLength(sent().length - 6);
		},
	);

	test('counts what is under way on both days', async () => {
		const options = { maximumVideos: 6, ...ONE_BY_ONE };
		let night: RunResult | undefined;
		onCreation = async (prompt) => {
			if (prompt !== 'evening-5') return;
			nowMs = MIDNIGHT_MS + MINUTE_MS;
			night = await create(batch('night'), options, { id: '12' });
		};
		await create(batch('evening'), options);
		expect(night!.error!.message).toBe(
			'Maximum Videos is 6. This run would create 6, and this workflow has created 1 today',
		);
		expect(sent()).toStrictEqual(batch('evening'));
		const later = await create(batch('day'), options, { id: '13' });
		expect(later.status).toBe('success');
	});
});

test('an execution counts a failed try, a killed retry and another one once', async () => {
	const prompts = Array.from({ length: 9 }, (_, index) => `p${index}`);
	const options = {
		limitPeriod: 'execution',
		maximumVideos: 6,
		takeWhatFits: true,
		concurrency: 1,
	};
	const execution = (id: string) => ({ execution: { id, token: 'token-11', isRetry: true } });
	rejected = ['p2'];
	const failed = await create(prompts, options);
	expect(failed.status).toBe('error');

	// The process of the retry is killed when its second creation arrives.
	rejected = [];
	let rows: readonly IDataObject[] = [];
	onCreation = (prompt) => {
		if (prompt === 'p3') rows = structuredClone(tables.rows);
	};
	await failed.resume(execution('12').execution);
	onCreation = () => undefined;
	server.requests.length = 0;
	// n8n does not wait for its last requests.
	tables = dataTables();
	tables.insert(TASK_TABLE, ...rows);

	const onError = 'continueErrorOutput';
	const { outputs } = await create(prompts, options, { ...execution('13'), onError });
	// What was under way at the kill is unknown, and counts.
	expect(sent()).toStrictEqual(['p4', 'p5']);
	expect(shownOf(outputs[0])).toStrictEqual([
		...['task-p0', 'task-p1', 'task-p2', 'task-p4', 'task-p5'],
		...['limit', 'limit', 'limit'],
	]);
	expect(shownOf(outputs[1])).toStrictEqual([expect.stringMatching(/^An earlier try was/)]);
});

describe('Take What Fits', () => {
	const options = { maximumVideos: 2, takeWhatFits: true };
	const HINT = /^3 items without a task, which Create Video has not sent$/;

	/** Creates videos and waits for them in the next node. */
	async function createAndWait(parameters: IDataObject, more: Environment = {}) {
		const create = { ...parametersOf(parameters), ...more.parameters };
		const wait = { taskId: '={{ $json.task_id }}', download: false };
		return await runWorkflow(
			[
				packageNode('Create', 'createVideo', { ...more, parameters: create }),
				packageNode('Wait', 'waitForVideo', { ...more, parameters: wait }),
			],
			{ Create: [['Wait']] },
			'Create',
			environmentOf(['a', 'b', 'c', 'd', 'e'], more),
		);
	}

	test('Wait for Video waits for what was sent beside dry runs', async () => {
		const dry = { dryRun: '={{ $json.prompt === "b" }}' };
		const { status, run } = await createAndWait(dry);
		expect(status).toBe('success');
		const [waited] = run.data.resultData.runData['Wait']!;
		expect(shownOf(waited!.data!['main']![0]!)).toStrictEqual(
			['a', 'c', 'd', 'e'].map((prompt) => `task-${prompt}`),
		);
	});

	const hintsOf = ({ run }: RunResult, node: string) =>
		run.data.resultData.runData[node]!.flatMap(({ hints }) => hints ?? []).map(
			({ message }) => message,
		);

	test.each(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'sends the items that fit, the others leave without a task: %s',
		async (onError) => {
			tables.insert(TASK_TABLE, paid(1));
			const three = { ...options, maximumVideos: 3 };
			const { status, outputs } = await create(['a', 'b', 'c', 'd'], three, { onError });
			expect(status).toBe('success');
			expect(outputs[1] ?? []).toStrictEqual([]);
			expect(shownOf(outputs[0])).toStrictEqual(['task-a', 'task-b', 'limit', 'limit']);
			expect(outputs[0]![3]!.json).toMatchObject({ task_id: '', request: { prompt: 'd' } });
			expect(sent()).toStrictEqual(['a', 'b']);
		},
	);

	test('is tried by a dry run', async () => {
		const { status, outputs } = await create(['a', 'b', 'c'], { ...options, dryRun: true });
		expect(status).toBe('success');
		expect(outputs[0]).toHaveLength(3);
	});

	test('takes a cheaper item after one that does not fit', async () => {
		const { outputs } = await create(['a', 'bb', 'c'], {
			maximumCost: 11,
			pricePerSecond: '={{ $json.prompt.length }}',
			takeWhatFits: true,
		});
		expect(shownOf(outputs[0])).toStrictEqual(['task-a', 'limit', 'task-c']);
	});

	test('sends nothing where nothing is left', async () => {
		tables.insert(TASK_TABLE, paid(1), paid(2));
		const { status, outputs } = await create(['a', 'b'], options);
		expect(status).toBe('success');
		expect(shownOf(outputs[0])).toStrictEqual(['limit', 'limit']);
		expect(sent()).toStrictEqual([]);
	});

	test('takes the rest on the next day', async () => {
		const keyed = { ...options, idempotencyKey: '={{ $json.prompt }}' };
		const first = await create(['a', 'b', 'c'], keyed);
		expect(shownOf(first.outputs[0])).toStrictEqual(['task-a', 'task-b', 'limit']);
		expect(claimed()).toStrictEqual([]);
		nowMs += DAY * MINUTE_MS;
		const second = await create(['a', 'b', 'c'], keyed, { id: '12' });
		expect(shownOf(second.outputs[0])).toStrictEqual(['task-a', 'task-b', 'task-c']);
	});

	test.each([false, true])(
		'leaves no failure in Wait for Video, with Wait Until Finished %s',
		async (waitUntilFinished) => {
			const parameters = { waitUntilFinished, download: false };
			const result = await createAndWait(options, { parameters });
			expect(result.status).toBe('success');
			const [completed, failed = []] = allItems(result, 'Wait');
			expect(completed!.map(({ json: { status } }) => status).slice(0, 2)).toStrictEqual([
				'completed',
				'completed',
			]);
			expect(failed).toStrictEqual([]);
			expect(sent()).toStrictEqual(['a', 'b']);
			expect(hintsOf(result, 'Create')).toContainEqual(
				'3 items were not sent, because of Maximum Videos or Maximum Cost. See "reason" in the output.',
			);
			expect(hintsOf(result, 'Wait')).toContainEqual(expect.stringMatching(HINT));
		},
	);
});
