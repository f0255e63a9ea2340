import type { ServerResponse } from 'node:http';

import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Clock } from '../../nodes/client/ports';
import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import * as clockModule from '../../nodes/shared/engine/context';
import { dataTables, type DataTables } from '../support/dataTables';
import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type EnvironmentOptions,
	type RunOptions,
	type RunResult,
} from '../support/engine';
import { withFakeTimers } from '../support/fakeTimers';
import { json, serverForEach } from '../support/scriptedServer';

const DAY_MS = 86_400_000;
const TABLE = TASK_TABLE.name;
const DATE = expect.stringMatching(/^\d{4}-.*Z$/) as string;

let tables: DataTables;
/** What the service does with the first creations, by prompt; it creates a task for every other. */
let answers: Record<string, ((response: ServerResponse) => void)[]>;
/** How many tasks there are of each prompt. */
let created: Record<string, number>;
/** Called for each creation that arrives, before it is answered. */
let onCreation: (prompt: string) => void;
/** Parameters of the node that differ from the usual ones. */
let parameters: IDataObject;
/** How far the node's clock is ahead, in milliseconds. */
let aheadMs: number;
/** Whether every pause of the node ends at once: its clock jumps to the end. */
let skipsPauses: boolean;

/** Long beside every write, on a busy machine as well: batches stay as small as they can be. */
const CREATION_MS = 5_000;

const { n8nClock } = clockModule;

/** The clock of n8n that this file moves. */
function movedClock(context: Parameters<typeof n8nClock>[0]): Clock {
	const clock = n8nClock(context);
	return {
		random: () => clock.random(),
		now: () => clock.now() + aheadMs,
		async sleep(ms, end) {
			if (skipsPauses) aheadMs += ms;
			await clock.sleep(skipsPauses ? 0 : ms, end);
		},
	};
}

const promptOf = (body: unknown) => (body as { prompt: string }).prompt;

const server = serverForEach((response, { body }) => {
	const prompt = promptOf(body);
	aheadMs += CREATION_MS;
	onCreation(prompt);
	const answer = answers[prompt]?.shift();
	if (answer !== undefined) answer(response);
	else create(response, prompt);
});

beforeEach(() => {
	tables = dataTables();
	[answers, created] = [{}, {}];
	parameters = {};
	onCreation = () => undefined;
	[aheadMs, skipsPauses] = [0, false];
	jest.spyOn(clockModule, 'n8nClock').mockImplementation(movedClock);
});
afterEach(() => {
	jest.restoreAllMocks();
});

/** Creates a task: of an equal prompt it has another ID. */
const create = (response: ServerResponse, prompt: string) => {
	const count = (created[prompt] = (created[prompt] ?? 0) + 1);
	const task_id = [`task-${prompt}`, ...(count > 1 ? [count] : [])].join(' ');
	json(response, 200, { task_id, status: 'queued', model: 'video-m1' });
};
/** Rejects an item, and with it those that were not sent yet. */
const reject = (response: ServerResponse) => {
	json(response, 401, { error: { message: 'no', type: 'x' } });
};
const breakOff = (response: ServerResponse) => {
	response.destroy();
};

const MODEL = { __rl: true, mode: 'id', value: 'video-m1' };
const parametersOf = (options: IDataObject = {}): IDataObject => ({
	model: MODEL,
	prompt: '={{ $json.prompt }}',
	waitUntilFinished: false,
	...parameters,
	options: { retries: 0, ...options },
});
const environment = (more: Partial<EnvironmentOptions> = {}): EnvironmentOptions => ({
	credential: { baseUrl: server.url, apiKey: 'k-secret' },
	tables,
	execution: { id: '11', token: 'token-1' },
	...more,
});
const itemsOf = (prompts: readonly string[]) => prompts.map((prompt) => ({ prompt }));

/** Creates videos of these prompts. */
async function run(
	prompts: readonly string[],
	options: IDataObject = {},
	more: Partial<RunOptions> = {},
): Promise<RunResult> {
	return await runNode('createVideo', {
		...environment(),
		items: itemsOf(prompts),
		parameters: parametersOf(options),
		...more,
	});
}
const retry = { execution: { id: '12', token: 'token-1', isRetry: true } };
const later = (id: string) => ({ execution: { id, token: `token of ${id}` } });

/** Makes the tables those that a killed n8n had left at a moment: the rows of then in a table of now. */
function restore(rows: readonly IDataObject[]): void {
	tables = dataTables();
	tables.insert(TASK_TABLE, ...rows);
}

/** Runs an execution that is killed when a creation with this prompt arrives: nothing of it is left but its rows. */
async function runKilledAt(
	prompt: string,
	prompts: readonly string[],
	options: IDataObject = {},
): Promise<void> {
	let rows: readonly IDataObject[] = [];
	onCreation = (each) => {
		if (each === prompt) rows = structuredClone(tables.rows);
	};
	await run(prompts, options);
	onCreation = () => undefined;
	forget();
	restore(rows);
}

/** Lets the server know no creation any more: it may have the tasks that a killed n8n has not seen, too. */
function forget(): void {
	created = {};
	server.requests.length = 0;
}

const sent = () => server.requests.map(({ body }) => promptOf(body));
const rowsOf = () =>
	tables.rows.map(({ prompt, status }) => `${String(prompt)} ${String(status)}`).sort();
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);
const reusedOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['reused'] === true);
/** The hints about the ledger: in these workflows no node waits, which a hint says as well. */
const hintsOf = ({ run: { data } }: RunResult) =>
	Object.values(data.resultData.runData)
		.flat()
		.flatMap(({ hints = [] }) => hints.map(({ message }) => message))
		.filter((message) => !message.includes('nothing in this workflow waits'));

/** The tables for a run that stops before its first step of this operation, until it is to go on. */
function heldAt(operation: string) {
	const { executeWorkflow } = tables;
	let reach: () => void = () => undefined;
	let goOn: () => void = () => undefined;
	const reached = new Promise<void>((resolve) => (reach = resolve));
	const going = new Promise<void>((resolve) => (goOn = resolve));
	const held: DataTables['executeWorkflow'] = async (info, ...more) => {
		if (hasStep(info, operation)) {
			reach();
			await going;
		}
		return await executeWorkflow(info, ...more);
	};
	return { tables: { ...tables, executeWorkflow: held }, reached, goOn };
}

/** Whether a sub-workflow has a step of this operation on rows. */
function hasStep({ code }: Parameters<DataTables['executeWorkflow']>[0], operation: string) {
	return code!.nodes.some(
		({ parameters: step }) => step['resource'] === 'row' && step['operation'] === operation,
	);
}

/** The tables with an error for each write with this operation that was carried out, the first time. */
function unsureAt(operation: string, message: string): DataTables {
	const { executeWorkflow } = tables;
	const written = new Set<string>();
	return {
		...tables,
		executeWorkflow: async (info, ...more) => {
			const result = await executeWorkflow(info, ...more);
			const text = JSON.stringify([info.code!.nodes, more[1].inputData]);
			if (!hasStep(info, operation) || written.has(text)) return result;
			written.add(text);
			throw new Error(message);
		},
	};
}

/** Options: the key is the first letter of the prompt. */
const KEYED = { idempotencyKey: '={{ $json.prompt[0] }}', useExistingVideo: true };

describe('the rows of an execution', () => {
	test('before and after each creation', async () => {
		const seen: Record<string, string[]> = {};
		onCreation = (prompt) => {
			seen[prompt] = rowsOf();
		};
		// Beside a slow table calls are announced before their turn.
		jest.spyOn(performance, 'now').mockReturnValue(performance.now());
		await run(['a', 'b', 'c'], { concurrency: 1 });
		expect(seen).toStrictEqual({
			a: ['a sent'],
			b: ['a open', 'b sent'],
			c: ['a open', 'b open', 'c sent'],
		});
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
	});

	test('have what was sent, who asked, and when', async () => {
		const options = { pricePerSecond: 0.1, idempotencyKey: '=order {{ $itemIndex }}' };
		await runNode('createVideo', {
			...environment(),
			items: itemsOf(['a', 'b']),
			parameters: {
				...parametersOf(options),
				model: { ...MODEL, value: 'video-m7' },
				duration: 7,
			},
		});
		expect(tables.rows).toHaveLength(2);
		expect(tables.rows[1]).toMatchObject({
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
		expect(JSON.stringify(tables.rows)).not.toContain('token-1');
	});

	test.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'%s: a certain failure leaves none, an unknown outcome stays',
		async (onError) => {
			answers = { b: [reject], c: [breakOff] };
			await run(['a', 'b', 'c', 'd'], {}, { onError });
			expect(rowsOf()).toStrictEqual(['a open', 'c sent', 'd open']);
		},
	);

	test('the node stops: those of items that were not sent are gone', async () => {
		answers = { c: [reject] };
		const { status } = await run(['a', 'b', 'c', 'd', 'e'], { concurrency: 2 });
		expect(status).toBe('error');
		const created = sent().filter((prompt) => prompt !== 'c');
		expect(rowsOf()).toStrictEqual(created.map((prompt) => `${prompt} open`));
	});

	test.each([
		['only what is under way stays sent', {}],
		['keys are given back', KEYED],
	])('the time limit of the workflow ends it: %s', async (_name, options) => {
		let stop: () => void = () => undefined;
		// Neither is answered.
		answers = { c: [() => undefined], d: [() => undefined] };
		await withFakeTimers(async (time) => {
			onCreation = (prompt) => {
				if (prompt !== 'c') return;
				time.moveSystemClock(2 * DAY_MS);
				stop();
			};
			const timeLimitMs = Date.now() + DAY_MS;
			await run(
				['a', 'b', 'c', 'd', 'e', 'f'],
				{ ...options, concurrency: 2 },
				{
					execution: { id: '11', token: 'token-1', timeLimitMs },
					onStart: (cancel) => {
						stop = cancel;
					},
				},
			);
		});
		await new Promise((resolve) => setImmediate(resolve));
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c sent', 'd sent']);
	});

	test.each<[string, IDataObject, string]>([
		['', {}, 'insert'],
		[' with a key', KEYED, 'update'],
	])(
		'Stop right before a creation%s leaves none, and sends nothing',
		async (_name, options, at) => {
			const held = heldAt(at);
			let stop: () => void = () => undefined;
			const running = run(['a', 'b'], options, {
				tables: held.tables,
				onStart: (cancel) => {
					stop = cancel;
				},
			});
			await held.reached;
			stop();
			held.goOn();
			expect((await running).status).toBe('canceled');
			await new Promise((resolve) => setImmediate(resolve));
			expect(sent()).toStrictEqual([]);
			expect(rowsOf()).toStrictEqual([]);
		},
	);

	test('Stop while a key of another execution is waited for gives the others back', async () => {
		tables.insert(TASK_TABLE, {
			status: 'sent',
			idempotency_key: 'b',
			prompt: 'b',
			sent_at: new Date().toISOString(),
		});
		let stop: () => void = () => undefined;
		const held = heldAt('deleteRows');
		held.goOn();
		const running = run(['a', 'b'], KEYED, {
			tables: held.tables,
			onStart: (cancel) => {
				stop = cancel;
			},
		});
		// It withdraws its claim of b.
		await held.reached;
		stop();
		expect((await running).status).toBe('canceled');
		expect(sent()).toStrictEqual([]);
		expect(rowsOf()).toStrictEqual(['b sent']);
	});

	test('an invalid item has none', async () => {
		await run(['a', ' '], {}, { onError: 'continueRegularOutput' });
		expect(rowsOf()).toStrictEqual(['a open']);
	});

	test.each([{ dryRun: true }, { taskLedger: false }])('%j: none', async (options) => {
		const { outputs } = await run(['a'], options);
		expect(outputs[0]).toHaveLength(1);
		expect(tables.calls).toBe(0);
	});

	test('Task Ledger is off: none, also where the creations take longer than a second', async () => {
		skipsPauses = true;
		await run(['a', 'b'], { taskLedger: false, concurrency: 1 });
		expect(sent()).toStrictEqual(['a', 'b']);
		expect(tables.calls).toBe(0);
	});
});

describe('a retry after a kill', () => {
	test('does not send without a claim what another retry may have sent meanwhile', async () => {
		await runKilledAt('p1', ['p1']);
		restore([]);
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
		const { error } = await run(['p1'], {}, retry);
		expect(error?.message).toMatch(/^Task Ledger cannot be read, so this retry does not know/);
		expect(sent()).toStrictEqual([]);
	});

	test('reuses what was created, reports what was sent, creates the rest', async () => {
		await runKilledAt('c', ['a', 'b', 'c', 'd'], { concurrency: 1 });
		const { outputs, status } = await run(
			['a', 'b', 'c', 'd'],
			{},
			{ ...retry, onError: 'continueErrorOutput' },
		);
		expect(status).toBe('success');
		expect(sent()).toStrictEqual(['d']);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a', 'task-b', 'task-d']);
		expect(reusedOf(outputs[0])).toStrictEqual([true, true, false]);
		expect(outputs[0]![0]!.json['request']).toMatchObject({ prompt: 'a', model: 'video-m1' });
		const text = JSON.stringify(outputs[1]![0]!.json);
		expect(text).toContain(TABLE);
		expect(text).toContain('Retry If Outcome Is Unknown');
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c sent', 'd open']);
		expect(new Set(tables.rows.map((row) => row['execution_id']))).toStrictEqual(
			new Set(['12']),
		);
	});

	test('gets past an item whose outcome is unknown', async () => {
		await runKilledAt('a', ['a', 'b'], { concurrency: 1 });
		const { error } = await run(['a', 'b'], { concurrency: 1 }, retry);
		expect(error!.message).toMatch(
			/^1 of 2 .*stopped after it had sent this call.*1 has gone on/,
		);
		expect(sent()).toStrictEqual(['b']);
	});

	test('sends again with the option, and leaves no row of the call without an answer', async () => {
		await runKilledAt('b', ['a', 'b', 'c'], { concurrency: 1 });
		const { outputs } = await run(
			['a', 'b', 'c'],
			{ retryOutcomeUnknown: true, concurrency: 1 },
			retry,
		);
		expect(sent()).toStrictEqual(['b', 'c']);
		expect(reusedOf(outputs[0])).toStrictEqual([true, false, false]);
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
	});

	test('takes the task ID that a person has entered, without white space, also in the ledger', async () => {
		await runKilledAt('a', ['a']);
		restore(tables.rows.map((row) => ({ ...row, task_id: ' found\n' })));
		const { outputs } = await run(['a'], {}, retry);
		expect(idsOf(outputs[0])).toStrictEqual(['found']);
		expect(tables.rows).toMatchObject([{ task_id: 'found', execution_id: '12' }]);
	});

	test('takes white space for no task ID', async () => {
		await runKilledAt('a', ['a']);
		restore(tables.rows.map((row) => ({ ...row, task_id: ' ' })));
		const { error } = await run(['a'], {}, retry);
		expect(error!.message).toMatch(/stopped after it had sent this call/);
		expect(sent()).toStrictEqual([]);
	});

	test('rejects an item that asks for something else than the one at its place, and shows both', async () => {
		// The expression returns another text in every execution, as $now does.
		parameters = { prompt: '={{ $json.prompt }} in {{ $execution.id }}' };
		await runKilledAt('b in 11', ['a', 'b'], { concurrency: 1 });
		const { error } = await run(['a'], {}, retry);
		expect(error!.message).toMatch(/^Prompt is .*"a in 12".*, and was .*"a in 11"/);
		expect(error!.description).toMatch(/^Nothing was sent.* execute the workflow again/);
		expect(sent()).toStrictEqual([]);
	});

	test('reads a row whose adjustments a person has changed', async () => {
		await runKilledAt('b', ['a', 'b'], { concurrency: 1 });
		restore(tables.rows.map((row) => ({ ...row, adjustments: 'none' })));
		const { outputs } = await run(['a'], {}, retry);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a']);
	});

	test('of a retry finds what both have created', async () => {
		await runKilledAt('b', ['a', 'b', 'c'], { concurrency: 1 });
		await run(['a', 'b', 'c'], { retryOutcomeUnknown: true }, retry);
		server.requests.length = 0;
		const execution = { id: '13', token: 'token-1', isRetry: true };
		const { outputs } = await run(['a', 'b', 'c'], {}, { execution });
		expect(reusedOf(outputs[0])).toStrictEqual([true, true, true]);
		expect(sent()).toStrictEqual([]);
	});

	test('sends nothing where a person has removed a column of the table since', async () => {
		await runKilledAt('b', ['a', 'b', 'c'], { concurrency: 1 });
		const { rows } = tables;
		const { file_name: _, ...columns } = TASK_TABLE.columns;
		tables = dataTables();
		tables.insert(
			{ ...TASK_TABLE, columns },
			...rows.map(({ file_name: _none, ...row }) => row),
		);
		const { error } = await run(['a', 'b', 'c'], {}, retry);
		expect(error!.message).toMatch(
			/^Task Ledger cannot be read.*It needs also file_name \(string\)/,
		);
		expect(sent()).toStrictEqual([]);
	});

	test('two retries at the same moment create no video twice', async () => {
		await runKilledAt('b', ['a', 'b', 'c', 'd'], { concurrency: 1 });
		const more = (id: string) =>
			({
				execution: { id, token: 'token-1', isRetry: true },
				onError: 'continueErrorOutput',
			}) as const;
		const both = [
			run(['a', 'b', 'c', 'd'], {}, more('12')),
			run(['a', 'b', 'c', 'd'], {}, more('13')),
		];
		const results = await Promise.all(both);
		expect(new Set(sent()).size).toBe(sent().length);
		for (const { outputs } of results) {
			const errors = outputs[1]!.map(({ json: fields }) => String(fields['error']));
			expect(idsOf(outputs[0]).length + errors.length).toBe(4);
		}
		const third = await run(
			['a', 'c', 'd'],
			{},
			{ execution: { id: '14', token: 'token-1', isRetry: true } },
		);
		expect(idsOf(third.outputs[0])).toStrictEqual(['task-a', 'task-c', 'task-d']);
		expect(sent().sort()).toStrictEqual(['c', 'd']);
	});

	test.each([[{}], [KEYED], [{ retryOutcomeUnknown: true }]])(
		'a retry waits for what another one has under way, with the options %j',
		async (options) => {
			await runKilledAt('a', ['a'], options);
			restore([]);
			let answer: () => void = () => undefined;
			const arrived = new Promise<void>((resolve) => {
				const hold = (response: ServerResponse) => {
					answer = () => {
						create(response, 'a');
					};
					resolve();
				};
				answers = { a: [hold] };
			});
			const first = run(['a'], options, retry);
			await arrived;
			const reading = heldAt('deleteRows');
			const execution = { ...retry.execution, id: '13' };
			const second = run(['a'], options, { execution, tables: reading.tables });
			await reading.reached;
			answer();
			await first;
			reading.goOn();
			const { outputs } = await second;
			expect(reusedOf(outputs[0])).toStrictEqual([true]);
			expect(idsOf(outputs[0])).toStrictEqual(['task-a']);
			expect(sent()).toStrictEqual(['a']);
			expect(rowsOf()).toStrictEqual(['a open']);
		},
	);

	test('keeps the model that was sent where the service names none', async () => {
		const unnamed = (response: ServerResponse) => {
			json(response, 200, { task_id: 'task-a', status: 'queued' });
		};
		answers = { a: [unnamed] };
		await run(['a'], KEYED);
		const { outputs } = await run(['a'], KEYED, later('12'));
		expect(outputs[0]).toMatchObject([{ json: { task_id: 'task-a', model: 'video-m1' } }]);
	});

	test('another execution with the same items creates its own', async () => {
		await run(['a']);
		await run(['a'], {}, later('12'));
		await run(['a'], {}, { execution: { id: '13', token: 'other', isRetry: true } });
		expect(sent()).toStrictEqual(['a', 'a', 'a']);
	});

	test('Retry On Fail in a retry repeats neither the earlier nor its own creations', async () => {
		await runKilledAt('b', ['a', 'b', 'c', 'd'], { concurrency: 1 });
		answers = { c: [reject], d: [reject] };
		const { status, outputs } = await run(
			['a', 'b', 'c', 'd'],
			{ retryOutcomeUnknown: true, concurrency: 1 },
			{ ...retry, retryOnFail: true },
		);
		expect(status).toBe('success');
		expect(sent()).toStrictEqual(['b', 'c', 'c', 'd', 'd']);
		expect(idsOf(outputs[0])).toStrictEqual(['a', 'b', 'c', 'd'].map((name) => `task-${name}`));
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open', 'd open']);
	});

	test('counts for Maximum Videos what the earlier try has sent, once', async () => {
		await runKilledAt('c', ['a', 'b', 'c', 'd'], { concurrency: 1 });
		const again = async (maximumVideos: number, id: string) =>
			await run(
				['a', 'b', 'c', 'd'],
				{ maximumVideos, concurrency: 1 },
				{ execution: { ...retry.execution, id }, onError: 'continueErrorOutput' },
			);
		const { outputs } = await again(3, '12');
		expect(idsOf(outputs[0])).toStrictEqual([]);
		expect(outputs[1]![0]!.json['error']).toBe(
			'Maximum Videos is 3. This run would create 1, and this execution has created 3 so far',
		);
		expect(idsOf((await again(4, '13')).outputs[0])).toStrictEqual([
			'task-a',
			'task-b',
			'task-d',
		]);
	});
});

describe('a loop', () => {
	const ROUNDS = [['a', 'b'], ['c', 'b'], ['d']];

	/** Runs the rounds one after another. */
	async function loop(
		rounds: readonly (readonly string[])[],
		more: Partial<RunOptions> = {},
		options: IDataObject = {},
	) {
		const [first, ...rest] = rounds.map(itemsOf);
		const next = rest.values();
		const node = packageNode('Create', 'createVideo', {
			parameters: parametersOf({ concurrency: 1, ...options }),
		});
		const back = stubNode('Loop', (items) => {
			const { value } = next.next();
			return value === undefined
				? [[], items]
				: [value.map((fields) => ({ json: fields })), []];
		});
		return await runWorkflow(
			[node, back],
			{ Create: [['Loop']], Loop: [['Create'], []] },
			'Create',
			environment({ ...more, items: first! }),
		);
	}

	test('after a kill in its last round every round has its own videos again', async () => {
		let rows: readonly IDataObject[] = [];
		onCreation = (prompt) => {
			if (prompt.startsWith('d')) rows = structuredClone(tables.rows);
		};
		await loop(ROUNDS);
		forget();
		restore(rows);
		restore(tables.rows.filter(({ status }) => status !== 'sent'));
		const result = await loop(ROUNDS, retry);
		expect(sent()).toStrictEqual(['d']);
		const items = allItems(result, 'Create')[0]!;
		expect(idsOf(items)).toStrictEqual(['task-a', 'task-b', 'task-c', 'task-b 2', 'task-d']);
		expect(reusedOf(items)).toStrictEqual([true, true, true, true, false]);
	});

	test('after a kill the limits hold for the rounds of both tries', async () => {
		await loop(ROUNDS);
		server.requests.length = 0;
		const ended = await loop([...ROUNDS, ['e']], retry, { maximumVideos: 5 });
		expect(ended.error!.message).toMatch(/would create 1.* has created 5 so far/);
		expect(sent()).toStrictEqual([]);
	});
});

test('tool calls of a retry have the video of their text, each once, and others are new', async () => {
	const call = async (prompt: string, more: Partial<EnvironmentOptions> = {}) =>
		await runNode('createVideoTool', {
			...environment(more),
			items: itemsOf([prompt]),
			parameters: parametersOf(),
		});
	for (const prompt of ['a', 'b', 'c']) await call(prompt);
	server.requests.length = 0;
	const results: RunResult[] = [];
	for (const prompt of ['c', 'a', 'other']) results.push(await call(prompt, retry));
	expect(results.map(({ outputs }) => outputs[0]![0]!.json['task_id'])).toStrictEqual([
		'task-c',
		'task-a',
		'task-other',
	]);
	expect(sent()).toStrictEqual(['other']);
	expect(results.map(hintsOf)).toStrictEqual([
		[],
		[],
		[expect.stringMatching(/has paid for 1 more, .*"b"/)],
	]);
});

describe('a ledger that cannot be used', () => {
	const fails = (message: string, operations: readonly string[]) => () => {
		tables.fails = (operation) => (operations.includes(operation) ? message : undefined);
	};
	const CASES: [string, () => void][] = [
		['n8n without data tables', () => (tables.disabled = true)],
		[
			'a table of this name with other columns',
			() => {
				tables.insert({ name: TABLE, columns: { color: 'string' } }, { color: 'red' });
			},
		],
		['full tables', fails('Data table size limit exceeded', ['insert'])],
		[
			'a locked table',
			() => {
				skipsPauses = true;
				fails('SQLITE_BUSY: database is locked', ['get', 'insert', 'deleteRows'])();
			},
		],
	];

	test('Maximum Videos of an execution names Task Ledger', async () => {
		CASES[1]![1]();
		const { error } = await run(['a'], { maximumVideos: 5 });
		expect(error!.message).toMatch(/^Task Ledger cannot be kept: .*other columns/);
		expect(sent()).toStrictEqual([]);
		expect((await run(['a'], { maximumVideos: 5, taskLedger: false })).status).toBe('success');
	});

	test.each(CASES)('%s: creates all, and says so once', async (_name, prepare) => {
		prepare();
		const before = tables.rows;
		const result = await run(['a', 'b', 'c'], { concurrency: 1 });
		expect(idsOf(result.outputs[0])).toStrictEqual(['task-a', 'task-b', 'task-c']);
		expect(hintsOf(result)).toStrictEqual([
			expect.stringMatching(new RegExp(`^The ledger is not written\\. .*${TABLE}`)),
		]);
		expect(tables.rows).toStrictEqual(before);
	});

	test.each(CASES)(
		'%s: a second try says so again, as only its hints are seen',
		async (_name, prepare) => {
			prepare();
			answers = { b: [reject] };
			const result = await run(['a', 'b'], { concurrency: 1 }, { retryOnFail: true });
			expect(idsOf(result.outputs[0])).toStrictEqual(['task-a', 'task-b']);
			expect(hintsOf(result)).toStrictEqual([
				expect.stringMatching(new RegExp(`^The ledger is not written\\. .*${TABLE}`)),
			]);
		},
	);

	test.each(CASES)('%s: a key fails before anything is sent', async (_name, prepare) => {
		prepare();
		const { error } = await run(['a'], { idempotencyKey: 'k' });
		expect(error!.message).toMatch(/^Idempotency Key cannot be kept: /);
		expect(error!.message).toContain(TABLE);
		expect(error!.description).toMatch(/^Nothing was sent/);
		expect(sent()).toStrictEqual([]);
	});

	test('a key fails before anything is sent with the Task Ledger off', async () => {
		const { error } = await run(['a'], { idempotencyKey: 'k', taskLedger: false });
		expect(error!.message).toBe('Idempotency Key cannot be kept: Task Ledger is off');
		expect(sent()).toStrictEqual([]);
	});

	test('it becomes full between two creations: those with a key are not sent', async () => {
		onCreation = () => {
			fails('Data table size limit exceeded', ['insert'])();
		};
		const { outputs } = await run(
			['a', 'b', 'c'],
			{ idempotencyKey: '={{ $json.prompt === "c" ? "" : $json.prompt }}', concurrency: 1 },
			{ onError: 'continueErrorOutput' },
		);
		expect(sent()).toStrictEqual(['a']);
		expect(outputs[1]![0]!.json['error']).toMatch(/^Idempotency Key cannot be kept: /);
		expect(outputs[1]![0]!.json['message']).toMatch(/^This item was not sent, others were\./);
	});

	test('it becomes full between two creations: the keys of the others are given back', async () => {
		onCreation = () => {
			fails('Data table size limit exceeded', ['insert'])();
		};
		const options = { idempotencyKey: '={{ $json.prompt }}', concurrency: 1 };
		const { error } = await run(['a', 'b', 'c'], options);
		expect(error!.description).toMatch(
			/^This item was not sent, others .* retry this execution/,
		);
		expect(sent()).toStrictEqual(['a']);
		expect(rowsOf()).toStrictEqual(['a sent']);
	});

	test('it is full until the end: a Retry of the saved execution writes what is missing', async () => {
		onCreation = () => {
			fails('Data table size limit exceeded', ['insert', 'update'])();
		};
		const full = await run(['a', 'b'], { ...KEYED, concurrency: 1 });
		expect(full.status).toBe('error');
		expect(rowsOf()).toStrictEqual(['a sent']);
		onCreation = () => undefined;
		tables.fails = () => undefined;
		const { outputs, error } = await full.resume(retry.execution);
		expect(error).toBeUndefined();
		// The first one has gone on before.
		expect(idsOf(outputs[0])).toStrictEqual(['task-b']);
		expect(sent()).toStrictEqual(['a', 'b']);
		expect(rowsOf()).toStrictEqual(['a open', 'b open']);
	});

	test('after an answer it becomes writable again: nothing is lost', async () => {
		onCreation = (prompt) => {
			tables.fails = () => (prompt === 'c' ? undefined : 'locked');
		};
		const result = await run(['a', 'b', 'c'], { concurrency: 1 });
		expect(hintsOf(result)).toHaveLength(1);
		expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
	});

	test.each(['locked', 'full'])('a retry that cannot read it sends nothing: %s', async (why) => {
		await runKilledAt('b', ['a', 'b'], { concurrency: 1 });
		tables.fails = (operation) => (operation === 'get' ? why : undefined);
		const { error } = await run(['a', 'b'], {}, retry);
		expect(error!.message).toMatch(/^Task Ledger cannot be read, /);
		expect(error!.description).toMatch(/^Nothing was sent\. .*Task Ledger/);
		expect(sent()).toStrictEqual([]);
	});

	test.each(CASES.slice(0, 2))(
		'a retry goes on with %s: it has no rows',
		async (_name, prepare) => {
			prepare();
			const result = await run(['a'], {}, retry);
			expect(idsOf(result.outputs[0])).toStrictEqual(['task-a']);
			expect(hintsOf(result)).toHaveLength(1);
		},
	);
});

describe('a write that has failed, and is there all the same', () => {
	test.each<[string, IDataObject, Partial<EnvironmentOptions>]>([
		['without keys', {}, {}],
		['with keys', KEYED, {}],
		['in a retry', {}, retry],
	])('is not there twice: %s', async (_name, options, more) => {
		skipsPauses = true;
		for (const operation of ['insert', 'update', 'deleteRows']) {
			const unsure = unsureAt(operation, 'Connection terminated unexpectedly');
			const { error } = await run(
				['a', 'b', 'c'],
				{ ...options, concurrency: 1 },
				{ ...later(operation), ...more, tables: unsure },
			);
			expect(error).toBeUndefined();
			expect(sent()).toStrictEqual(['a', 'b', 'c']);
			expect(rowsOf()).toStrictEqual(['a open', 'b open', 'c open']);
			forget();
			tables = dataTables();
		}
	});

	test('of a claim: its call is not sent, and the key is free again', async () => {
		const unsure = unsureAt('update', 'Data table size limit exceeded');
		const { error } = await run(['a 1'], KEYED, { tables: unsure });
		expect(error!.message).toMatch(/^Idempotency Key cannot be kept: /);
		expect(sent()).toStrictEqual([]);
		expect(rowsOf()).toStrictEqual([]);
	});
});

describe('two executions of which one stands still after its claim', () => {
	/** The first execution stands still before its row becomes `sent`; the clock of the other one runs far ahead. */
	async function race(options: IDataObject, [first, second]: Partial<EnvironmentOptions>[]) {
		const held = heldAt('update');
		const slow = run(['a 1'], options, { ...first, tables: held.tables });
		await held.reached;
		skipsPauses = true;
		const other = await run(['a 1'], options, {
			...second,
			onError: 'continueErrorOutput',
		});
		held.goOn();
		return { slow: await slow, other };
	}
	const CASES: [string, IDataObject, Partial<EnvironmentOptions>[]][] = [
		['with a key', KEYED, [later('11'), later('12')]],
		['retries', {}, ['12', '13'].map((id) => ({ execution: { ...retry.execution, id } }))],
	];

	test.each(CASES)('%s: it takes the video of the other one', async (_name, options, both) => {
		const { slow, other } = await race(options, both);
		expect(reusedOf(other.outputs[0])).toStrictEqual([false]);
		expect(idsOf(slow.outputs[0])).toStrictEqual(['task-a 1']);
		expect(reusedOf(slow.outputs[0])).toStrictEqual([true]);
		expect(sent()).toStrictEqual(['a 1']);
		expect(rowsOf()).toStrictEqual(['a 1 open']);
	});

	test.each(CASES)(
		'%s: it claims again where the other one has failed',
		async (_name, options, both) => {
			answers = { 'a 1': [reject] };
			const { slow, other } = await race(options, both);
			expect(other.outputs[1]).toHaveLength(1);
			expect(reusedOf(slow.outputs[0])).toStrictEqual([false]);
			expect(sent()).toStrictEqual(['a 1', 'a 1']);
			expect(rowsOf()).toStrictEqual(['a 1 open']);
		},
	);

	test('a retry that has seen the claim of another one sends nothing that this one has sent since', async () => {
		const [first, second] = CASES[1]![2] as [
			Partial<EnvironmentOptions>,
			Partial<EnvironmentOptions>,
		];
		const sending = heldAt('update');
		const slow = run(['a 1'], {}, { ...first, tables: sending.tables });
		await sending.reached;
		const claiming = heldAt('insert');
		const other = run(['a 1'], {}, { ...second, tables: claiming.tables });
		await claiming.reached;
		let answer: () => void = () => undefined;
		const arrived = new Promise<void>((resolve) => {
			answers = {
				'a 1': [
					(response) => {
						answer = () => {
							create(response, 'a 1');
						};
						resolve();
					},
				],
			};
		});
		sending.goOn();
		await arrived;
		const { length } = tables.operations;
		claiming.goOn();
		while (!tables.operations.slice(length).includes('get'))
			await new Promise((resolve) => setImmediate(resolve));
		answer();
		expect(reusedOf((await slow).outputs[0])).toStrictEqual([false]);
		expect(reusedOf((await other).outputs[0])).toStrictEqual([true]);
		expect(sent()).toStrictEqual(['a 1']);
	});
});

describe('Idempotency Key', () => {
	test('the same key in one run: the first item creates, the others get its task', async () => {
		const { outputs } = await run(['a 1', 'b 1', 'a 2', 'a 3'], KEYED);
		expect(sent().sort()).toStrictEqual(['a 1', 'b 1']);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a 1', 'task-b 1', 'task-a 1', 'task-a 1']);
		expect(reusedOf(outputs[0])).toStrictEqual([false, false, true, true]);
	});

	test('the same key in one run: if the creation fails, all fail', async () => {
		answers = { 'a 1': [reject] };
		const onError = 'continueErrorOutput';
		const { outputs } = await run(['a 1', 'a 2', 'b 1'], KEYED, { onError });
		expect(outputs[1]).toHaveLength(2);
		expect(sent()).toHaveLength(2);
		expect(rowsOf()).toStrictEqual(['b 1 open']);
	});

	const keyedTask = (more: IDataObject) => {
		tables.insert(TASK_TABLE, {
			task_id: 'old',
			idempotency_key: 'a',
			call: '0 x y',
			sent_at: '2020-01-01T00:00:00.000Z',
			...more,
		});
	};

	test('a kill between the answer and the removal of what announced it leaves one row', async () => {
		keyedTask({ task_id: '', status: 'sent' });
		keyedTask({ status: 'open' });
		const { outputs } = await run(['a 1'], KEYED);
		expect(sent()).toStrictEqual([]);
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'old', reused: true });
		expect(tables.rows.map(({ status }) => status)).toStrictEqual(['open']);
	});

	test.each([
		['open', 'pending', null, 'not finished', 'Tasks still generating'],
		['done', 'completed', '2020-01-01T00:01:00.000Z', 'completed', 'Tasks completed'],
	])(
		'a task that is %s is reused, and texts say so',
		async (word, status, finished_at, line, list) => {
			keyedTask({ status: word, finished_at });
			const { outputs } = await run(['a 1'], KEYED);
			const output = `The video is ${line}: task old`;
			expect(outputs[0]![0]!.json).toMatchObject({
				...{ task_id: 'old', status, reused: true, output },
			});
			expect(sent()).toStrictEqual([]);
			answers = { 'b 2': [reject] };
			const { error } = await run(['a 1', 'b 2'], KEYED);
			expect(error!.description).toContain(`${list}: old.`);
		},
	);

	test('a certain failure frees the key at once', async () => {
		answers = { 'a 1': [reject] };
		await run(['a 1'], KEYED);
		expect(tables.rows).toStrictEqual([]);
		const { outputs } = await run(['a 1'], KEYED, later('12'));
		expect(idsOf(outputs[0])).toStrictEqual(['task-a 1']);
	});

	test('keys are free again when nothing was sent', async () => {
		const limited = await run(['a', 'b', 'c'], { ...KEYED, maximumVideos: 2 });
		expect(limited.error!.message).toMatch(/^Maximum Videos is 2/);
		expect(tables.rows).toStrictEqual([]);
		answers = { a: [reject] };
		await run(['a', 'b', 'c', 'd'], { ...KEYED, concurrency: 1 }, later('12'));
		expect(sent()).toStrictEqual(['a']);
		expect(tables.rows).toStrictEqual([]);
	});

	test('a call without an answer is reported to the next execution', async () => {
		answers = { 'a 1': [breakOff] };
		await run(['a 1'], KEYED);
		aheadMs = 5 * 60_000;
		const { error } = await run(['a 2'], KEYED, later('12'));
		expect(error!.description).toMatch(/may exist/);
		expect(`${error!.message} ${error!.description ?? ''}`).toContain(TABLE);
		expect(sent()).toStrictEqual(['a 1']);
		// As the error says, a person decides.
		const [row] = tables.rows;
		restore([{ ...row, task_id: 'found' }]);
		const { outputs } = await run(['a 2'], KEYED, later('13'));
		expect(idsOf(outputs[0])).toStrictEqual(['found']);
		restore([]);
		await run(['a 2'], KEYED, later('14'));
		expect(sent()).toStrictEqual(['a 1', 'a 2']);
	});

	test('a retry of a killed execution reuses by key, and removes its claims', async () => {
		await runKilledAt('b 1', ['a 1', 'b 1', 'c 1'], { ...KEYED, concurrency: 1 });
		expect(rowsOf()).toStrictEqual(['a 1 open', 'b 1 sent', 'c 1 claimed']);
		const { outputs } = await run(['a 2', 'c 2'], KEYED, retry);
		expect(idsOf(outputs[0])).toStrictEqual(['task-a 1', 'task-c 2']);
		expect(sent()).toStrictEqual(['c 2']);
		expect(rowsOf()).toStrictEqual(['a 1 open', 'b 1 sent', 'c 2 open']);
	});

	test('waits for an execution that is creating the video', async () => {
		let finish: ((value: unknown) => void) | undefined;
		const arrived = new Promise((resolve) => {
			onCreation = resolve;
		});
		answers = {
			'a 1': [
				(response) => {
					finish = () => {
						create(response, 'a 1');
					};
				},
			],
		};
		const first = run(['a 1'], KEYED);
		await arrived;
		const second = run(['a 2'], KEYED, later('12'));
		while (!tables.operations.slice(-1).includes('get'))
			await new Promise((resolve) => setImmediate(resolve));
		finish!(undefined);
		expect(idsOf((await first).outputs[0])).toStrictEqual(['task-a 1']);
		const { outputs } = await second;
		expect(outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a 1', reused: true });
		expect(sent()).toStrictEqual(['a 1']);
	});

	test('is kept through a long pause between batches', async () => {
		const batches = { concurrency: 1, batchInterval: 16 * 60_000 };
		const { error, outputs } = await withFakeTimers(
			async () => await run(['a 1', 'b 1'], { ...KEYED, ...batches }),
		);
		expect(error).toBeUndefined();
		expect(idsOf(outputs[0])).toStrictEqual(['task-a 1', 'task-b 1']);
	});

	const heldBy = (status: string, seconds = 0) => ({
		status,
		idempotency_key: 'a',
		token: 'token of another',
		execution_id: '9',
		sent_at: new Date(Date.now() - seconds * 1_000).toISOString(),
	});

	// A word that is none of the ledger frees nothing.
	test.each(['sent', 'Claimed', 'mine'])(
		'is in use by a row %s: an error that names it',
		async (status) => {
			tables.insert(TASK_TABLE, heldBy(status));
			const { error } = await withFakeTimers(async () => await run(['a 1'], KEYED));
			expect(error!.message).toMatch(
				/^Idempotency Key is in use: execution 9 .*\(row \d+ of /,
			);
			expect(error!.description).toMatch(/Enter its task_id in the row, or delete the row/);
			expect(sent()).toStrictEqual([]);
		},
	);

	test('is kept while another key of the run is waited for', async () => {
		tables.insert(TASK_TABLE, { ...heldBy('sent'), idempotency_key: 'b' });
		const [first, second] = await withFakeTimers(async () => {
			const long = run(['a 1', 'b 1'], KEYED, { onError: 'continueErrorOutput' });
			// The other key is still waited for.
			await new Promise((resolve) => setTimeout(resolve, 70_000));
			return await Promise.all([long, run(['a 2'], KEYED, later('12'))]);
		});
		expect(sent()).toStrictEqual(['a 1']);
		expect(idsOf(first.outputs[0])).toStrictEqual(['task-a 1']);
		expect(second.outputs[0]![0]!.json).toMatchObject({ task_id: 'task-a 1', reused: true });
	});

	test('an execution after a kill gets all videos, without a retry', async () => {
		const prompts = ['a 1', 'b 1', 'c 1', 'd 1'];
		await runKilledAt('b 1', prompts, { ...KEYED, concurrency: 1 });
		// The one that was sent has no answer: a person settles it.
		restore(tables.rows.filter(({ status }) => status !== 'sent'));
		expect(rowsOf()).toStrictEqual(['a 1 open', 'c 1 claimed', 'd 1 claimed']);
		const { error, outputs } = await withFakeTimers(
			async () => await run(prompts, KEYED, later('12')),
		);
		expect(error).toBeUndefined();
		expect(reusedOf(outputs[0])).toStrictEqual([true, false, false, false]);
	});

	test.each(['', '   ', '={{ $json.none }}', '={{ null }}'])('%j is an error', async (key) => {
		const { error } = await run(['a'], { idempotencyKey: key });
		expect(error).toMatchObject({
			message: 'Idempotency Key is empty',
			description: expect.stringContaining('remove the option') as string,
		});
		expect(sent()).toStrictEqual([]);
	});

	test.each([
		['={{ $json.none !== undefined }}', 'false'],
		['={{ String($json.none) }}', 'undefined'],
		['={{ $json.none * 1 }}', 'NaN'],
		['={{ "[]" }}', '[]'],
		['={{ JSON.stringify({}) }}', '{}'],
		['={{ JSON.stringify([$json.none, { id: "" }]) }}', '[null,{"id":""}]'],
		['={{ "" + ({}) }}', '[object Object]'],
	])('%j is an error: all items would have one video', async (key, shown) => {
		const { error } = await run(['a', 'b'], { idempotencyKey: key });
		expect(error).toMatchObject({
			message: `Idempotency Key is ${shown}, as for every item without a value`,
			description: expect.stringMatching(/^Enter an expression/) as string,
		});
		expect(sent()).toStrictEqual([]);
	});

	test.each([
		['an expression-like text', '={{ $json.prompt }}'],
		['a text that begins with =', '=1+1'],
		['braces', 'a {{ $json.prompt }} b'],
		['quotes', `"it's" \`\${1}\` \\ '; DROP TABLE x --`],
		['wildcards', '%_*'],
		['line breaks', 'a\nb\r\nc'],
		['other alphabets', '№ 7 ☂ 注文 🎬'],
		['half a character', 'half \ud83d'],
		['NUL', 'a\0b'],
		['5,000 characters', 'x'.repeat(5_000)],
		['a number', 17],
	])('%s as a key', async (_name, key) => {
		const keyed = async (given: unknown, id: string) =>
			await runNode('createVideo', {
				...environment(later(id)),
				items: [{ prompt: 'a', key: given as string }],
				parameters: parametersOf({ idempotencyKey: '={{ $json.key }}' }),
			});
		await keyed(key, '11');
		const { outputs } = await keyed(key, '12');
		expect(reusedOf(outputs[0])).toStrictEqual([true]);
		await keyed(`${String(key)}!`, '13');
		expect(sent()).toHaveLength(2);
	});
});

test('a task ID with white space gets the result of its video into its row', async () => {
	answers['a'] = [
		(response) => {
			json(response, 200, { task_id: ' task-a\n', status: 'queued', model: 'video-m1' });
		},
	];
	const { outputs } = await run(['a']);
	// A poll has no prompt.
	answers['undefined'] = [
		(response) => {
			json(response, 200, { status: 'completed', video_url: `${server.url}/a.mp4` });
		},
	];
	await runNode('waitForVideo', {
		...environment(),
		items: outputs[0]!.map(({ json: item }) => item),
		parameters: { download: false },
	});
	expect(tables.rows).toMatchObject([{ task_id: 'task-a', finished_at: DATE }]);
});

test('of old rows those with a result go, beyond the newest 40,000; those with a key, open ones and those of this month stay', async () => {
	const row = (task_id: string, more: IDataObject = {}) => ({
		task_id,
		status: 'done',
		sent_at: '2020-01-01T00:00:00.000Z',
		finished_at: '2020-01-01T00:01:00.000Z',
		...more,
	});
	tables.insert(
		TASK_TABLE,
		row('old'),
		row('open', { finished_at: null }),
		row('keyed', { idempotency_key: 'order 1' }),
		row('', { status: 'sent', finished_at: null }),
		row('recent', { sent_at: new Date(Date.now() - 31 * DAY_MS).toISOString() }),
		...Array.from({ length: 41_000 }, () => ({ task_id: 'newer' })),
		row('young'),
	);
	await run(['a']);
	const left = tables.rows.map(({ task_id }) => task_id).filter((id) => id !== 'newer');
	expect(left).toStrictEqual(['open', 'keyed', '', 'recent', 'young', 'task-a']);
});

test('500 creations are in the table once each', async () => {
	const prompts = Array.from({ length: 500 }, (_, index) => `p${index}`);
	const { outputs } = await run(prompts);
	expect(outputs[0]).toHaveLength(500);
	expect(new Set(idsOf(outputs[0])).size).toBe(500);
	expect(tables.rows).toHaveLength(500);
	expect(tables.rows.every(({ status }) => status === 'open')).toBe(true);
});
