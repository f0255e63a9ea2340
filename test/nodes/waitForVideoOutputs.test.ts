import {
	NodeHelpers,
	Workflow,
	type IDataObject,
	type INode,
	type INodeExecutionData,
	type INodeOutputConfiguration,
} from 'n8n-workflow';

import { WaitForVideo } from '../../nodes/WaitForVideo/WaitForVideo.node';
import { TASK_TABLE } from '../../nodes/shared/durable/taskTable';
import { accountOf, readCredential } from '../../nodes/shared/run/credential';
import { dataTables } from '../support/dataTables';
import {
	allItems,
	packageNode,
	runNode,
	runWorkflow,
	stubNode,
	type RunOptions,
	type Wires,
} from '../support/engine';
import { json, serverForEach } from '../support/scriptedServer';
import { COMPLETED, ERROR, FAILED, GENERATING } from '../support/waitOutputs';
import { FAILURE } from '../support/failureTexts';

const WAIT = 'Wait';
const CONNECTED: Wires = { [WAIT]: [['Done'], ['Lost'], ['Later']] };
/** The output Failed leads nowhere. */
const NOT_FAILED: Wires = { [WAIT]: [['Done']] };
const MODERATED = { status: 'failed', error_message: 'moderation' };

/** What the service answers for a task; every other task is completed. */
let reports: Record<string, object>;

const server = serverForEach((response, { path, body }) => {
	if (path.startsWith('/cdn/')) {
		response.writeHead(410).end();
		return;
	}
	if (path.endsWith('/generations')) {
		const created = { task_id: 'new', status: 'queued', model: 'video-m1' };
		const { prompt } = body as { prompt: string };
		if (prompt === 'refused') json(response, 406, { error: { message: 'no credit' } });
		else json(response, 200, created);
		return;
	}
	const { task_id } = body as { task_id: string };
	const completed = { status: 'completed', video_url: `${server.url}/cdn/${task_id}.mp4` };
	const { status_code = 200, ...report } = (reports[task_id] ?? completed) as IDataObject;
	json(response, status_code as number, { task_id, model: 'video-m1', ...report });
});

beforeEach(() => {
	reports = {};
});

const ids = (...taskIds: string[]) => taskIds.map((task_id) => ({ task_id }));
const idsOf = (items: readonly INodeExecutionData[] = []) =>
	items.map(({ json: fields }) => fields['task_id']);

/** Runs the node in a workflow with these connections. */
async function wait(
	wires: Wires,
	{
		parameters,
		nodeSettings,
		...more
	}: Partial<RunOptions> & { readonly nodeSettings?: Partial<INode> } = {},
) {
	const nodes = [
		{
			...packageNode(WAIT, 'waitForVideo', {
				...more,
				parameters: { download: false, ...parameters },
			}),
			...nodeSettings,
		},
		...['Done', 'Lost', 'Later'].map((name) => stubNode(name, (items) => items)),
	];
	const credential = { baseUrl: server.url, apiKey: 'k-secret' };
	return await runWorkflow(nodes, wires, WAIT, { credential, ...more });
}

/** The names of the outputs that n8n draws. */
function drawnOutputs(parameters: IDataObject, more: Partial<RunOptions> = {}) {
	const type = new WaitForVideo();
	const node = packageNode(WAIT, 'waitForVideo', { parameters, ...more });
	const nodeTypes = {
		getByName: () => type,
		getByNameAndVersion: () => type,
		getKnownTypes: () => ({}),
	};
	const workflow = new Workflow({ active: false, nodes: [node], connections: {}, nodeTypes });
	return NodeHelpers.getNodeOutputs(workflow, node, type.description).map(
		(output) => (output as INodeOutputConfiguration).displayName,
	);
}

test.each<[IDataObject, string[]]>([
	[{}, ['Completed', 'Failed']],
	[{ waitMode: 'inPlace' }, ['Completed', 'Failed']],
	[{ waitMode: 'suspend' }, ['Completed', 'Failed']],
	[{ waitMode: 'once' }, ['Completed', 'Failed', 'Generating']],
])('%j has the outputs %j, and the error output after them', (parameters, names) => {
	expect(drawnOutputs(parameters)).toStrictEqual(names);
	const withError = drawnOutputs(parameters, { onError: 'continueErrorOutput' });
	expect(withError).toStrictEqual([...names, 'Error']);
});

test('a disabled node behind Failed is none: the node fails', async () => {
	reports = { a: MODERATED };
	const nodes = [
		packageNode(WAIT, 'waitForVideo', { parameters: { download: false } }),
		{ ...stubNode('Lost', (items) => items), disabled: true },
	];
	const credential = { baseUrl: server.url, apiKey: 'k-secret' };
	const options = { credential, items: ids('a') };
	const off = await runWorkflow(nodes, { [WAIT]: [[], ['Lost']] }, WAIT, options);
	expect(off.status).toBe('error');
	const wires = { [WAIT]: [[], ['Lost']], Lost: [['Told']] };
	const told = [...nodes, stubNode('Told', (items) => items)];
	const on = await runWorkflow(told, wires, WAIT, options);
	expect(on.status).toBe('success');
	expect(idsOf(allItems(on, 'Told')[0])).toStrictEqual(['a']);
});

test('with Retry On Fail videos are asked for again, beside one that is finished', async () => {
	reports = { b: MODERATED };
	const result = await wait(NOT_FAILED, { items: ids('a', 'b'), retryOnFail: true });
	expect(result.status).toBe('error');
	expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a']);
	const asked = server.requests.filter(
		({ body }) => idsOf([{ json: body as IDataObject }])[0] === 'b',
	);
	expect(asked.length).toBeGreaterThan(1);
});

describe('an item that a limit has left out', () => {
	const UNSENT = { task_id: '', reason: 'limit', request: { prompt: 'A kite' } };
	const hintsOf = ({ run }: Awaited<ReturnType<typeof wait>>) =>
		run.data.resultData.runData[WAIT]!.flatMap(({ hints = [] }) =>
			hints.map(({ message }) => message),
		);

	test('leaves through Failed as it is, if that is connected', async () => {
		const result = await wait(CONNECTED, { items: [UNSENT, ...ids('a')] });
		expect(result.status).toBe('success');
		expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a']);
		expect(allItems(result, 'Lost')[0]!.map(({ json: fields }) => fields)).toStrictEqual([
			UNSENT,
		]);
	});

	test.each<[string, readonly IDataObject[], string[]]>([
		['one of several', [UNSENT, ...ids('a')], ['a']],
		['all of them', [UNSENT], []],
	])('does not fail the node where nothing is connected: %s', async (_name, items, expected) => {
		const result = await wait(NOT_FAILED, { items: [...items] });
		expect(result.status).toBe('success');
		expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(expected);
		expect(hintsOf(result)).toContain('1 item without a task, which Create Video has not sent');
	});

	test('leaves through Failed also where On Failed Videos fails the node', async () => {
		const parameters = { options: { onFailed: 'fail' } };
		const whole = await wait(CONNECTED, { items: [UNSENT, ...ids('a')], parameters });
		expect(whole.status).toBe('success');
		expect(allItems(whole, 'Lost')[0]!.map(({ json: fields }) => fields)).toStrictEqual([
			UNSENT,
		]);
		reports = { b: MODERATED };
		const failed = await wait(CONNECTED, { items: [UNSENT, ...ids('a', 'b')], parameters });
		expect(failed.status).toBe('error');
		expect(
			allItems(failed, 'Lost')
				.flat()
				.map(({ json: fields }) => fields),
		).toStrictEqual([UNSENT]);
	});

	test('is no video that has gone on beside a failed one', async () => {
		reports = { b: MODERATED };
		const result = await wait(NOT_FAILED, { items: [...ids('b', 'a'), UNSENT] });
		expect(result.error!.message).toMatch(
			/^1 of 2 videos failed: b \(moderation\)\. 1 has gone on: a\. Retry/,
		);
		expect(result.error!.description).not.toContain('item 2');
		const alone = await wait(NOT_FAILED, { items: [...ids('b'), UNSENT] });
		expect(alone.error!.message).toMatch(/^The video failed: b \(moderation\)\. Retry/);
		expect(alone.run.data.resultData.runData[WAIT]).toHaveLength(1);
	});
});

describe('a failed video', () => {
	const items = ids('a', 'b', 'c');
	beforeEach(() => {
		reports = { b: MODERATED };
	});

	test.each<[string, Wires]>([
		['Failed is not connected', NOT_FAILED],
		['nothing is connected', {}],
	])(
		'fails the node if %s, after the others have gone on; the error says first what is free',
		async (_name, wires) => {
			const result = await wait(wires, { items });
			const { status, error, run } = result;
			expect(status).toBe('error');
			expect(error!.message).toBe(
				'1 of 3 videos failed: b (moderation). 2 have gone on: a, c. Retry does not change what failed at the service, and costs nothing',
			);
			expect(error!.description).toMatch(
				/^To go on without them, connect the output Failed .* free of charge\. Create what failed again .*\. Executing the whole workflow again pays for all .*Tasks failed: b: moderation\.$/,
			);
			expect(idsOf(allItems(result, WAIT)[COMPLETED])).toStrictEqual(['a', 'c']);
			expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(
				wires === NOT_FAILED ? ['a', 'c'] : [],
			);
			expect(run.data.resultData.runData[WAIT]).toHaveLength(2);
		},
	);

	test('of Fail the Node can go on if the option is changed, not by a connection alone', async () => {
		const parameters = { options: { onFailed: 'fail' } };
		const { error } = await wait(CONNECTED, { items, parameters });
		expect(error!.description).toMatch(
			/^To go on without them, set On Failed Videos to Send to Failed Output, connect the output Failed /,
		);
	});

	test('leaves through Failed if that is connected', async () => {
		const result = await wait(CONNECTED, { items });
		expect(result.status).toBe('success');
		expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a', 'c']);
		expect(idsOf(allItems(result, 'Lost')[0])).toStrictEqual(['b']);
	});

	test('fails the node if it cannot be downloaded', async () => {
		const { error } = await wait({}, { items: ids('a'), parameters: { download: true } });
		expect(error!.description).toMatch(
			/^The video is completed: .* task_id: a\. video_url: http/,
		);
	});

	test('leaves through Failed with Send to Failed Output, connected or not', async () => {
		const parameters = { options: { onFailed: 'output' } };
		const { outputs } = await wait({}, { items, parameters });
		expect(outputs.map(idsOf)).toStrictEqual([['a', 'c'], ['b']]);
	});

	test.each([WAIT, 'Done'])(
		'leaves through Failed when the execution ends at %s: n8n leaves out other connections',
		async (stepOf) => {
			const { outputs } = await wait({ [WAIT]: [['Done']] }, { items, stepOf });
			expect(outputs.map(idsOf)).toStrictEqual([['a', 'c'], ['b']]);
		},
	);

	test('leaves through the error output if Failed is not connected, in every mode', async () => {
		for (const waitMode of ['inPlace', 'suspend', 'once']) {
			const { outputs } = await wait(
				{ [WAIT]: [['Done']] },
				{ items, parameters: { waitMode }, onError: 'continueErrorOutput' },
			);
			const error = waitMode === 'once' ? ERROR + 1 : ERROR;
			expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a', 'c']);
			expect(outputs[FAILED]).toStrictEqual([]);
			expect(outputs[error]).toMatchObject([{ json: { details: { task_id: 'b' } } }]);
			expect(outputs).toHaveLength(error + 1);
		}
	});

	test('from the task ledger fails the node as well, after the completed ones have gone on', async () => {
		const tables = dataTables();
		const account = accountOf(readCredential({ baseUrl: server.url, apiKey: 'k-secret' }));
		const sent_at = new Date(Date.now() - 3_600_000).toISOString();
		tables.insert(
			TASK_TABLE,
			...['a', 'b'].map((task_id) => ({
				...{ task_id, status: 'queued', sent_at, call: task_id },
				...{ account, workflow_id: 'test' },
			})),
		);
		const { error } = await wait(
			{ [WAIT]: [['Done']] },
			{ tables, parameters: { tasks: 'ledger' } },
		);
		expect(error!.message).toMatch(
			/^1 of 2 videos failed: b .*Retry does not change what failed at the service, and costs nothing$/,
		);
		expect(tables.rows.map((row) => row['finished_at'] === null)).toStrictEqual([false, false]);
	});

	test('beside files that could not be downloaded: each with what a Retry does about it', async () => {
		const { error } = await wait(NOT_FAILED, { items, parameters: { download: true } });
		expect(error!.message).toMatch(
			/^3 of 3 videos failed: .*Retry polls again, free of charge\. Retry does not change what failed at the service, and costs nothing$/,
		);
	});

	test('fails the node at once if there is nothing else to go on', async () => {
		reports = { a: MODERATED, b: MODERATED };
		const { error, run } = await wait(NOT_FAILED, { items: ids('a', 'b') });
		expect(error!.message).toBe(
			'2 of 2 videos failed: a, b (moderation). None has gone on. Retry does not change what failed at the service, and costs nothing',
		);
		expect(run.data.resultData.runData[WAIT]).toHaveLength(1);
	});

	test('of several runs are in one error, after all runs', async () => {
		reports = { b: MODERATED, d: MODERATED };
		const batches = [ids('a', 'b'), ids('c', 'd')];
		const nodes = [
			stubNode('Split', () => batches.map((batch) => batch.map((json) => ({ json })))),
			packageNode(WAIT, 'waitForVideo', { parameters: { download: false } }),
			stubNode('Done', (each) => each),
		];
		const wires = { Split: [[WAIT], [WAIT]], ...NOT_FAILED };
		const result = await runWorkflow(nodes, wires, 'Split', {
			credential: { baseUrl: server.url, apiKey: 'k' },
		});
		expect(result.error!.message.match(/1 of 2 videos failed: [bd] /g)).toHaveLength(2);
		expect(result.error!.message.match(/Retry/g)).toHaveLength(1);
		expect(result.error!.description).toMatch(/Tasks failed: d.*Tasks failed: b/);
		expect(idsOf(allItems(result, 'Done')[0]).sort()).toStrictEqual(['a', 'c']);
	});

	test('is waited for once more by a retry of the execution, and the others do not go on again', async () => {
		const first = await wait(NOT_FAILED, { items, execution: { id: '1', token: 't' } });
		expect(first.status).toBe('error');
		reports = {};
		const retry = await first.resume({ id: '2', token: 't', isRetry: true });
		expect(retry.status).toBe('success');
		expect(retry.outputs.map(idsOf)).toStrictEqual([['b'], []]);
		expect(retry.outputs[0]).toMatchObject([{ pairedItem: { item: 1 } }]);
		expect(idsOf(allItems(retry, 'Done')[0])).toStrictEqual(['a', 'c', 'b']);
	});
});

/** What Create Video outputs with *On Error: Continue* for a creation that the service has refused. */
const REFUSED = {
	error: FAILURE.noCredit,
	message: 'Top up the account, then retry this execution.',
	details: { status: 406 },
};

describe('a creation that was refused', () => {
	const WAITS = { prompt: 'a', waitUntilFinished: true };
	const items = [{ task_id: 'a' }, REFUSED, { task_id: 'c' }];
	const lost = {
		...REFUSED,
		reason: 'creation',
		task_id: '',
		error_message: `${REFUSED.error}. ${REFUSED.message}`,
	};

	test.each([undefined, 'continueRegularOutput', 'continueErrorOutput'] as const)(
		'leaves through Failed with its own error, and the others are waited for (%s)',
		async (onError) => {
			const { status, outputs } = await wait(CONNECTED, {
				items,
				...(onError && { onError }),
			});
			expect(status).toBe('success');
			expect(idsOf(outputs[COMPLETED])).toStrictEqual(['a', 'c']);
			expect(outputs[FAILED]).toMatchObject([{ json: lost, pairedItem: { item: 1 } }]);
		},
	);

	test('fails the node where Failed is not connected, after the others', async () => {
		const result = await wait(NOT_FAILED, { items });
		expect(result.error!.message).toMatch(/^1 of 3 videos failed: item 1 \(/);
		expect(result.error!.description).toContain(`Without a task: item 1: ${FAILURE.noCredit}`);
		expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a', 'c']);
	});

	test.each<[string, IDataObject[], Partial<INode>, number, IDataObject]>([
		['beside others', items, { onError: 'continueRegularOutput' }, COMPLETED, {}],
		['alone', [REFUSED], { onError: 'continueRegularOutput' }, COMPLETED, {}],
		['in the older form', items, { continueOnFail: true }, COMPLETED, {}],
		['beside others', items, { onError: 'continueErrorOutput' }, ERROR, {}],
		['alone', [REFUSED], { onError: 'continueErrorOutput' }, ERROR, {}],
		['suspended', items, { onError: 'continueErrorOutput' }, ERROR, { waitMode: 'suspend' }],
		['asked once', items, { onError: 'continueErrorOutput' }, ERROR + 1, { waitMode: 'once' }],
	])(
		'goes on as an error where nothing is connected to Failed: %s, %j, %j',
		async (_name, input, nodeSettings, output, parameters) => {
			const result = await wait(NOT_FAILED, { items: input, nodeSettings, parameters });
			expect(result.status).toBe('success');
			expect(result.outputs[FAILED]).toStrictEqual([]);
			const refused = result.outputs[output]!.filter(({ json: { error } }) => error);
			expect(refused).toStrictEqual([
				{ json: REFUSED, pairedItem: { item: input.indexOf(REFUSED) } },
			]);
			const done = idsOf(allItems(result, 'Done')[0]).filter(Boolean);
			expect(done).toStrictEqual(input.length === 1 ? [] : ['a', 'c']);
		},
	);

	test.each<[string, IDataObject, IDataObject, object]>([
		['of a creation', { prompt: 'refused' }, { reason: 'creation', task_id: '' }, {}],
		['of a video', WAITS, { reason: 'failed', task_id: 'new' }, { new: MODERATED }],
		['of a download', WAITS, { reason: 'download', task_id: 'new' }, {}],
	])(
		'leaves through Failed where its item has an older task: the error output %s',
		async (_name, parameters, fields, reported) => {
			reports = { ...reported };
			const nodes = [
				stubNode('Rows', () => [{ json: { task_id: 'old' } }]),
				{
					...packageNode('Create', 'createVideo', { parameters }),
					onError: 'continueErrorOutput' as const,
				},
				packageNode(WAIT, 'waitForVideo', { parameters: { download: false } }),
				...['Done', 'Lost'].map((name) => stubNode(name, (each) => each)),
			];
			const wires = {
				...{ Rows: [['Create']], Create: [[WAIT], [WAIT]] },
				[WAIT]: [['Done'], ['Lost']],
			};
			const result = await runWorkflow(nodes, wires, 'Rows', {
				credential: { baseUrl: server.url, apiKey: 'k-secret' },
			});
			expect(result.status).toBe('success');
			expect(allItems(result, 'Create')[1]).toMatchObject([{ json: { task_id: 'old' } }]);
			expect(allItems(result, 'Done').flat()).toStrictEqual([]);
			expect(allItems(result, 'Lost')[0]).toMatchObject([{ json: fields }]);
			const asked = JSON.stringify(server.requests.map(({ body }) => body));
			expect(asked).not.toContain('"old"');
		},
	);

	test('an item with the error of another node is waited for, also that of an earlier wait', async () => {
		const input = [
			{ task_id: 'a', error: 'no reply', message: '', details: { kind: 'http' } },
			{ task_id: 'b', error: 'The video failed', details: { kind: 'failed', task_id: 'b' } },
		];
		const { outputs } = await wait(CONNECTED, { items: input });
		expect(outputs.map(idsOf)).toStrictEqual([['a', 'b'], []]);
	});

	test('an item without a task and without an error still stops the node before the first poll', async () => {
		const { error } = await wait(CONNECTED, { items: [...items, { other: 1 }] });
		expect(error!.message).toBe('Task ID is empty');
		expect(server.requests).toHaveLength(0);
	});
});

test.each<[string, string, Wires]>([
	['Completed', 'inPlace', { [WAIT]: [[WAIT]] }],
	['Completed', 'suspend', { [WAIT]: [['Done', WAIT]] }],
	['Generating', 'once', { [WAIT]: [['Done'], [], [WAIT]] }],
])('%s may not lead back to the node (%s)', async (label, waitMode, wires) => {
	const { error } = await wait(wires, { items: ids('a'), parameters: { waitMode } });
	expect(error!.message).toBe(`${label} is connected to the input of this node`);
	expect(error!.description).toContain('Remove that connection');
	expect(server.requests).toHaveLength(0);
});

test.each<[string, Partial<INode>]>([
	['On Error: Continue', { onError: 'continueRegularOutput' }],
	// Workflows that were saved by an older n8n, or written by hand, still have it.
	['its older form Continue On Fail', { continueOnFail: true }],
])('%s passes a failed video on where Failed leads nowhere', async (_name, nodeSettings) => {
	reports = { b: MODERATED };
	const more = { items: ids('a', 'b'), nodeSettings };
	const lost = await wait({ [WAIT]: [['Done']] }, more);
	expect(allItems(lost, 'Done')[0]).toMatchObject([
		{ json: { task_id: 'a' } },
		{ json: { error: 'The video failed', details: { task_id: 'b' } } },
	]);
	const wired = await wait(CONNECTED, more);
	expect(idsOf(allItems(wired, 'Done')[0])).toStrictEqual(['a']);
	expect(idsOf(allItems(wired, 'Lost')[0])).toStrictEqual(['b']);
});

describe('Ask Once', () => {
	const parameters = { waitMode: 'once' };
	beforeEach(() => {
		reports = {
			b: { status: 'processing' },
			c: MODERATED,
			d: { status_code: 503, error: { message: 'busy' } },
		};
	});

	test('polls each task once, and each leaves through the output of its state', async () => {
		const result = await wait(CONNECTED, { items: ids('a', 'b', 'c', 'd', 'b'), parameters });
		expect(result.status).toBe('success');
		expect(server.requests).toHaveLength(4);
		expect(idsOf(allItems(result, 'Later')[0])).toStrictEqual(['b', 'd', 'b']);
		expect(result.outputs.map(idsOf)).toStrictEqual([['a'], ['c'], ['b', 'd', 'b']]);
		const [b, d] = result.outputs[GENERATING]!;
		expect(b).toStrictEqual({
			json: {
				output: 'The video is not finished: task b',
				task_id: 'b',
				model: 'video-m1',
				status: 'processing',
				waited_seconds: expect.any(Number) as number,
				history: expect.stringMatching(/^processing [\d.]+ s$/) as string,
			},
			pairedItem: { item: 1 },
		});
		// The service's word for it.
		expect(d!.json).toMatchObject({ task_id: 'd', status: 'unknown', history: '' });
		expect(result.hints.at(-1)).toMatch(/^1 finished, 1 failed, 2 generating, after \d s/);
	});

	test('a video that is generating does not fail the node, whatever is connected', async () => {
		for (const more of [{}, { options: { onFailed: 'fail' } }]) {
			const { status, outputs } = await wait(
				{ [WAIT]: [['Done'], [], ['Later']] },
				{ items: ids('a', 'b'), parameters: { ...parameters, ...more } },
			);
			expect(status).toBe('success');
			expect(outputs.map(idsOf)).toStrictEqual([['a'], [], ['b']]);
		}
	});

	test('says why the status of a video is unknown', async () => {
		const { outputs } = await wait(CONNECTED, { items: ids('b', 'd'), parameters });
		expect(outputs[GENERATING]![1]!.json['error_message']).toMatch(/unavailable: busy$/);
	});

	test('a wrong address fails the node', async () => {
		reports = { x: { status_code: 404 }, y: { status_code: 404 } };
		const { error } = await wait(CONNECTED, { items: ids('x', 'y'), parameters });
		expect(error!.message).toBe(`${FAILURE.notFound}. Retry polls again, free of charge`);
		expect(error!.description).toContain('Tasks still generating: x, y');
	});

	test('needs nothing at Generating', async () => {
		const { status, outputs } = await wait(
			{ [WAIT]: [['Done'], ['Lost']] },
			{ items: ids('a', 'b'), parameters },
		);
		expect(status).toBe('success');
		expect(idsOf(outputs[GENERATING])).toStrictEqual(['b']);
	});

	test('works with Execute step and in a streaming chat, too', async () => {
		for (const more of [{ stepOf: WAIT }, { streaming: true }]) {
			const { outputs } = await wait(CONNECTED, { items: ids('b'), parameters, ...more });
			expect(idsOf(outputs[GENERATING])).toStrictEqual(['b']);
		}
	});

	test('writes finished tasks only into the task ledger', async () => {
		const tables = dataTables();
		const asked = (task_id: string) => ({
			task_id,
			status: 'queued',
			sent_at: '2026-01-01T00:00:00.000Z',
			call: task_id,
		});
		tables.insert(TASK_TABLE, asked('a'), asked('b'));
		await wait(CONNECTED, { items: ids('a', 'b'), parameters, tables });
		expect(tables.rows).toMatchObject([
			{ task_id: 'b', status: 'queued', finished_at: null, error: null },
			{ task_id: 'a', status: 'done', finished_at: expect.any(String) as string },
		]);
	});
});

describe('as a tool', () => {
	const ask = async (args: IDataObject, more: Partial<RunOptions> = {}) =>
		await runNode('waitForVideoTool', {
			credential: { baseUrl: server.url, apiKey: 'k-secret' },
			items: [args],
			...more,
		});

	test('the model may ask for the status of a video without waiting for it', async () => {
		reports = { b: { status: 'processing' } };
		const { outputs } = await ask({ task_id: 'b', wait: false });
		expect(server.requests).toHaveLength(1);
		expect(outputs.map((items) => items.map(({ json: fields }) => fields))).toStrictEqual([
			[{ task_id: 'b', status: 'processing' }],
		]);
	});

	test('a person may decide that the tool never waits', async () => {
		reports = { b: { status: 'processing' } };
		const { outputs } = await ask(
			{ task_id: 'b' },
			{ parameters: { waitUntilFinished: false } },
		);
		expect(outputs[COMPLETED]).toMatchObject([{ json: { status: 'processing' } }]);
	});

	test('in a streaming chat the person reads the progress, and the model gets the result', async () => {
		const { chunks, outputs } = await ask({ task_id: 'a' }, { streaming: true });
		expect(chunks.map(({ type }) => type)).toStrictEqual(['begin', 'item', 'end']);
		expect(chunks[1]!.content).toMatch(/^1 finished, after \d s\n\n$/);
		expect(outputs[COMPLETED]).toMatchObject([{ json: { status: 'completed' } }]);
	});

	test('a failed video is a result, not an error', async () => {
		reports = { b: MODERATED };
		const { status, outputs } = await ask({ task_id: 'b' });
		expect(status).toBe('success');
		expect(outputs[COMPLETED]).toMatchObject([{ json: { task_id: 'b', reason: 'failed' } }]);
	});
});
