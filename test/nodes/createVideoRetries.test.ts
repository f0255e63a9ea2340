import type { IDataObject, ITaskData } from 'n8n-workflow';

import {
	another,
	breakOff,
	byId,
	idsOf,
	parametersOf,
	reject,
	reply,
	RETRY,
	videoService,
	type Answer,
	type More,
} from '../support/createdVideos';
import {
	allItems,
	canceler,
	packageNode,
	runWorkflow,
	stubNode,
	type RunResult,
} from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { withFakeTimers } from '../support/fakeTimers';

const service = videoService();
const { create, loop, restore, rowsOf, sent } = service;

const SERIAL = { concurrency: 1 };
const CONTINUE = { onError: 'continueErrorOutput' } as const;
const PROMPTS = Array.from({ length: 14 }, (_, index) => `p${index}`);
/** How often each prompt was sent. */
const counts = () => {
	const all = sent();
	return Object.fromEntries(
		all.map((prompt) => [prompt, all.filter((each) => each === prompt).length]),
	);
};

describe.each([1, 5])('a batch with Concurrency %d', (concurrency) => {
	const run = async (more: More = {}) => await create(PROMPTS, { concurrency }, more);

	test.each([
		[400, FAILURE.badParameter],
		[409, FAILURE.moderated],
		[422, 'The service rejected the request'],
	])(
		'status %d is about one item: the others go on, and a Retry has only this one',
		async (code, reason) => {
			service.answers = { p6: reject(code) };
			const first = await run();
			expect(first.error).toMatchObject({
				name: 'NodeApiError',
				httpCode: String(code),
				message: `1 of 14 videos failed: item 6 (${reason}). 13 have gone on: task-p0, task-p1, task-p2 and 10 more. Retry creates only what is missing, and pays only for that`,
			});
			expect(first.error!.description).toContain('The service said: "no"');
			expect(first.error!.description).toMatch(/Tasks not finished: task-p/);
			expect(sent().sort()).toStrictEqual(PROMPTS.toSorted());
			const second = await first.resume(RETRY.execution);
			expect(second.status).toBe('error');
			expect(sent().slice(14)).toStrictEqual(['p6']);
		},
	);

	test.each([401, 402, 403, 406, 429, 503, 'a lost connection'])(
		'%s stops what was not sent yet, and a Retry sends it, but nothing that may exist',
		async (code) => {
			service.answers = { p6: typeof code === 'number' ? reject(code) : breakOff };
			const first = await run();
			const unsent = 14 - sent().length;
			expect(unsent).toBeGreaterThanOrEqual(14 - 7 - concurrency);
			expect(first.error!.message).toMatch(/^1 of 14 videos failed: item 6 \(/);
			expect(first.error!.message).toContain(
				`). ${unsent} were not sent. ${13 - unsent} have gone on`,
			);
			service.answers = {};
			const second = await first.resume(RETRY.execution);
			const isUnknown = code === 503 || code === 'a lost connection';
			expect(second.status).toBe(isUnknown ? 'error' : 'success');
			const again = isUnknown ? [] : ['p6'];
			expect(sent().sort()).toStrictEqual([...PROMPTS, ...again].sort());
		},
	);

	test('with On Error: Continue an item that is rejected has the error, and the others go on', async () => {
		service.answers = { p6: reject(409), p7: breakOff, p8: reject(401) };
		const { outputs } = await run(CONTINUE);
		const others = PROMPTS.filter((prompt) => !(prompt in service.answers));
		expect(idsOf(outputs[0])).toStrictEqual(others.map((prompt) => `task-${prompt}`));
		expect(outputs[1]!.map(({ json: fields }) => fields)).toStrictEqual([
			{
				error: FAILURE.moderated,
				message: expect.any(String) as string,
				details: {
					kind: 'http',
					status: 409,
					service_message: 'no',
					service_type: 'x',
					task_id: '',
				},
			},
			expect.objectContaining({ error: expect.stringContaining(FAILURE.lost) as string }),
			expect.objectContaining({ error: FAILURE.badKey }),
		]);
	});

	test('after 406 nothing more is asked, with On Error: Continue neither', async () => {
		service.answers = { p6: reject(406) };
		const { outputs } = await run(CONTINUE);
		const unsent = 14 - sent().length;
		expect(unsent).toBeGreaterThanOrEqual(14 - 7 - concurrency);
		const [rejected, ...others] = outputs[1]!.map(({ json: fields }) => fields);
		expect(others).toHaveLength(unsent);
		expect(rejected).toMatchObject({ error: FAILURE.noCredit });
		for (const each of others)
			expect(each).toMatchObject({
				error: `Not sent: ${FAILURE.noCredit}`,
				message: expect.stringContaining('Top up the account') as string,
			});
	});
});

describe('Retry On Fail', () => {
	const TRIES = { retryOnFail: true };

	test('keeps the created tasks when a creation fails, with their adjustments', async () => {
		service.answers = { p2: [reject(429), reject(429)] };
		const parameters = { model: byId('video-m7'), duration: 7 };
		const { outputs, hints } = await create(['p1', 'p2'], {}, { parameters, ...TRIES });
		expect(idsOf(outputs[0])).toStrictEqual(['task-p1', 'task-p2']);
		expect(counts()).toStrictEqual({ p1: 1, p2: 3 });
		expect(outputs[0]![0]!.json).toMatchObject({ adjustments: [{ field: 'duration', to: 8 }] });
		expect(hints[0]).toMatch(/^The duration was adjusted in 2 items/);
	});

	test.each<[string, IDataObject, IDataObject, RegExp]>([
		[
			'size',
			{ model: byId('x'), size: '={{ Math.random() }}' },
			{},
			/^Prompt is the prompt "p1" .* was the prompt "p1" .* in the earlier try/,
		],
		[
			'Extra Body Fields',
			{},
			{ extraBody: '={{ { seed: Math.random() } }}' },
			/was the same with other fields in the earlier try/,
		],
	])('does not pay again where an expression gives another %s', async (...row) => {
		const [, parameters, options, message] = row;
		service.answers = { p2: [reject(400)] };
		const { error } = await create(['p1', 'p2'], options, { parameters, ...TRIES });
		expect(error!.message).toMatch(message);
		expect(error!.description).toContain('execute the workflow again');
		expect(sent()).toStrictEqual(['p1', 'p2']);
	});

	test('does not repeat a creation whose outcome is unknown', async () => {
		service.answers = { p3: [reject(503)] };
		const { error } = await create(['p1', 'p2', 'p3'], {}, TRIES);
		expect(counts()).toStrictEqual({ p1: 1, p2: 1, p3: 1 });
		expect(error).toMatchObject({
			name: 'NodeApiError',
			httpCode: '503',
			message: `1 of 3 videos failed: item 2 (${FAILURE.unavailable}; the task may have been created). 2 have gone on: task-p1, task-p2. Retry does not send again what may exist, and costs nothing: look for it at the service first`,
			context: { data: { kind: 'http', status: 503, outcome_unknown: true } },
		});
		expect(error!.description).toMatch(/First check whether the service has the task/);
		expect(error!.description).toMatch(/Tasks not finished: task-p1, task-p2/);
	});

	test('does not repeat it in a retry, either', async () => {
		service.answers = { a: [breakOff] };
		const { status, error } = await create(['a'], {}, { ...RETRY, ...TRIES });
		expect(status).toBe('error');
		expect(error!.message).toContain(FAILURE.lost);
		expect(sent()).toStrictEqual(['a']);
		expect(rowsOf()).toStrictEqual(['a sent']);
	});

	test.each([
		['without a key', {}],
		['with a key', { idempotencyKey: '={{ $json.prompt }}' }],
	])(
		'with Retry If Outcome Is Unknown, %s: the row of the call that was sent again goes',
		async (_name, more) => {
			service.answers = { a: [breakOff], b: [reject(400), reject(400)] };
			const options = { ...SERIAL, retryOutcomeUnknown: true, ...more };
			const first = await create(['a', 'b'], options, TRIES);
			expect(first.status).toBe('error');
			expect(counts()).toMatchObject({ a: 2 });
			expect(rowsOf()).toStrictEqual(['a open']);
			const second = await create(['a', 'b'], options, RETRY);
			expect(idsOf(second.outputs[0])).toStrictEqual(['task-a', 'task-b']);
			expect(counts()).toMatchObject({ a: 2 });
		},
	);

	describe.each(['continueRegularOutput', 'continueErrorOutput'] as const)('%s', (onError) => {
		test.each<[string, Record<string, Answer[]>, object, number]>([
			['a sure failure', { p1: [reject(429)], p3: [breakOff] }, { p1: 2, p2: 1, p3: 1 }, 2],
			['an unknown outcome', { p1: [breakOff] }, { p1: 1, p2: 1, p3: 1 }, 0],
		])('keeps the created tasks where the first item has %s', async (...row) => {
			const [, answers, expected, unknown] = row;
			service.answers = answers;
			const prompts = ['p1', 'p2', 'p3'];
			const { status, outputs } = await create(prompts, {}, { onError, ...TRIES });
			expect(status).toBe('success');
			expect(counts()).toStrictEqual(expected);
			const isApart = onError === 'continueErrorOutput';
			const failed = isApart ? outputs[1]![0] : outputs[0]![unknown];
			expect(failed!.json).toMatchObject({
				error: `${FAILURE.lost}; the task may have been created`,
				details: { kind: 'network', outcome_unknown: true },
			});
			const good = outputs[0]!.filter((item) => item !== failed);
			const names = prompts.filter((_name, index) => index !== unknown);
			expect(idsOf(good)).toStrictEqual(names.map((name) => `task-${name}`));
		});
	});

	test('in a loop repeats no video of another round', async () => {
		service.answers = { 'b 1': [reject(400)], 'a 2': [reject(429)] };
		const rounds = [1, 2, 3].map((round) => [`a ${round}`, `b ${round}`]);
		const more = { onError: 'continueRegularOutput', ...TRIES } as const;
		const result = await loop(rounds, {}, more);
		expect(result.status).toBe('success');
		const expected = { 'a 1': 1, 'b 1': 1, 'a 2': 2, 'b 2': 1, 'a 3': 1, 'b 3': 1 };
		expect(counts()).toStrictEqual(expected);
		const tasks = ['task-a 1', undefined, 'task-a 2', 'task-b 2', 'task-a 3', 'task-b 3'];
		expect(idsOf(allItems(result, 'Create')[0])).toStrictEqual(tasks);
	});
});

describe('as a tool', () => {
	/** Calls the tool as an agent does, one call after another in one execution. */
	async function call(prompts: readonly string[], options: IDataObject = {}) {
		const calls = prompts.map((prompt) => [prompt]);
		const more = { type: 'createVideoTool', ...CONTINUE, retryOnFail: true };
		return allItems(await loop(calls, options, more), 'Create');
	}

	test('an agent can create the same video again', async () => {
		const [created] = await call(['p1', 'p1']);
		expect(idsOf(created)).toStrictEqual(['task-p1', 'task-p1 2']);
	});

	test('neither Retry On Fail nor the model repeats a creation whose outcome is unknown', async () => {
		service.answers = { p1: [reject(503)] };
		const [created, failed] = await call(['p1', 'p2', 'p1']);
		expect(idsOf(created)).toStrictEqual(['task-p2']);
		expect(failed).toHaveLength(2);
		for (const { json: fields } of failed!)
			expect(JSON.stringify(fields)).toContain('Retry If Outcome Is Unknown');
		expect(counts()).toStrictEqual({ p1: 1, p2: 1 });
	});

	test('Retry On Fail repeats it with the option, until it is created', async () => {
		service.answers = { p1: [breakOff] };
		const [created] = await call(['p1'], { retryOutcomeUnknown: true });
		expect(idsOf(created)).toStrictEqual(['task-p1']);
		expect(counts()).toStrictEqual({ p1: 2 });
	});
});

test('the error of a canceled creation says that the task may have been created', async () => {
	const { onStart, cancel } = canceler();
	service.answers = { p1: cancel };
	const { status, run } = await create(['p1'], {}, { onStart });
	expect(status).toBe('canceled');
	expect(run.data.resultData.runData['Tested']?.[0]?.error?.message).toBe(
		`${FAILURE.canceled}; the task may have been created`,
	);
});

describe('a retry', () => {
	test('gives the video of a round that it does not repeat to no other round', async () => {
		service.taskIdOf = (_prompt, nth) => `task of round ${nth}`;
		service.onRequest = () => {
			if (sent().length === 2) service.answers = { a: [reject(400)] };
		};
		const first = await loop([['a'], ['a']]);
		expect(first.status).toBe('error');
		const second = await first.resume(RETRY.execution);
		expect(second.status).toBe('success');
		expect(sent()).toStrictEqual(['a', 'a', 'a']);
		expect(idsOf(second.outputs[0])).toStrictEqual(['task of round 2']);
	});

	test('knows a call whose place told nothing where the place tells it', async () => {
		// A sub-workflow whose caller was retried, and that is retried by itself then.
		await create(['a', 'b'], SERIAL);
		const unplaced = ({ call }: IDataObject) => String(call).replace(/^0/, '-1');
		restore(service.tables.rows.map((row) => ({ ...row, call: unplaced(row) })));
		const { outputs } = await create(['a', 'b'], SERIAL, RETRY);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a', 'task-b']);
		expect(sent()).toStrictEqual(['a', 'b']);
	});

	const SWAPPED: Record<string, string> = { Create: 'Video', Video: 'Create' };
	const LATER = { startTime: 9e12 };
	test.each<[string, Record<string, string>, Partial<ITaskData>, boolean]>([
		['where another one has its name', SWAPPED, {}, true],
		['after a Retry that took its video', { ...SWAPPED, Video: 'Other' }, LATER, true],
		['and n8n has invented a run', SWAPPED, { executionStatus: 'crashed' }, false],
		['and another one has run in this Retry', SWAPPED, LATER, false],
	])('of a node that was renamed since, %s', async (_name, names, more, isLost) => {
		let isBroken = true;
		const back = stubNode('Back', (items) => {
			if (isBroken) throw new Error('Broken');
			return items.map(() => ({ json: { prompt: 'a' } }));
		});
		const create = packageNode('Create', 'createVideo', { parameters: parametersOf({}) });
		const other = stubNode('Video', (items) => items);
		const wires = { Create: [['Back']], Back: [['Video']] };
		const first = await service.flow([create, back, other], wires, ['a']);
		isBroken = false;
		Object.assign(first.run.data.resultData.runData['Create']![0]!, more);
		const { error } = await first.resume(RETRY.execution, ({ name, ...node }) => {
			return { ...node, name: names[name] ?? name };
		});
		// n8n counts its runs by the name.
		const said =
			'The name of this node was "Create" when it ran before, and n8n counts its runs by it. Nothing was sent. Rename the node back to "Create", and retry';
		expect(error && `${error.message}. ${error.description}`).toBe(isLost ? said : undefined);
		expect(sent()).toStrictEqual(['a']);
	});

	test('without a ledger knows the calls of each run of the node', async () => {
		service.answers = { b: breakOff, d: breakOff };
		const parameters = {
			prompt: '={{ $json.prompt }}',
			options: { retries: 0, taskLedger: false },
		};
		const toItems = (...prompts: string[]) => prompts.map((prompt) => ({ json: { prompt } }));
		const nodes = [
			stubNode('If', () => [toItems('a', 'b'), toItems('c', 'd')]),
			packageNode('Create', 'createVideo', { parameters }),
		];
		const wires = { If: [['Create'], ['Create']] };
		const first = await runWorkflow(nodes, wires, 'If', service.environment());
		expect(first.status).toBe('error');
		const second = await first.resume(RETRY.execution);
		expect(second.error!.description).toContain('so the call is not sent again');
		expect(sent().sort()).toStrictEqual(['a', 'b', 'c', 'd']);
	});
});

test('the workflow keeps which ledger it uses, though an execution in the editor has found the table before', async () => {
	await create(['a']);
	const { staticData } = await create(['b'], {}, another('12'));
	const kept = { agent_video_tasks: expect.stringMatching(/^table-/) as string };
	expect(staticData).toMatchObject({ global: { agentVideoTables: kept } });
});

describe('what an error says of a Retry, which a person reads before anything else', () => {
	const ONLY_MISSING = 'Retry creates only what is missing, and pays only for that';
	const NOT_AGAIN =
		'Retry does not send again what may exist, and costs nothing: look for it at the service first';
	const PAYS_AGAIN = 'Retry sends again what may exist, and pays for it a second time';
	const POLLS_REST = 'Retry polls only what is left, free of charge';
	const POLLS = 'Retry polls again, free of charge';
	const STAYS = 'Retry does not change what failed at the service, and costs nothing';

	const FAILED = reply({ status: 'failed', error_message: 'bad pixels' });
	const GENERATING = reply({ status: 'processing' });

	const ONE = ['b'];
	const THREE = ['a', 'b', 'c'];
	const row = (
		what: string,
		prompts: readonly string[],
		answers: Readonly<Record<string, Answer>>,
		said: string | readonly string[],
		options: IDataObject = {},
	) => [what, { prompts, answers: { ...answers }, said: [said].flat(), options }] as const;
	type Row = ReturnType<typeof row>[1];

	const CREATING = [
		...[400, 401, 402, 403, 406, 409, 422, 429].map((status) =>
			row(`with ${status}`, THREE, { b: reject(status) }, ONLY_MISSING),
		),
		...[500, 502, 503].map((status) =>
			row(`with ${status}`, THREE, { b: reject(status) }, NOT_AGAIN),
		),
		row('whose connection breaks', THREE, { b: breakOff }, NOT_AGAIN),
		row('alone, whose connection breaks', ONE, { b: breakOff }, NOT_AGAIN),
		row('to be sent again', ONE, { b: breakOff }, PAYS_AGAIN, { retryOutcomeUnknown: true }),
		row('without an answer that can be read', THREE, { b: reply({}) }, NOT_AGAIN),
		row('with the task of another one', THREE, { b: reply({ task_id: 'task-a' }) }, NOT_AGAIN),
	];
	const WAITING = [
		row('a video that fails', THREE, { 'task-b': FAILED }, STAYS),
		row('the only video, which fails', ONE, { 'task-b': FAILED }, STAYS),
		row('a video that is not finished in time', THREE, { 'task-b': GENERATING }, POLLS_REST),
		row('the only video, which is late', ONE, { 'task-b': GENERATING }, POLLS),
		row('a file that is gone', THREE, { '/cdn/task-b': reject(410) }, POLLS_REST),
		row('the only file, which is gone', ONE, { '/cdn/task-b': reject(410) }, POLLS),
		row('a poll that is rejected', THREE, { 'task-b': reject(401) }, POLLS),
		row('a service that rejects a task', THREE, { 'task-b': reject(404) }, POLLS_REST),
	];
	const BOTH = row(
		'a creation without credit beside a video that fails',
		['a', 'b'],
		{ b: reject(406), 'task-a': FAILED },
		[STAYS, ONLY_MISSING],
	);

	/** Checks what the person reads: n8n's toast, and then the rest. */
	async function check({ answers, said }: Row, run: () => Promise<RunResult>) {
		service.answers = answers;
		const { status, error } = await withFakeTimers(run);
		expect(status).toBe('error');
		const { message, description = '' } = error!;
		for (const sentence of said) expect(message).toContain(sentence);
		const others = said.reduce((text, sentence) => text.replace(sentence, ''), message);
		expect(others).not.toMatch(/\bRetry\b|\b(run|execute|create|top up)\b.*again/i);
		// Retrying is not promised a second time, in other words, and paying for everything is the last remedy.
		expect(description).not.toMatch(/Retry;|Retry in a minute|run the workflow again/);
	}

	test.each(CREATING)('a creation %s', async (_what, each) => {
		await check(each, async () => await create(each.prompts, each.options));
	});

	test.each([
		['another prompt at the place of a paid one', {}, RETRY],
		['a key of another prompt', { idempotencyKey: '={{ $json.key }}' }, another('12')],
	])(
		'%s: it does not help, and the workflow again pays for all',
		async (_what, options, more) => {
			const rows = (...prompts: readonly string[]) =>
				prompts.map((prompt, index) => ({ prompt, key: `key ${index}` }));
			await create(rows('a', 'b'), options);
			const { error } = await create(rows('a', 'new b', 'c'), options, more);
			expect(error!.message).toContain('1 was not sent. 1 has gone on: task-a.');
			expect(error!.message).toMatch(
				/ Retry does not change what was not created, and costs nothing$/,
			);
			expect(error!.description).toContain(
				'Executing the whole workflow again pays for all videos again',
			);
			expect(sent()).toStrictEqual(['a', 'b']);
		},
	);

	test.each([...WAITING, BOTH])('%s, for Create Video', async (_what, each) => {
		const more = { parameters: { waitUntilFinished: true } };
		await check(each, async () => await create(each.prompts, { maximumWait: 1 }, more));
	});

	test.each(WAITING)('%s, for Wait for Video', async (_what, each) => {
		const items = each.prompts.map((prompt) => ({ task_id: `task-${prompt}` }));
		const parameters = { options: { maximumWait: 1, onFailed: 'fail' } };
		await check(each, async () => await service.wait(items, parameters));
	});
});
