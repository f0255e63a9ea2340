import {
	NodeHelpers,
	Workflow,
	type IDataObject,
	type INodeOutputConfiguration,
} from 'n8n-workflow';

import { WaitForVideo } from '../../nodes/WaitForVideo/WaitForVideo.node';
import { addTriggers, chatTrigger, formTrigger, webhook } from '../support/chatTrigger';
import { breakOff, POLL, reject, reply, videoService, type Answer } from '../support/createdVideos';
import {
	allItems,
	packageNode,
	runNode,
	stubNode,
	type RunOptions,
	type Wires,
} from '../support/engine';
import { FAILURE } from '../support/failureTexts';
import { COMPLETED, FAILED, GENERATING } from '../support/waitOutputs';
import { CONNECTED, fieldsOf, ids, idsOf, NOT_FAILED, WAIT, waitIn } from '../support/waitRuns';

const MODERATED = reply({ status: 'failed', error_message: 'moderation' });
const PROCESSING = reply({ status: 'processing', model: 'video-m1' });
const GONE = reject(410);

beforeAll(addTriggers);

const service = videoService();
const { server } = service;

/** Runs the node in a workflow with these connections. */
const wait = async (wires: Wires, more?: Parameters<typeof waitIn>[2]) =>
	await waitIn(server.url, wires, more);

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

test.each<[string, Wires, status: string]>([
	['one that is disabled', { [WAIT]: [[], ['Off']] }, 'error'],
	['the second input of one', { [WAIT]: [[], ['Off#1']], Off: [['Lost']] }, 'error'],
	['one that was removed', { [WAIT]: [[], ['Gone']] }, 'error'],
	['one behind it', { [WAIT]: [[], ['Off']], Off: [['Lost']] }, 'success'],
])('a node behind Failed takes no items: %s', async (_name, wires, status) => {
	service.answers = { a: MODERATED };
	const Off = { ...stubNode('Off', (items) => items), disabled: true };
	const seen = await wait(wires, { items: ids('a'), nodes: [Off] });
	const lost = allItems(seen, 'Lost')[0] ?? [];
	expect([seen.status, idsOf(lost)]).toStrictEqual([status, status === 'error' ? [] : ['a']]);
});

test('with Retry On Fail videos are asked for again, beside one that is finished', async () => {
	service.answers = { b: MODERATED };
	const result = await wait(NOT_FAILED, { items: ids('a', 'b'), retryOnFail: true });
	expect(result.status).toBe('error');
	expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a']);
	expect(service.requested(POLL).filter((id) => id === 'b').length).toBeGreaterThan(1);
});

/** What Create Video outputs with *On Error: Continue* for a creation that the service has refused. */
const REFUSED = {
	error: FAILURE.noCredit,
	message: 'Top up the account, then retry this execution.',
	details: { status: 406 },
};

/** What Create Video outputs for an item that a limit has left out. */
const UNSENT = {
	task_id: '',
	reason: 'limit',
	request: { prompt: 'A kite' },
	output: 'The video was not created: a limit is reached',
};

describe('items leave through the output of what became of them', () => {
	const STEP = { stepOf: WAIT };
	const FAIL = { parameters: { options: { onFailed: 'fail' } } };
	const SEND = { parameters: { options: { onFailed: 'output' } } };
	const ONCE = { parameters: { waitMode: 'once' } };
	const REGULAR = { onError: 'continueRegularOutput' } as const;
	const SPLIT = { onError: 'continueErrorOutput' } as const;
	const SPLIT_SUSPENDED = { ...SPLIT, parameters: { waitMode: 'suspend' } };
	const SPLIT_ONCE = { ...SPLIT, ...ONCE };
	const ONCE_FAIL = { parameters: { ...ONCE.parameters, ...FAIL.parameters } };
	// Workflows that were saved by an older n8n, or written by hand, still have it.
	const OLDER = { nodeSettings: { continueOnFail: true } };
	const NO_FAILED: Wires = { [WAIT]: [['Done'], [], ['Later']] };

	/** A word for an item: its task, or why it has none. */
	const toItem = (word: string): IDataObject =>
		word === 'unsent' ? UNSENT : word === 'refused' ? REFUSED : { task_id: word };
	const toWord = ({ task_id: id, reason, error, details }: IDataObject): string => {
		if (error === undefined || reason !== undefined)
			return reason === 'limit' ? 'unsent' : String(id === '' ? reason : id);
		if (error === REFUSED.error) return 'refused';
		expect(error).toBe('The video failed');
		return `error:${String((details as IDataObject)['task_id'])}`;
	};

	// b has failed, p is processing; in the outputs `creation` is what is made of `refused`.
	test.each<[string, string, Wires, Parameters<typeof waitIn>[2], outputs: string]>([
		['a b c', 'Failed is connected', CONNECTED, {}, 'a c | b'],
		['a b c', 'the option says so', {}, SEND, 'a c | b'],
		// n8n leaves out the other connections.
		['a b c', 'the execution ends at the node', NOT_FAILED, STEP, 'a c | b'],
		['a b c', 'the execution ends behind it', NOT_FAILED, { stepOf: 'Done' }, 'a c | b'],
		['a b c', 'errors have an output', NOT_FAILED, SPLIT, 'a c | - | error:b'],
		['a b c', 'it does, suspended', NOT_FAILED, SPLIT_SUSPENDED, 'a c | - | error:b'],
		['a b c', 'it does, once', NOT_FAILED, SPLIT_ONCE, 'a c | - | - | error:b'],
		['a b c', 'the node goes on', NOT_FAILED, REGULAR, 'a error:b c | -'],
		['a b c', 'the node goes on as before', NOT_FAILED, OLDER, 'a error:b c | -'],
		['a b c', 'it goes on, and Failed is connected', CONNECTED, REGULAR, 'a c | b'],
		['a b c', 'it does so as before', CONNECTED, OLDER, 'a c | b'],
		['a p', 'nothing is at Failed', NO_FAILED, ONCE, 'a | - | p'],
		['a p', 'nothing is at Generating', { [WAIT]: [['Done'], ['Lost']] }, ONCE, 'a | - | p'],
		['a p', 'failed ones fail the node', CONNECTED, ONCE_FAIL, 'a | - | p'],
		['p', 'this step is executed', CONNECTED, { ...ONCE, ...STEP }, '- | - | p'],
		['p', 'the chat is streaming', CONNECTED, { ...ONCE, streaming: true }, '- | - | p'],
		['unsent a', 'Failed is connected', CONNECTED, {}, 'a | unsent'],
		['unsent a', 'failed ones fail the node', CONNECTED, FAIL, 'a | unsent'],
		['unsent a', 'Failed is not connected', NOT_FAILED, {}, 'a | unsent'],
		['unsent', 'Failed is not connected', NOT_FAILED, {}, '- | unsent'],
		['a refused c', 'Failed is connected', CONNECTED, {}, 'a c | creation'],
		['a refused c', 'it is, and the node goes on', CONNECTED, REGULAR, 'a c | creation'],
		['a refused c', 'it is, beside errors', CONNECTED, SPLIT, 'a c | creation | -'],
		['a refused c', 'the node goes on', NOT_FAILED, REGULAR, 'a refused c | -'],
		['refused', 'the node goes on', NOT_FAILED, REGULAR, 'refused | -'],
		['a refused c', 'it goes on as before', NOT_FAILED, OLDER, 'a refused c | -'],
		['a refused c', 'errors have an output', NOT_FAILED, SPLIT, 'a c | - | refused'],
		['a refused c', 'it does, suspended', NOT_FAILED, SPLIT_SUSPENDED, 'a c | - | refused'],
		['a refused c', 'it does, once', NOT_FAILED, SPLIT_ONCE, 'a c | - | - | refused'],
	])('%s, where %s', async (words, _where, wires, more, expected) => {
		service.answers = { b: MODERATED, p: PROCESSING };
		const items = words.split(' ').map(toItem);
		const { status, outputs, hints } = await wait(wires, { ...more, items });
		expect(status).toBe('success');
		const shown = outputs.map((each) => fieldsOf(each).map(toWord).join(' ') || '-');
		expect(shown.join(' | ')).toBe(expected);
		// It is as it was, and comes from its item.
		const json = words.includes('unsent') ? UNSENT : REFUSED;
		if (/unsent|refused/.test(expected))
			expect(outputs.flat()).toContainEqual({
				json,
				pairedItem: { item: items.indexOf(json) },
			});
		if (words.includes('unsent'))
			expect(hints).toContain('1 item without a task, which Create Video has not sent');
	});
});

describe('an item that a limit has left out', () => {
	test('leaves through Failed also beside a video that fails the node', async () => {
		service.answers = { b: MODERATED };
		const parameters = { options: { onFailed: 'fail' } };
		const failed = await wait(CONNECTED, { items: [UNSENT, ...ids('a', 'b')], parameters });
		expect(failed.status).toBe('error');
		expect(fieldsOf(allItems(failed, 'Lost').flat())).toStrictEqual([UNSENT]);
	});

	test('is no video that has gone on beside a failed one', async () => {
		service.answers = { b: MODERATED };
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
		service.answers = { b: MODERATED, '/cdn/a': GONE, '/cdn/c': GONE };
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

	test('fails the node if it cannot be downloaded', async () => {
		const { error } = await wait({}, { items: ids('a'), parameters: { download: true } });
		expect(error!.description).toMatch(
			/^The video is completed: .* task_id: a\. video_url: http/,
		);
	});

	test('beside files that could not be downloaded: each with what a Retry does about it', async () => {
		const { error } = await wait(NOT_FAILED, { items, parameters: { download: true } });
		expect(error!.message).toMatch(
			/^3 of 3 videos failed: .*Retry polls again, free of charge\. Retry does not change what failed at the service, and costs nothing$/,
		);
	});

	test('fails the node at once if there is nothing else to go on', async () => {
		service.answers = { a: MODERATED, b: MODERATED };
		const { error, run } = await wait(NOT_FAILED, { items: ids('a', 'b') });
		expect(error!.message).toBe(
			'2 of 2 videos failed: a, b (moderation). None has gone on. Retry does not change what failed at the service, and costs nothing',
		);
		expect(run.data.resultData.runData[WAIT]).toHaveLength(1);
	});

	test('of several runs are in one error, after all runs', async () => {
		service.answers = { b: MODERATED, d: MODERATED };
		const batches = [ids('a', 'b'), ids('c', 'd')];
		const split = () => batches.map((batch) => batch.map((json) => ({ json })));
		const result = await wait(
			{ Split: [[WAIT], [WAIT]], ...NOT_FAILED },
			{ nodes: [stubNode('Split', split)], start: 'Split' },
		);
		expect(result.error!.message.match(/1 of 2 videos failed: [bd] /g)).toHaveLength(2);
		expect(result.error!.message.match(/Retry/g)).toHaveLength(1);
		expect(result.error!.description).toMatch(/Tasks failed: d.*Tasks failed: b/);
		expect(idsOf(allItems(result, 'Done')[0]).sort()).toStrictEqual(['a', 'c']);
	});

	test('is waited for once more by a retry of the execution, and the others do not go on again', async () => {
		const first = await wait(NOT_FAILED, { items, execution: { id: '1', token: 't' } });
		expect(first.status).toBe('error');
		service.answers = {};
		const retry = await first.resume({ id: '2', token: 't', isRetry: true });
		expect(retry.status).toBe('success');
		expect(retry.outputs.map(idsOf)).toStrictEqual([['b'], []]);
		expect(retry.outputs[0]).toMatchObject([{ pairedItem: { item: 1 } }]);
		expect(idsOf(allItems(retry, 'Done')[0])).toStrictEqual(['a', 'c', 'b']);
	});
});

describe('a creation that was refused', () => {
	const WAITS = { prompt: 'a', waitUntilFinished: true };
	const items = [{ task_id: 'a' }, REFUSED, { task_id: 'c' }];
	const lost = {
		...REFUSED,
		reason: 'creation',
		task_id: '',
		error_message: `${REFUSED.error}. ${REFUSED.message}`,
	};

	test('leaves through Failed with its own error', async () => {
		const { outputs } = await wait(CONNECTED, { items });
		expect(outputs[FAILED]).toMatchObject([{ json: lost, pairedItem: { item: 1 } }]);
	});

	test('fails the node where Failed is not connected, after the others', async () => {
		const result = await wait(NOT_FAILED, { items });
		expect(result.error!.message).toMatch(
			/^1 of 3 videos failed: item 1 \(.*\)\. 2 have gone on: a, c\. Retry does not change what was not created, and costs nothing$/,
		);
		expect(result.error!.description).toContain(`Without a task: item 1: ${FAILURE.noCredit}`);
		expect(idsOf(allItems(result, 'Done')[0])).toStrictEqual(['a', 'c']);
	});

	test.each<[string, IDataObject, IDataObject, Record<string, Answer>]>([
		[
			'of a creation',
			{ prompt: 'refused' },
			{ reason: 'creation', task_id: '' },
			{ refused: reject(406) },
		],
		['of a video', WAITS, { reason: 'failed', task_id: 'new' }, { new: MODERATED }],
		['of a download', WAITS, { reason: 'download', task_id: 'new' }, { '/cdn/new': GONE }],
	])(
		'leaves through Failed where its item has an older task: the error output %s',
		async (_name, parameters, fields, answers) => {
			Object.assign(service, { answers, taskIdOf: () => 'new' });
			const nodes = [
				stubNode('Rows', () => ids('old').map((json) => ({ json }))),
				packageNode('Create', 'createVideo', {
					parameters,
					onError: 'continueErrorOutput',
				}),
			];
			const wires = { ...CONNECTED, Rows: [['Create']], Create: [[WAIT], [WAIT]] };
			const result = await wait(wires, { nodes, start: 'Rows' });
			expect(result.status).toBe('success');
			expect(allItems(result, 'Create')[1]).toMatchObject([{ json: { task_id: 'old' } }]);
			expect(allItems(result, 'Done').flat()).toStrictEqual([]);
			expect(allItems(result, 'Lost')[0]).toMatchObject([{ json: fields }]);
			const asked = JSON.stringify(server.requests.map(({ body }) => body));
			expect(asked).not.toContain('"old"');
			// A visitor, who reads nothing else of the details.
			for (const trigger of [chatTrigger, formTrigger, webhook]) {
				const more = { nodes: [trigger('Rows'), nodes[1]!], start: 'Rows' };
				const awaited = await wait(wires, { ...more, items: ids('old') });
				const { task_id: about } = fields;
				expect(allItems(awaited, 'Create')[1]).toMatchObject([
					{ json: { details: { task_id: about } } },
				]);
				expect(allItems(awaited, 'Done').flat()).toStrictEqual([]);
				const [lost] = allItems(awaited, 'Lost')[0]!;
				expect(lost!.json).toMatchObject(fields);
				const { error, error_message: why } = lost!.json;
				expect(String(why).split(String(error))).toHaveLength(2);
			}
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

describe('Ask Once', () => {
	const parameters = { waitMode: 'once' };
	beforeEach(() => {
		service.answers = { b: PROCESSING, c: MODERATED, d: reject(503) };
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
		expect(d!.json).toMatchObject({
			task_id: 'd',
			// The service's word for it.
			status: 'unknown',
			history: '',
			error_message: expect.stringMatching(/unavailable: no$/) as string,
		});
		expect(result.hints.at(-1)).toMatch(/^1 finished, 1 failed, 2 generating, after \d s/);
	});

	test('a wrong address fails the node', async () => {
		service.answers = { x: reply({}, 404), y: reply({}, 404) };
		const { error } = await wait(CONNECTED, { items: ids('x', 'y'), parameters });
		expect(error!.message).toBe(`${FAILURE.notFound}. Retry polls again, free of charge`);
		expect(error!.description).toContain('Tasks not finished: x, y');
	});

	test.each<[string, Answer]>([
		[
			'502',
			(response) =>
				response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad</h1>'),
		],
		['none', breakOff],
	])('an odd answer of a proxy fails no node: %s', async (_name, answer) => {
		service.answers = { a: answer };
		const { outputs, status } = await wait(CONNECTED, { items: ids('a'), parameters });
		expect(status).toBe('success');
		const error_message = expect.any(String) as string;
		expect(fieldsOf(outputs[GENERATING])).toMatchObject([
			{ task_id: 'a', status: 'unknown', error_message },
		]);
	});
});

test.each<[string, IDataObject, Partial<RunOptions>]>([
	['the model may ask for', { wait: false }, {}],
	['a person may let the tool ask for', {}, { parameters: { waitUntilFinished: false } }],
])('%s the status of a video without waiting for it', async (_name, args, more) => {
	service.answers = { b: PROCESSING };
	const { outputs } = await runNode('waitForVideoTool', {
		credential: { baseUrl: server.url, apiKey: 'k-secret' },
		items: [{ task_id: 'b', ...args }],
		...more,
	});
	expect(server.requests).toHaveLength(1);
	expect(outputs.map(fieldsOf)).toStrictEqual([[{ task_id: 'b', status: 'processing' }]]);
});
