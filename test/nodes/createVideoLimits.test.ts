import type { IDataObject } from 'n8n-workflow';

import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import {
	another,
	breakOff,
	byId,
	parametersOf,
	reject,
	retryAs,
	videoService,
	type More,
} from '../support/createdVideos';
import { allItems, packageNode, type RunResult } from '../support/engine';

const service = videoService();
const { sent } = service;

/** So that a limit is checked before each creation. */
const SERIAL = { concurrency: 1 };
const KEYED = { idempotencyKey: '={{ $json.prompt }}' };
const CONTINUE = { onError: 'continueErrorOutput' } as const;
const TOOL = { type: 'createVideoTool', ...CONTINUE };
/** Rejects an item, and the service rejects nothing else. */
const REJECTED = reject(400);
/** Rejects an item, and with it those that were not sent yet. */
const STOPPED = reject(401);
const prompts = (count: number, name = 'p') =>
	Array.from({ length: count }, (_, index) => `${name}${index + 1}`);

/** What the items have: a task, or why they have none. */
const shownOf = (items: RunResult['outputs'][number] = []) =>
	items.map(({ json: { task_id, reason, error } }) => error ?? reason ?? task_id);
const failedOf = ({ outputs }: RunResult) => shownOf(outputs[1]);
const claimed = () => service.tables.rows.filter(({ status }) => status === 'claimed');
const exceeded = (maximum: number, would: number, has: number) =>
	`Maximum Videos is ${maximum}. This run would create ${would}, and this execution has created ${has} so far`;
const exceededToday = (maximum: number, would: number, has: number) =>
	`Maximum Videos is ${maximum}. This run would create ${would}, and this workflow has created ${has} today`;
const NAME = 'NodeOperationError';
/** How a full table answers. */
const FULL = (operation: string) => (operation === 'insert' ? 'the table is full' : undefined);

describe('of an execution', () => {
	const create = async (
		items: Parameters<typeof service.create>[0],
		options: IDataObject,
		more: More = {},
	) => await service.create(items, { ...SERIAL, ...options }, more);
	const loop = async (
		rounds: Parameters<typeof service.loop>[0],
		options: IDataObject,
		more: More = {},
	) => await service.loop(rounds, { ...SERIAL, ...options }, more);

	describe('Maximum Videos', () => {
		test.each([{}, { dryRun: true }])(
			'6 items and a limit of 5 %j: none is sent',
			async (dry) => {
				const { error } = await create(prompts(6), { maximumVideos: 5, ...dry });
				expect([error!.name, error!.message]).toStrictEqual([NAME, exceeded(5, 6, 0)]);
				expect(error!.description).toMatch(/^Nothing was sent\. .*Maximum Videos/);
				expect(sent()).toStrictEqual([]);
			},
		);

		test('with On Error: Continue every item fails, and none is sent', async () => {
			const result = await create(prompts(3), { maximumVideos: 2 }, CONTINUE);
			expect(failedOf(result)).toStrictEqual(Array(3).fill(exceeded(2, 3, 0)));
			expect(sent()).toStrictEqual([]);
		});

		test.each([{}, { maximumVideos: 0 }, { maximumVideos: '0' }, { maximumVideos: 7 }])(
			'%j lets 7 through',
			async (options) => {
				const { outputs } = await create(prompts(7), options);
				expect(outputs[0]).toHaveLength(7);
			},
		);

		test.each([0, -0.5])('%d from an expression means that nothing is left', async (left) => {
			const given = prompts(2).map((prompt) => ({ prompt, left }));
			for (const options of [
				{ maximumVideos: '={{ $json.left }}' },
				{ maximumCost: '={{ $json.left }}', pricePerSecond: 0.1 },
			]) {
				const { error } = await create(given, options);
				expect(error!.message).toMatch(/^Maximum (Videos|Cost) is 0\. This run would c/);
				const fitting = await create(given, { ...options, takeWhatFits: true });
				expect(shownOf(fitting.outputs[0])).toStrictEqual(['limit', 'limit']);
			}
			expect(sent()).toStrictEqual([]);
		});

		test('the smallest value holds where the items have different ones', async () => {
			const given = [9, 1, 2].map((max) => ({ prompt: 'p', max }));
			const { error } = await create(given, { maximumVideos: '={{ $json.max }}' });
			expect(error!.message).toBe(exceeded(1, 3, 0));
			expect(sent()).toStrictEqual([]);
		});

		const LEDGERS: [string, (operation: string) => string | undefined][] = [
			['', () => undefined],
			[' where the ledger takes no rows', FULL],
		];

		test.each(LEDGERS)('counts over the rounds of a loop%s', async (_where, fails) => {
			service.tables.fails = fails;
			const rounds = Array.from({ length: 4 }, () => prompts(2));
			const { error } = await loop(rounds, { maximumVideos: 5 });
			expect(error!.message).toBe(exceeded(5, 2, 4));
			expect(sent()).toHaveLength(4);
		});

		test('dry runs take no place, nor do they beside videos that are sent in groups', async () => {
			const dry = (prompt: string) => ({ prompt, dry: true });
			const real = (prompt: string) => ({ prompt, dry: false });
			const rounds = [
				[dry('d1'), dry('d2')],
				[dry('d3'), dry('d4'), ...prompts(2).map(real)],
				[real('p3')],
			];
			const options = { maximumVideos: 3, dryRun: '={{ $json.dry }}' };
			expect((await loop(rounds, options)).status).toBe('success');
			expect(sent()).toStrictEqual(prompts(3));
		});

		test('an invalid item keeps its own error, and takes no place', async () => {
			const result = await create([...prompts(2), ' '], { maximumVideos: 2 }, CONTINUE);
			expect(result.outputs[0]).toHaveLength(2);
			expect(failedOf(result)).toStrictEqual(['Prompt is empty']);
		});

		test.each(LEDGERS)(
			'a creation that certainly failed gives its place back, an unknown outcome keeps it%s',
			async (_where, fails) => {
				service.tables.fails = fails;
				service.answers = { p1: REJECTED, p2: breakOff };
				const rounds = [['p1', 'p2'], ['p3'], ['p4']];
				const result = await loop(rounds, { maximumVideos: 2 }, CONTINUE);
				expect(sent()).toStrictEqual(['p1', 'p2', 'p3']);
				expect(shownOf(allItems(result, 'Create')[1])[2]).toBe(exceeded(2, 1, 2));
			},
		);

		test('Retry On Fail counts what it has created once, and what it has not reached not at all', async () => {
			service.answers = { p2: [STOPPED, STOPPED] };
			const more = { retryOnFail: true };
			const { status, outputs } = await create(prompts(3), { maximumVideos: 3 }, more);
			expect(status).toBe('success');
			expect(shownOf(outputs[0])).toStrictEqual(['task-p1', 'task-p2', 'task-p3']);
			expect(sent()).toStrictEqual(['p1', 'p2', 'p2', 'p2', 'p3']);
		});

		test('a second creation after an unknown outcome takes a second place', async () => {
			service.answers = { p1: [breakOff] };
			const options = { maximumVideos: 1, retryOutcomeUnknown: true };
			const { error } = await create(['p1'], options, { retryOnFail: true });
			expect(error!.message).toBe(exceeded(1, 1, 1));
			expect(sent()).toStrictEqual(['p1']);
		});
	});

	describe('the cost', () => {
		const SECONDS = { parameters: { duration: '={{ $json.seconds ?? 0 }}' } };
		const videos = (count: number, seconds: number) =>
			prompts(count).map((prompt) => ({ prompt, seconds }));
		const estimate = async (fields: IDataObject, price: unknown, parameters: IDataObject) => {
			const options = { pricePerSecond: price as string };
			const given = [{ prompt: 'p1', ...fields }];
			const more = { parameters: { ...SECONDS.parameters, ...parameters } };
			const { outputs, error } = await create(given, options, more);
			const dry = await create(given, { ...options, dryRun: true }, more);
			const { estimated_cost: cost } = outputs[0]?.[0]?.json ?? {};
			expect(dry.outputs[0]?.[0]?.json['estimated_cost']).toBe(cost);
			return error?.message ?? cost;
		};
		const VIDEO = {
			references: {
				file: [{ kind: 'video', source: 'url', url: 'https://example.com/a.mp4' }],
			},
		};

		test.each<[string, unknown, IDataObject, unknown, string?, IDataObject?]>([
			['the seconds that are sent', 0.1, { seconds: 10 }, 1],
			['the adjusted seconds', 0.1, { seconds: 7 }, 0.8, 'video-m7'],
			["the model's default where none is sent", 0.1, {}, 0.8, 'video-m7'],
			['a price that is text', '0.1', { seconds: 8 }, 0.8],
			['no floating point noise', 0.1, { seconds: 3 }, 0.3, 'video-m5'],
			['at most ten digits', 1 / 3, { seconds: 5 }, 1.666666667],
			['an unknown model with a duration', 0.1, { seconds: 6 }, 0.6, 'x'],
			['an unknown model without one: none', 0.1, {}, undefined, 'x'],
			['an edited video: none', 0.1, { seconds: 5 }, undefined, 'video-m5', VIDEO],
			['a reference video that is not edited', 0.1, {}, 0.5, 'video-m1', VIDEO],
			['the price 0: none', 0, { seconds: 5 }, undefined],
			['an empty price: none', '={{ $json.none }}', { seconds: 5 }, undefined],
		])('is estimated: %s', async (...row) => {
			const [, price, fields, expected, model = 'video-m1', more = {}] = row;
			expect(await estimate(fields, price, { model: byId(model), ...more })).toBe(expected);
		});

		test('can depend on the model and the size of each item', async () => {
			const items = [
				{ prompt: 'p1', model: 'video-m1', size: '720P' },
				{ prompt: 'p2', model: 'video-m1', size: '1080P' },
				{ prompt: 'p3', model: 'video-m8' },
			];
			const pricePerSecond =
				'={{ { "video-m1": $parameter.size === "1080P" ? 0.3 : 0.1 }[$parameter.model] }}';
			const parameters = { model: byId('={{ $json.model }}'), size: '={{ $json.size }}' };
			const { outputs } = await create(items, { pricePerSecond }, { parameters });
			const costs = outputs[0]!.map(({ json }) => json['estimated_cost']);
			expect(costs).toStrictEqual([0.5, 1.5, undefined]);
		});

		test('Maximum Cost is checked for all items before the first is sent', async () => {
			const options = { pricePerSecond: '={{ 0.1 }}', maximumCost: 2.5 };
			const { error } = await create(videos(3, 10), options, SECONDS);
			expect(error!.message).toBe(
				'Maximum Cost is 2.5. This run would cost 3, and this execution has cost 0 so far',
			);
			expect(error!.description).toMatch(/^Nothing was sent\. /);
			expect(sent()).toStrictEqual([]);
		});

		test('sums do not exceed Maximum Cost by floating point noise', async () => {
			const options = { pricePerSecond: 0.01, maximumCost: 0.3 };
			const { outputs } = await create(videos(3, 10), options, SECONDS);
			expect(outputs[0]).toHaveLength(3);
		});

		test('Maximum Cost counts over the rounds of a loop, without what certainly failed', async () => {
			service.answers = { p1: REJECTED };
			const rounds = prompts(4).map((prompt) => [{ prompt, seconds: 5 }]);
			const options = { pricePerSecond: '0.1', maximumCost: '1.2' };
			const result = await loop(rounds, options, CONTINUE);
			expect(sent()).toStrictEqual(['p1', 'p2', 'p3']);
			expect(shownOf(allItems(result, 'Create')[1])[1]).toBe(
				'Maximum Cost is 1.2. This run would cost 0.5, and this execution has cost 1 so far',
			);
		});

		const NO_PRICE = ['video-m1', 'Price per Second is not set', /Maximum Cost/] as const;
		const NO_LENGTH = 'Maximum Cost cannot be checked: the length of the video is unknown';
		test.each<[string, IDataObject, string, string, RegExp]>([
			['no price', {}, ...NO_PRICE],
			['the price 0', { pricePerSecond: 0 }, ...NO_PRICE],
			['an unknown length', { pricePerSecond: 1 }, 'x', NO_LENGTH, /Duration/],
		])('Maximum Cost fails with %s before anything is sent', async (...row) => {
			const [, options, model, message, hint] = row;
			const more = { parameters: { model: byId(model) } };
			const { error } = await create(prompts(2), { maximumCost: 5, ...options }, more);
			expect(error!.message).toBe(message);
			expect(error!.description).toMatch(hint);
			expect(sent()).toStrictEqual([]);
		});
	});

	describe('as a tool', () => {
		const calls = (count: number) => prompts(count).map((prompt) => [prompt]);

		test('five videos by default; certain failures do not count', async () => {
			service.answers = { p1: REJECTED, p2: REJECTED };
			const result = await loop(calls(9), {}, TOOL);
			const [created, failed] = allItems(result, 'Create');
			expect(created).toHaveLength(5);
			expect(sent()).toHaveLength(7);
			const message = 'Create no more videos now, and tell the user';
			const limited = { json: { error: exceeded(5, 1, 5), message, details: {} } };
			expect(failed!.slice(2)).toMatchObject([limited, limited]);
		});

		test.each([
			{ maximumVideos: 2 },
			{ maximumCost: 1.2, pricePerSecond: 0.1 },
			{ maximumVideos: 7, maximumCost: 1, pricePerSecond: 0.1 },
		])('the limits are options: %j', async (options) => {
			const result = await loop(calls(4), options, TOOL);
			expect(allItems(result, 'Create')[0]).toHaveLength(2);
			expect(sent()).toHaveLength(2);
		});

		test('an agent has always a limit', async () => {
			const { error } = await loop(calls(1), { maximumVideos: 0 }, { type: TOOL.type });
			expect(error!.message).toMatch(/^Maximum Videos is 0\. Enter a whole/);
		});
	});
});

describe('of a day or a month', () => {
	const MINUTE_MS = 60_000;
	const HOUR = 60;
	const DAY = 24 * HOUR;
	const LONGEST_PAUSE_MS = 1_000;
	/** In the middle of a month, at noon in UTC. */
	const NOW_MS = Date.UTC(2026, 5, 15, 12);
	let nowMs: number;

	beforeEach(() => {
		nowMs = NOW_MS;
		jest.spyOn(Date, 'now').mockImplementation(() => nowMs);
	});

	/** Runs the node in an execution of its own. */
	const create = async (
		items: Parameters<typeof service.create>[0],
		options: IDataObject,
		{ id = '11', ...more }: More & { readonly id?: string } = {},
	) =>
		await service.create(
			items,
			{ limitPeriod: 'day', ...options },
			{ timezone: 'UTC', ...another(id), ...more },
		);

	/** The row of a video that was paid for some minutes ago. */
	const paid = (minutes: number, more: IDataObject = {}) => ({
		task_id: `paid-${minutes}`,
		status: 'completed',
		sent_at: new Date(NOW_MS - minutes * MINUTE_MS).toISOString(),
		call: `call-${minutes}`,
		workflow_id: 'test',
		estimated_cost: 0.5,
		...more,
	});
	const insert = (...rows: readonly IDataObject[]) => {
		service.tables.insert(TASK_TABLE, ...rows);
	};

	const MONTH = { limitPeriod: 'month' };
	test.each<[string, IDataObject, number, string]>([
		['a video of today', {}, 11 * HOUR, 'this workflow has created 1 today'],
		['a video of this month', MONTH, 14 * DAY, 'this workflow has created 1 this month'],
		['nothing of last month', MONTH, 15 * DAY, ''],
		['nothing with the default period', { limitPeriod: 'execution' }, 1, ''],
	])('counts %s', async (_name, options, minutes, expected) => {
		insert(paid(minutes));
		const { error } = await create(['a', 'b'], { maximumVideos: 2, ...options });
		expect(error?.message ?? '').toMatch(expected === '' ? /^$/ : expected);
		expect(sent()).toHaveLength(expected === '' ? 2 : 0);
	});

	test('counts a request without an answer, whatever its day: a person decides about it', async () => {
		const lost = { status: 'sent', task_id: '' };
		insert(paid(1), paid(2 * DAY, lost), paid(3 * DAY, lost));
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

	const UNDER_WAY = { status: 'sent', task_id: '' };
	const CLAIM = { status: 'claimed', task_id: '' };
	test.each<[string, boolean, IDataObject[]]>([
		['a video that has failed', true, [paid(1, { status: 'failed' })]],
		['one under way whose clock is a year ahead', true, [paid(-365 * DAY, UNDER_WAY)]],
		['a call with its answer once', true, [paid(1, UNDER_WAY), paid(1)]],
		['a video of yesterday', false, [paid(13 * HOUR)]],
		['a claim', false, [paid(1, CLAIM)]],
		['a video of another workflow', false, [paid(1, { workflow_id: 'another' })]],
		['one that a person set to failed', false, [paid(1, { status: 'failed', task_id: '' })]],
	])('%s counts: %s', async (_name, isCounted, rows) => {
		insert(...rows);
		const { outputs } = await create(['a', 'b'], { maximumVideos: 2 }, CONTINUE);
		expect([0, 1].flatMap((output) => shownOf(outputs[output]))).toStrictEqual(
			isCounted ? Array(2).fill(exceededToday(2, 2, 1)) : ['task-a', 'task-b'],
		);
	});

	const many = (count: number) =>
		Array.from({ length: count }, (_, index) =>
			paid(1, { call: `c${index}`, task_id: `t${index}` }),
		);
	const change = (call: string, cells: IDataObject) => {
		service.tables.edit((row) => row['call'] === call, cells);
	};
	test.each<[string, IDataObject[], number, () => void, number | undefined]>([
		[
			'what others add counts, also behind a row under way',
			[paid(1), paid(2, UNDER_WAY), paid(3)],
			6,
			() => {
				change('call-2', { status: 'completed', task_id: 't' });
				insert(paid(4), paid(5));
			},
			6,
		],
		[
			'a claim before several pages counts that has become a call',
			[paid(1, CLAIM), ...many(1_100)],
			1_102,
			() => {
				change('call-1', { status: 'sent' });
			},
			1_102,
		],
		[
			'what has failed counts no longer',
			[paid(1, UNDER_WAY), ...many(60)],
			63,
			() => {
				change('call-1', { status: 'failed' });
				insert(paid(2));
			},
			undefined,
		],
	])('between two creations %s', async (_name, rows, maximumVideos, happens, count) => {
		insert(...rows);
		service.onRequest = (prompt) => {
			if (prompt === 'a') happens();
		};
		const result = await create(['a', 'b'], { maximumVideos, ...SERIAL }, CONTINUE);
		expect(failedOf(result)).toStrictEqual(
			count === undefined ? [] : [exceededToday(maximumVideos, 1, count)],
		);
	});

	test('the day begins in the timezone of the workflow', async () => {
		// At noon in UTC it is 21:00 in Tokyo and 02:00 in Honolulu.
		insert(paid(11.5 * HOUR), paid(13 * HOUR), paid(22 * HOUR));
		const options = { maximumVideos: 1 };
		const inTokyo = await create(['a'], options, { timezone: 'Asia/Tokyo' });
		expect(inTokyo.error!.message).toContain('has created 2 today');
		const inHonolulu = await create(['a'], options, { timezone: 'Pacific/Honolulu' });
		expect(inHonolulu.status).toBe('success');
	});

	test('counts its own videos once, over executions and tools', async () => {
		const options = { maximumVideos: 3 };
		await create(['a', 'b'], options);
		await create(['c'], options, { ...TOOL, id: '12' });
		const result = await create(['d'], options, { ...TOOL, id: '13' });
		expect(failedOf(result)).toStrictEqual([exceededToday(3, 1, 3)]);
		expect(sent()).toStrictEqual(['a', 'b', 'c']);
	});

	test('counts no video that a key has already', async () => {
		const options = { maximumVideos: 2, ...KEYED };
		await create(['a', 'b'], options);
		const { status } = await create(['a', 'b'], options, { id: '12' });
		expect(status).toBe('success');
		const third = await create(['b', 'c'], options, { id: '13' });
		expect(third.error!.message).toContain('This run would create 1, ');
		expect(sent()).toStrictEqual(['a', 'b']);
	});

	test('Maximum Cost is the sum of the estimated costs', async () => {
		const options = { maximumCost: 1.5, pricePerSecond: 0.1 };
		insert(paid(1), paid(2));
		expect((await create(['a'], options)).status).toBe('success');
		const { error } = await create(['b'], options, { id: '12' });
		expect(error!.message).toBe(
			'Maximum Cost is 1.5. This run would cost 0.5, and this workflow has cost 1.5 today',
		);
		expect(sent()).toStrictEqual(['a']);
	});

	test('Maximum Cost cannot be checked beside a video of unknown cost', async () => {
		await create(['a'], {}, { execution: { id: '11', token: 'token-1' } });
		const options = { maximumCost: 1.5, pricePerSecond: 0.1 };
		// A Retry that has nothing left to send goes on.
		expect((await create(['a'], options, retryAs('12'))).status).toBe('success');
		const { error } = await create(['b'], options, { id: '13' });
		expect(error!.message).toBe(
			'Maximum Cost cannot be checked: 1 video of this workflow today has no estimated cost',
		);
		expect(error!.description).toContain('enter estimated_cost in their rows');
		expect(sent()).toStrictEqual(['a']);
		expect((await create(['c'], { maximumVideos: 5 }, { id: '14' })).status).toBe('success');
	});

	describe('with executions at the same time', () => {
		/** The pauses in which an execution waits for another one end at once. */
		beforeEach(() => {
			const start = setTimeout;
			jest.spyOn(globalThis, 'setTimeout').mockImplementation((work: () => void, ms = 0) =>
				start(work, ms > LONGEST_PAUSE_MS ? ms : 0),
			);
		});

		const ALL_GO_ON = Array<string>(3).fill('success');
		const ONE_FAILS = ['error', 'success', 'success'];
		test.each<[string, number, number, IDataObject, number[], string[]]>([
			['do not exceed it together, and use it', 3, 7, {}, [6, 7], ONE_FAILS],
			['do so with keys', 3, 7, KEYED, [6, 7], ONE_FAILS],
			['do so where each takes what fits', 3, 7, { takeWhatFits: true }, [7], ALL_GO_ON],
			['go on where all fit', 2, 6, {}, [6], ALL_GO_ON],
		])('they %s', async (_name, size, maximumVideos, more, counts, expected) => {
			const runs = ['20', '21', '22'].map(
				async (id) =>
					await create(prompts(size, `${id}-`), { maximumVideos, ...more }, { id }),
			);
			const statuses = (await Promise.all(runs)).map(({ status }) => status);
			expect(statuses.sort()).toStrictEqual(expected);
			expect(counts).toContain(sent().length);
			expect(claimed()).toStrictEqual([]);
		});

		test('the error of a later group does not say that nothing was sent', async () => {
			service.onRequest = () => {
				insert(paid(1), paid(2));
			};
			const { error } = await create(['a', 'b'], { maximumVideos: 3, ...SERIAL });
			expect(sent()).toStrictEqual(['a']);
			expect(error!.message).toContain('1 of 2 videos failed');
			expect(error!.description).toMatch(
				/^This item was not sent, others were\. Use fewer items, raise Maximum Videos/,
			);
		});
	});

	test('a creation that certainly fails gives its place back, and so does one that is not reached', async () => {
		service.answers = { a: STOPPED };
		const options = { maximumVideos: 2, ...SERIAL };
		expect((await create(['a', 'b'], options)).status).toBe('error');
		expect(sent()).toStrictEqual(['a']);
		expect((await create(['c', 'd'], options, { id: '12' })).status).toBe('success');
	});

	test('a dry run is compared with the limit, and leaves no row', async () => {
		insert(paid(1));
		const options = { maximumVideos: 2, dryRun: true };
		expect((await create(['a'], options)).status).toBe('success');
		const { error } = await create(['a', 'b'], options, { id: '12' });
		expect(error!.message).toBe(exceededToday(2, 2, 1));
		expect(service.tables.rows).toHaveLength(1);
	});

	test.each<[string, IDataObject, () => void, RegExp]>([
		['the ledger is off', { taskLedger: false }, () => undefined, /: Task Ledger is off$/],
		['the ledger cannot be used', {}, () => (service.tables.disabled = true), /n8n 2/],
		['the row of a call is lost', {}, () => (service.tables.fails = FULL), /the table is full/],
	])('nothing is sent where %s', async (_name, options, prepare, why) => {
		prepare();
		const { error } = await create(['a'], { maximumVideos: 5, ...options });
		expect(error!.message).toMatch(/^Limit Period cannot be kept: /);
		expect(error!.message).toMatch(why);
		expect(error!.description).toMatch(/^Nothing was sent\. /);
		expect(sent()).toStrictEqual([]);
	});

	describe('a batch over midnight', () => {
		const MIDNIGHT_MS = Date.UTC(2026, 5, 16);
		const batch = (name: string) => prompts(6, `${name}-`);

		beforeEach(() => {
			nowMs = MIDNIGHT_MS - MINUTE_MS;
		});

		test.each([{}, SERIAL, KEYED])(
			'does not exceed the limit of the next day with the schedule of midnight: %j',
			async (more) => {
				const options = { maximumVideos: 6, takeWhatFits: true, ...more };
				let next: Promise<RunResult> | undefined;
				service.onRequest = (prompt) => {
					if (prompt !== 'evening-3') return;
					nowMs = MIDNIGHT_MS + MINUTE_MS;
					next = create(batch('night'), options, { id: '12' });
				};
				expect((await create(batch('evening'), options)).status).toBe('success');
				expect((await next!).status).toBe('success');
				expect((await create(batch('day'), options, { id: '13' })).status).toBe('success');
				const ofDay = (day: string) =>
					service.tables.rows.filter((row) => String(row['sent_at']).startsWith(day));
				expect(ofDay('2026-06-16')).toHaveLength(6);
				expect(ofDay('2026-06-15')).toHaveLength(sent().length - 6);
			},
		);

		test('counts what is under way on both days', async () => {
			const options = { maximumVideos: 6, ...SERIAL };
			let night: RunResult | undefined;
			service.onRequest = async (prompt) => {
				if (prompt !== 'evening-6') return;
				nowMs = MIDNIGHT_MS + MINUTE_MS;
				night = await create(batch('night'), options, { id: '12' });
			};
			await create(batch('evening'), options);
			expect(night!.error!.message).toBe(exceededToday(6, 6, 1));
			expect(sent()).toStrictEqual(batch('evening'));
			const later = await create(batch('day'), options, { id: '13' });
			expect(later.status).toBe('success');
		});
	});

	test('an execution counts a failed try, a killed retry and another one once', async () => {
		const nine = prompts(9);
		const limit = { maximumVideos: 6, takeWhatFits: true, ...SERIAL };
		const options = { ...limit, limitPeriod: 'execution' };
		const of = (id: string) => retryAs(id).execution;
		service.answers = { p3: [STOPPED] };
		const failed = await create(nine, options, { execution: { id: '11', token: 'token-1' } });
		expect(failed.status).toBe('error');
		await service.runKilledAt('p4', async () => await failed.resume(of('12')));

		const more = { execution: of('13'), ...CONTINUE };
		const result = await create(nine, options, more);
		// What was under way at the kill is unknown, and counts.
		expect(sent()).toStrictEqual(['p5', 'p6']);
		expect(shownOf(result.outputs[0])).toStrictEqual([
			...['task-p1', 'task-p2', 'task-p3', 'task-p5', 'task-p6'],
			...['limit', 'limit', 'limit'],
		]);
		expect(failedOf(result)).toStrictEqual([expect.stringMatching(/^An earlier try was/)]);
	});

	describe('Take What Fits', () => {
		const FITS = { maximumVideos: 2, takeWhatFits: true };

		/** Creates videos and waits for them in the next node. */
		async function createAndWait(options: IDataObject, parameters: IDataObject = {}) {
			const wait = { taskId: '={{ $json.task_id }}', download: false };
			const all = parametersOf({ limitPeriod: 'day', ...options }, parameters);
			return await service.flow(
				[
					packageNode('Create', 'createVideo', { parameters: all }),
					packageNode('Wait', 'waitForVideo', { parameters: wait }),
				],
				{ Create: [['Wait']] },
				['a', 'b', 'c', 'd', 'e'],
				{ timezone: 'UTC' },
			);
		}

		test('Wait for Video waits for what was sent beside dry runs', async () => {
			const dry = { dryRun: '={{ $json.prompt === "b" }}' };
			const result = await createAndWait(dry);
			expect(result.status).toBe('success');
			const tasks = ['task-a', 'task-c', 'task-d', 'task-e'];
			expect(shownOf(allItems(result, 'Wait')[0])).toStrictEqual(tasks);
		});

		test.each(['stopWorkflow', 'continueErrorOutput'] as const)(
			'sends the items that fit, the others leave without a task: %s',
			async (onError) => {
				insert(paid(1));
				const three = { ...FITS, maximumVideos: 3 };
				const { status, outputs } = await create(['a', 'b', 'c', 'd'], three, { onError });
				expect(status).toBe('success');
				expect(outputs[1] ?? []).toStrictEqual([]);
				expect(shownOf(outputs[0])).toStrictEqual(['task-a', 'task-b', 'limit', 'limit']);
				expect(outputs[0]![3]!.json).toMatchObject({
					task_id: '',
					request: { prompt: 'd' },
				});
				expect(sent()).toStrictEqual(['a', 'b']);
			},
		);

		test('is tried by a dry run', async () => {
			const { status, outputs } = await create(['a', 'b', 'c'], { ...FITS, dryRun: true });
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

		const left = { maximumVideos: '={{ $json.max }}', takeWhatFits: true };
		test('sends nothing where the smallest limit is reached, whichever item has it', async () => {
			const given = [3, 0, 3].map((max) => ({ prompt: `p${max}`, max }));
			const { outputs } = await create(given, left);
			expect(shownOf(outputs[0])).toStrictEqual(['limit', 'limit', 'limit']);
			expect(sent()).toStrictEqual([]);
		});

		test('a retry has the videos that exist, though nothing is left', async () => {
			await create([{ prompt: 'a', max: 1 }], left);
			const given = ['a', 'b'].map((prompt) => ({ prompt, max: 0 }));
			const execution = { id: '12', token: 'token of 11', isRetry: true };
			const { outputs } = await create(given, left, { execution });
			expect(shownOf(outputs[0])).toStrictEqual(['task-a', 'limit']);
		});

		test('takes the rest on the next day', async () => {
			const keyed = { ...FITS, ...KEYED };
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
				const result = await createAndWait(FITS, { waitUntilFinished, download: false });
				expect(result.status).toBe('success');
				const [completed, failed = []] = allItems(result, 'Wait');
				const statuses = completed!.map(({ json: { status } }) => status);
				expect(statuses.slice(0, 2)).toStrictEqual(['completed', 'completed']);
				const reasons = failed.map(({ json: { reason } }) => reason);
				expect(reasons).toStrictEqual(Array(3).fill('limit'));
				expect(sent()).toStrictEqual(['a', 'b']);
				expect(result.hints).toContainEqual(
					'3 items were not sent, because of Maximum Videos or Maximum Cost. See "reason" in the output.',
				);
				expect(result.hints).toContainEqual(
					'3 items without a task, which Create Video has not sent',
				);
			},
		);
	});
});
