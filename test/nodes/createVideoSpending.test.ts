import type { IDataObject } from 'n8n-workflow';

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
import { json, serverForEach, type Script } from '../support/scriptedServer';

type Response = Parameters<Script>[0];
type Options = Pick<RunOptions, 'parameters' | 'onError' | 'retryOnFail'>;

/** Failures of the first creations, by prompt. */
let failures: Record<string, ((response: Response) => void)[]>;
/** Number of tasks so far. */
let created: number;

const server = serverForEach((response, { body }) => {
	const { prompt, model } = body as { prompt: string; model: string };
	const fail = failures[prompt]?.shift();
	if (fail !== undefined) fail(response);
	else json(response, 200, { task_id: `task-${(created += 1)}`, status: 'queued', model });
});

beforeEach(() => {
	failures = {};
	created = 0;
});

const reject = (response: Response) => {
	json(response, 400, { error: { message: 'bad', type: 'x' } });
};
/** Stops the others as well. */
const stop = (response: Response) => {
	json(response, 401, { error: { message: 'bad', type: 'x' } });
};
const breakOff = (response: Response) => {
	response.destroy();
};

const byId = (value: string) => ({ __rl: true, mode: 'id', value });
const items = (count: number, more: IDataObject = {}) =>
	Array.from({ length: count }, (_, index) => ({ prompt: `p${index + 1}`, ...more }));

function parametersWith(options: IDataObject, more: IDataObject = {}): IDataObject {
	return {
		model: byId('video-m1'),
		prompt: '={{ $json.prompt }}',
		duration: '={{ $json.seconds ?? 0 }}',
		// For a tool its default is $fromAI, which a loop of the workflow has no values for.
		aspectRatio: '',
		waitUntilFinished: false,
		...more,
		options: { retries: 0, concurrency: 1, ...options },
	};
}

async function create(given: readonly IDataObject[], options: IDataObject, more: Options = {}) {
	const { parameters, ...others } = more;
	return await runNode('createVideo', {
		credential: { baseUrl: server.url, apiKey: 'k' },
		items: given,
		parameters: parametersWith(options, parameters),
		...others,
	});
}

/** Runs the node once for each list of items, in one execution. */
async function loop(
	rounds: readonly (readonly IDataObject[])[],
	options: IDataObject,
	{
		type = 'createVideo',
		tables = dataTables(),
		...more
	}: Options & { readonly type?: string; readonly tables?: DataTables } = {},
): Promise<RunResult> {
	let round = 0;
	const next = stubNode('Next', (input) => {
		round += 1;
		const given = rounds[round];
		return given === undefined
			? [[], input]
			: given.map((fields, item) => ({ json: fields, pairedItem: { item } }));
	});
	return await runWorkflow(
		[packageNode('Create', type, { ...more, parameters: parametersWith(options) }), next],
		{ Create: [['Next'], ['Next']], Next: [['Create'], []] },
		'Create',
		{ credential: { baseUrl: server.url, apiKey: 'k' }, items: rounds[0]!, tables },
	);
}

const errorsOf = (outputs: RunResult['outputs']) =>
	outputs.flat().flatMap(({ json: { error } }) => (error === undefined ? [] : [error]));
/** What each item has: its task, or why it has none. */
const allOf = (outputs: RunResult['outputs']) =>
	outputs.flat().map(({ json: { task_id, reason, error } }) => error ?? reason ?? task_id);
const sent = () => server.requests.map(({ body }) => (body as { prompt: string }).prompt);

describe('request', () => {
	test('the output says what was really sent, as a dry run does', async () => {
		const more = { parameters: { model: byId('video-m7') } };
		const { outputs } = await create(items(1, { seconds: 7 }), {}, more);
		const dry = await create(items(1, { seconds: 7 }), { dryRun: true }, more);
		const { request, adjustments } = outputs[0]![0]!.json;
		expect(request).toStrictEqual(server.requests[0]!.body);
		expect(adjustments).toHaveLength(1);
		expect(dry.outputs[0]![0]!.json).toMatchObject({ request, adjustments });
		expect(server.requests).toHaveLength(1);
	});

	test('Retry On Fail does not pay again where an expression gives something else', async () => {
		failures = { p2: [reject] };
		const { error } = await create(
			items(2),
			{},
			{ retryOnFail: true, parameters: { model: byId('x'), size: '={{ Math.random() }}' } },
		);
		expect(error).toMatchObject({
			message: expect.stringMatching(
				/^Prompt is the prompt "p1" .* was the prompt "p1" .* in the earlier try/,
			) as string,
			description: expect.stringContaining('execute the workflow again') as string,
		});
		expect(sent()).toStrictEqual(['p1', 'p2']);
	});

	test("an agent's model gets the task without the request", async () => {
		const { outputs } = await runNode('createVideoTool', {
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: items(1),
			parameters: parametersWith({}),
		});
		expect(outputs[0]![0]!.json).toStrictEqual({
			task_id: 'task-1',
			status: 'queued',
			model: 'video-m1',
		});
	});
});

describe('estimated_cost', () => {
	const estimate = async (fields: IDataObject, price: unknown, parameters: IDataObject = {}) => {
		const options = { pricePerSecond: price as string };
		const given = [{ prompt: 'p1', ...fields }];
		const { outputs, error } = await create(given, options, { parameters });
		const dry = await create(given, { ...options, dryRun: true }, { parameters });
		const { estimated_cost: cost } = outputs[0]?.[0]?.json ?? {};
		expect(dry.outputs[0]?.[0]?.json['estimated_cost']).toBe(cost);
		return error?.message ?? cost;
	};
	const video = {
		references: { file: [{ kind: 'video', source: 'url', url: 'https://example.com/a.mp4' }] },
	};

	test.each<[string, unknown, IDataObject, unknown, IDataObject?]>([
		['the seconds that are sent', 0.1, { seconds: 10 }, 1],
		['the adjusted seconds', 0.1, { seconds: 7 }, 0.8, { model: byId('video-m7') }],
		["the model's default where none is sent", 0.1, {}, 0.8, { model: byId('video-m7') }],
		['a price that is text', '0.1', { seconds: 8 }, 0.8],
		['no floating point noise', 0.1, { seconds: 3 }, 0.3, { model: byId('video-m5') }],
		['at most ten digits', 1 / 3, { seconds: 5 }, 1.666666667],
		['an unknown model with a duration', 0.1, { seconds: 6 }, 0.6, { model: byId('x') }],
		['an unknown model without one: none', 0.1, {}, undefined, { model: byId('x') }],
		[
			'an edited video: none',
			0.1,
			{ seconds: 5 },
			undefined,
			{ model: byId('video-m5'), ...video },
		],
		[
			'a reference video that is not edited',
			0.1,
			{},
			0.5,
			{ model: byId('video-m1'), ...video },
		],
		['the price 0: none', 0, { seconds: 5 }, undefined],
		['an empty price: none', '={{ $json.none }}', { seconds: 5 }, undefined],
		['a negative price', -1, {}, 'Price per Second is -1'],
		['a price that is no number', '0,1', {}, 'Price per Second is 0,1'],
	])('%s', async (_name, price, fields, expected, parameters = {}) => {
		expect(await estimate(fields, price, parameters)).toBe(expected);
	});

	test('the price can depend on the model and the size of each item', async () => {
		const { outputs } = await create(
			[
				{ prompt: 'p1', model: 'video-m1', size: '720P' },
				{ prompt: 'p2', model: 'video-m1', size: '1080P' },
				{ prompt: 'p3', model: 'video-m8' },
			],
			{
				pricePerSecond:
					'={{ { "video-m1": $parameter.size === "1080P" ? 0.3 : 0.1 }[$parameter.model] }}',
			},
			{
				parameters: {
					model: byId('={{ $json.model }}'),
					size: '={{ $json.size }}',
				},
			},
		);
		expect(outputs[0]!.map(({ json: { estimated_cost: cost } }) => cost)).toStrictEqual([
			0.5,
			1.5,
			undefined,
		]);
	});
});

describe('Maximum Videos', () => {
	test.each([{}, { dryRun: true }])(
		'200 items and a limit of 5 %j: none is sent',
		async (dry) => {
			const { error } = await create(items(200), { maximumVideos: 5, ...dry });
			expect(error).toMatchObject({
				name: 'NodeOperationError',
				message:
					'Maximum Videos is 5. This run would create 200, and this execution has created 0 so far',
				description: expect.stringMatching(
					/^Nothing was sent\. .*Maximum Videos/,
				) as string,
			});
			expect(sent()).toHaveLength(0);
		},
	);

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'with %s every item fails, and none is sent',
		async (onError) => {
			const { outputs } = await create(items(3), { maximumVideos: 2 }, { onError });
			expect(errorsOf(outputs)).toHaveLength(3);
			expect(errorsOf(outputs)[2]).toMatch(
				/^Maximum Videos is 2\. This run would create 3, /,
			);
			expect(sent()).toHaveLength(0);
		},
	);

	test.each([{}, { maximumVideos: 0 }, { maximumVideos: '0' }])(
		'%j is no limit',
		async (options) => {
			const { outputs } = await create(items(7), options);
			expect(outputs[0]).toHaveLength(7);
		},
	);

	test.each([0, -1, -0.5])('%d from an expression means that nothing is left', async (left) => {
		const given = items(2, { left });
		for (const options of [
			{ maximumVideos: '={{ $json.left }}' },
			{ maximumCost: '={{ $json.left }}', pricePerSecond: 0.1 },
		]) {
			const { error } = await create(given, options);
			expect(error!.message).toMatch(/^Maximum (Videos|Cost) is 0\. This run would c/);
			const fitting = await create(given, { ...options, takeWhatFits: true });
			expect(allOf(fitting.outputs)).toStrictEqual(['limit', 'limit']);
		}
		expect(sent()).toHaveLength(0);
	});

	test('as many as the limit are created', async () => {
		const { outputs } = await create(items(5), { maximumVideos: 5 });
		expect(outputs[0]).toHaveLength(5);
	});

	test('the smallest value holds where the items have different ones', async () => {
		const given = [{ max: 9 }, { max: 1 }, { max: 2 }].map((each) => ({
			prompt: 'p',
			...each,
		}));
		const { error } = await create(given, { maximumVideos: '={{ $json.max }}' });
		expect(error!.message).toMatch(/^Maximum Videos is 1\. This run would create 3, /);
		expect(sent()).toHaveLength(0);
	});

	test('it counts over the rounds of a loop', async () => {
		const rounds = Array.from({ length: 9 }, () => items(2));
		const { run } = await loop(rounds, { maximumVideos: 5 });
		expect(run.data.resultData.error).toMatchObject({
			message:
				'Maximum Videos is 5. This run would create 2, and this execution has created 4 so far',
		});
		expect(sent()).toHaveLength(4);
	});

	test('it counts over the rounds of a loop where the ledger takes no rows', async () => {
		const tables = dataTables();
		tables.fails = (operation) => (operation === 'insert' ? 'the table is full' : undefined);
		const rounds = Array.from({ length: 4 }, () => items(2));
		const { run } = await loop(rounds, { maximumVideos: 5 }, { tables });
		expect(run.data.resultData.error!.message).toMatch(/has created 4 so far$/);
		expect(sent()).toHaveLength(4);
	});

	test('dry runs take no place', async () => {
		const dry = (prompt: string) => ({ prompt, dry: true });
		const real = (prompt: string) => ({ prompt, dry: false });
		const { status } = await loop(
			[[dry('d1'), dry('d2')], [dry('d3'), dry('d4'), real('p1')], [real('p2')]],
			{
				maximumVideos: 2,
				dryRun: '={{ $json.dry }}',
			},
		);
		expect(status).toBe('success');
		expect(sent()).toStrictEqual(['p1', 'p2']);
	});

	test('dry runs take no place beside videos that are sent in groups', async () => {
		const dry = [true, true, false, false, false, false].map((isDry) => ({
			isDry,
			prompt: 'p',
		}));
		const { status } = await create(dry, {
			maximumVideos: 4,
			dryRun: '={{ $json.isDry }}',
			concurrency: 1,
		});
		expect(status).toBe('success');
		expect(sent()).toHaveLength(4);
	});

	test('an invalid item keeps its own error, and takes no place', async () => {
		const given = [...items(2), { prompt: ' ' }];
		const { outputs } = await create(
			given,
			{ maximumVideos: 2 },
			{ onError: 'continueErrorOutput' },
		);
		expect(outputs[0]).toHaveLength(2);
		expect(errorsOf(outputs)).toStrictEqual(['Prompt is empty']);
	});

	test('a creation that certainly failed gives its place back, an unknown outcome keeps it', async () => {
		failures = { p1: [reject], p2: [breakOff] };
		const result = await loop(
			[items(2), [{ prompt: 'p3' }], [{ prompt: 'p4' }]],
			{ maximumVideos: 2 },
			{ onError: 'continueErrorOutput' },
		);
		expect(sent()).toStrictEqual(['p1', 'p2', 'p3']);
		expect(errorsOf([allItems(result, 'Create')[1]!])[2]).toMatch(
			/^Maximum Videos is 2\. This run would create 1, and this execution has created 2 so far/,
		);
	});

	test('Retry On Fail counts what it has created once, and what it has not reached not at all', async () => {
		failures = { p2: [stop, stop] };
		const { status, outputs } = await create(
			items(3),
			{ maximumVideos: 3 },
			{ retryOnFail: true },
		);
		expect(status).toBe('success');
		expect(outputs[0]).toHaveLength(3);
		expect(sent()).toStrictEqual(['p1', 'p2', 'p2', 'p2', 'p3']);
	});

	test('a second creation after an unknown outcome takes a second place', async () => {
		failures = { p1: [breakOff] };
		const { error } = await create(
			items(1),
			{ maximumVideos: 1, retryOutcomeUnknown: true },
			{ retryOnFail: true },
		);
		expect(error!.message).toMatch(
			/^Maximum Videos is 1\. This run would create 1, and this execution has created 1 so far/,
		);
		expect(sent()).toStrictEqual(['p1']);
	});
});

describe('Maximum Cost', () => {
	test('is checked for all items before the first is sent', async () => {
		const { error } = await create(items(3, { seconds: 10 }), {
			pricePerSecond: '={{ 0.1 }}',
			maximumCost: 2.5,
		});
		expect(error).toMatchObject({
			message:
				'Maximum Cost is 2.5. This run would cost 3, and this execution has cost 0 so far',
			description: expect.stringMatching(/^Nothing was sent\. /) as string,
		});
		expect(sent()).toHaveLength(0);
	});

	test('sums do not exceed it by floating point noise', async () => {
		const { outputs } = await create(items(3, { seconds: 10 }), {
			pricePerSecond: 0.01,
			maximumCost: 0.3,
		});
		expect(outputs[0]).toHaveLength(3);
	});

	test('it counts over the rounds of a loop, without what certainly failed', async () => {
		failures = { p1: [reject] };
		const rounds = [1, 2, 3, 4].map((round) => [{ prompt: `p${round}`, seconds: 5 }]);
		const options = { pricePerSecond: '0.1', maximumCost: '1.2' };
		const result = await loop(rounds, options, { onError: 'continueErrorOutput' });
		expect(sent()).toStrictEqual(['p1', 'p2', 'p3']);
		expect(errorsOf([allItems(result, 'Create')[1]!])[1]).toMatch(
			/^Maximum Cost is 1\.2\. This run would cost 0\.5, and this execution has cost 1 so far/,
		);
	});

	test.each<[string, IDataObject, IDataObject, string, RegExp]>([
		['no price', {}, {}, 'Price per Second is not set', /Maximum Cost/],
		['the price 0', { pricePerSecond: 0 }, {}, 'Price per Second is not set', /Maximum Cost/],
		[
			'an unknown length',
			{ pricePerSecond: 1 },
			{ model: byId('x') },
			'Maximum Cost cannot be checked: the length of the video is unknown',
			/Duration/,
		],
	])('with %s it fails before anything is sent', async (_name, options, more, message, hint) => {
		const { error } = await create(
			items(2),
			{ maximumCost: 5, ...options },
			{ parameters: more },
		);
		expect(error).toMatchObject({
			message,
			description: expect.stringMatching(hint) as string,
		});
		expect(sent()).toHaveLength(0);
	});
});

describe('as a tool', () => {
	const calls = (count: number) => items(count).map((item) => [item]);
	const tool = { type: 'createVideoTool', onError: 'continueErrorOutput' } as const;

	test('five videos in an execution by default; certain failures do not count', async () => {
		failures = { p1: [reject], p2: [reject] };
		const result = await loop(calls(9), {}, tool);
		const [created, failed] = allItems(result, 'Create');
		expect(created).toHaveLength(5);
		expect(sent()).toHaveLength(7);
		expect(failed!.slice(2).map(({ json: fields }) => fields)).toMatchObject(
			Array.from({ length: 2 }, () => ({
				error: 'Maximum Videos is 5. This run would create 1, and this execution has created 5 so far',
				message: 'Create no more videos now, and tell the user',
				details: {},
			})),
		);
	});

	test.each([
		{ maximumVideos: 2 },
		{ maximumCost: 1.2, pricePerSecond: 0.1 },
		{ maximumVideos: 7, maximumCost: 1, pricePerSecond: 0.1 },
	])('the limits are options: %j', async (options) => {
		const result = await loop(calls(4), options, tool);
		expect(allItems(result, 'Create')[0]).toHaveLength(2);
		expect(sent()).toHaveLength(2);
	});

	test('an agent has always a limit', async () => {
		const { run } = await loop(calls(1), { maximumVideos: 0 }, { type: tool.type });
		expect(run.data.resultData.error!.message).toMatch(/^Maximum Videos is 0\. Enter a whole/);
	});
});

test('an invalid item stops the node before the first is sent', async () => {
	const { error } = await create([...items(2), { prompt: '' }], {});
	expect(error!.message).toBe('Prompt is empty');
	expect(sent()).toHaveLength(0);
});
