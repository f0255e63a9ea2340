import type { IDataObject, INode } from 'n8n-workflow';

import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
} from '../support/engine';
import { json, serverForEach, type Script } from '../support/scriptedServer';
import { FAILURE } from '../support/failureTexts';

type Response = Parameters<Script>[0];

/** Failures of the first creations, by prompt. */
let failures: Record<string, ((response: Response) => void)[]>;
let created: Record<string, number>;

const promptOf = (body: unknown) => (body as { prompt: string }).prompt;

const server = serverForEach((response, { body }) => {
	const prompt = promptOf(body);
	const fail = failures[prompt]?.shift();
	if (fail !== undefined) fail(response);
	else {
		const count = (created[prompt] = (created[prompt] ?? 0) + 1);
		const task_id = [`task-${prompt}`, ...(count > 1 ? [count] : [])].join(' ');
		json(response, 200, { task_id, status: 'queued', model: 'video-x' });
	}
});

beforeEach(() => {
	failures = {};
	created = {};
});

const status = (code: number) => (response: Response) => {
	json(response, code, { error: { message: 'not now', type: 'x' } });
};
const breakOff = (response: Response) => {
	response.destroy();
};

/** Without retries of the node itself, so that only n8n's Retry On Fail sends again. */
const NO_RETRIES = { retries: 0 };
const PARAMETERS = {
	model: { __rl: true, mode: 'id', value: 'video-x' },
	prompt: '={{ $json.prompt }}',
	waitUntilFinished: false,
	options: NO_RETRIES,
};

async function create(prompts: readonly string[], more: Partial<RunOptions> = {}) {
	return await runNode('createVideo', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		items: prompts.map((prompt) => ({ prompt })),
		parameters: {
			...PARAMETERS,
			...more.parameters,
			options: { ...NO_RETRIES, ...(more.parameters?.['options'] as IDataObject) },
		},
		...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'parameters')),
	});
}

/** Number of requests for each prompt. */
function sent(): Record<string, number> {
	const counts: Record<string, number> = {};
	for (const { body } of server.requests) {
		counts[promptOf(body)] = (counts[promptOf(body)] ?? 0) + 1;
	}
	return counts;
}

const ids = (items: readonly { json: IDataObject }[] | undefined) =>
	items?.map(({ json: { task_id: taskId } }) => taskId);

describe('Retry On Fail', () => {
	test('keeps the created tasks when the third creation fails', async () => {
		failures = { p3: [status(429), status(429)] };
		const { status: end, outputs } = await create(['p1', 'p2', 'p3'], { retryOnFail: true });
		expect(end).toBe('success');
		expect(ids(outputs[0])).toStrictEqual(['task-p1', 'task-p2', 'task-p3']);
		expect(sent()).toStrictEqual({ p1: 1, p2: 1, p3: 3 });
	});

	test('rejects to send anything else where an expression returns another value on each try', async () => {
		failures = { p2: [status(429)] };
		const parameters = { size: '={{ Math.random() }}' };
		const { error } = await create(['p1', 'p2'], { parameters, retryOnFail: true });
		expect(error!.message).toMatch(
			/^Prompt is .*"p1" .*, and was .*"p1" .* in the earlier try/,
		);
		expect(sent()).toStrictEqual({ p1: 1, p2: 1 });
	});

	test('reports the adjustments again', async () => {
		failures = { p2: [status(429)] };
		const parameters = { model: { __rl: true, mode: 'id', value: 'video-m7' }, duration: 7 };
		const { outputs, run } = await create(['p1', 'p2'], { parameters, retryOnFail: true });
		expect(outputs[0]![0]!.json).toMatchObject({ adjustments: [{ field: 'duration', to: 8 }] });
		expect(run.data.resultData.runData['Tested']![0]!.hints![0]!.message).toMatch(
			/^The duration was adjusted in 2 items/,
		);
	});

	test('does not repeat a creation whose outcome is unknown', async () => {
		failures = { p3: [status(503)] };
		const { status: end, error } = await create(['p1', 'p2', 'p3'], { retryOnFail: true });
		expect(end).toBe('error');
		expect(sent()).toStrictEqual({ p1: 1, p2: 1, p3: 1 });
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode: '503',
			message: `1 of 3 videos failed: item 2 (${FAILURE.unavailable}; the task may have been created). 2 have gone on: task-p1, task-p2. Retry does not send again what may exist, and costs nothing: look for it at the service first`,
			context: { data: { kind: 'http', status: 503, outcome_unknown: true } },
		});
		expect(error!.description).toMatch(/First check whether the service has the task/);
		expect(error!.description).toMatch(/Tasks still generating: task-p1, task-p2/);
	});

	test('repeats it with the option Retry If Outcome Is Unknown', async () => {
		failures = { p2: [status(503), breakOff] };
		const parameters = { options: { retryOutcomeUnknown: true } };
		const { status: end, outputs } = await create(['p1', 'p2'], {
			parameters,
			retryOnFail: true,
		});
		expect(end).toBe('success');
		expect(ids(outputs[0])).toStrictEqual(['task-p1', 'task-p2']);
		expect(sent()).toStrictEqual({ p1: 1, p2: 3 });
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'keeps the created tasks with %s, when the first item fails',
		async (onError) => {
			failures = { p1: [status(429)], p3: [breakOff] };
			const { status: end, outputs } = await create(['p1', 'p2', 'p3'], {
				onError,
				retryOnFail: true,
			});
			expect(end).toBe('success');
			expect(sent()).toStrictEqual({ p1: 2, p2: 1, p3: 1 });
			expect(ids(outputs[0])!.slice(0, 2)).toStrictEqual(['task-p1', 'task-p2']);
			const failed = onError === 'continueErrorOutput' ? outputs[1]![0] : outputs[0]![2];
			expect(failed!.json).toMatchObject({
				error: `${FAILURE.lost}; the task may have been created`,
				details: { kind: 'network', outcome_unknown: true },
			});
		},
	);

	test('does not repeat an unknown outcome of the first item with Continue On Fail', async () => {
		failures = { p1: [breakOff] };
		const { outputs } = await create(['p1', 'p2'], {
			onError: 'continueRegularOutput',
			retryOnFail: true,
		});
		expect(sent()).toStrictEqual({ p1: 1, p2: 1 });
		expect(outputs[0]![0]!.json['details']).toMatchObject({ outcome_unknown: true });
	});
});

test('each round of a loop creates its own videos, and its retries repeat none', async () => {
	failures = { 'round 1 b': [status(400)], 'round 2 a': [status(429)] };
	const create = packageNode('Create', 'createVideo', {
		parameters: PARAMETERS,
		onError: 'continueRegularOutput',
		retryOnFail: true,
	});
	let round = 1;
	const loop: INode = stubNode('Loop', (items) => {
		if (round === 3) return [[], items];
		round += 1;
		return ['a', 'b'].map((name, item) => ({
			json: { prompt: `round ${round} ${name}` },
			pairedItem: { item },
		}));
	});
	const result = await runWorkflow(
		[create, loop],
		{ Create: [['Loop']], Loop: [['Create'], []] },
		'Create',
		{
			credential: { baseUrl: server.url, apiKey: 'k' },
			items: [{ prompt: 'round 1 a' }, { prompt: 'round 1 b' }],
		},
	);
	expect(result.status).toBe('success');
	expect(sent()).toStrictEqual({
		'round 1 a': 1,
		'round 1 b': 1,
		'round 2 a': 2,
		'round 2 b': 1,
		'round 3 a': 1,
		'round 3 b': 1,
	});
	expect(ids(allItems(result, 'Create')[0])).toStrictEqual([
		'task-round 1 a',
		undefined,
		'task-round 2 a',
		'task-round 2 b',
		'task-round 3 a',
		'task-round 3 b',
	]);
});

describe('as a tool', () => {
	/** Calls the tool as an agent does, one call after another in one execution. */
	async function callTool(prompts: readonly string[], options: IDataObject = {}) {
		const [first, ...rest] = prompts.map((prompt) => ({ prompt }));
		const next = rest.values();
		const back = stubNode('Model', (items) => {
			const { value } = next.next();
			return value === undefined ? [[], items] : [[{ json: value }], []];
		});
		const node = packageNode('Tool', 'createVideoTool', {
			// Its default is $fromAI, which a loop of the workflow has no values for.
			parameters: {
				...PARAMETERS,
				aspectRatio: '',
				duration: 0,
				options: { ...NO_RETRIES, ...options },
			},
			retryOnFail: true,
			onError: 'continueErrorOutput',
		});
		return await runWorkflow(
			[node, back],
			{ Tool: [['Model'], ['Model']], Model: [['Tool'], []] },
			'Tool',
			{ credential: { baseUrl: server.url, apiKey: 'k' }, items: [first!] },
		);
	}

	test('an agent can create the same video again', async () => {
		const result = await callTool(['p1', 'p1']);
		expect(ids(allItems(result, 'Tool')[0])).toStrictEqual(['task-p1', 'task-p1 2']);
		expect(sent()).toStrictEqual({ p1: 2 });
	});

	test('neither Retry On Fail nor the model repeats a creation whose outcome is unknown', async () => {
		failures = { p1: [status(503)] };
		const result = await callTool(['p1', 'p2', 'p1']);
		const [created, failed] = allItems(result, 'Tool');
		expect(ids(created)).toStrictEqual(['task-p2']);
		expect(failed).toHaveLength(2);
		for (const { json: fields } of failed!) {
			expect(JSON.stringify(fields)).toContain('Retry If Outcome Is Unknown');
		}
		expect(sent()).toStrictEqual({ p1: 1, p2: 1 });
	});

	test('both repeat it with the option, once it is created no more', async () => {
		failures = { p1: [breakOff] };
		const result = await callTool(['p1'], { retryOutcomeUnknown: true });
		expect(ids(allItems(result, 'Tool')[0])).toStrictEqual(['task-p1']);
		expect(sent()).toStrictEqual({ p1: 2 });
	});
});

test('the error of a canceled creation says that the task may have been created', async () => {
	let stop: () => void = () => undefined;
	failures = {
		p1: [
			() => {
				stop();
			},
		],
	};
	const { status: end, run } = await create(['p1'], {
		onStart: (cancel) => {
			stop = cancel;
		},
	});
	expect(end).toBe('canceled');
	expect(run.data.resultData.runData['Tested']?.[0]?.error?.message).toBe(
		`${FAILURE.canceled}; the task may have been created`,
	);
});
