// @seconds 65
import type { INode } from 'n8n-workflow';

import type { Fault } from '../../emulator/faults/fault';
import { failureOf, outputItems, type Execution } from '../../lab/n8n/execution';
import type { WorkflowRef } from '../../lab/n8n/N8nClient';
import { postWebhook } from '../../lab/n8n/postWebhook';
import { readWays } from '../support/readWays';
import { thorough } from '../support/thorough';
import { answersOf, useAgentSession } from './support/agentSession';
import { calledTrigger, calls, drawn, node, webhook, workflow } from './support/buildWorkflow';
import { base, code, draw, items, noOp, set, start } from './support/drawAgent';
import { CREATIONS } from './support/ledger';
import { call, results } from './support/scriptedModel';
import { RUN_LIMIT_MS } from './support/session';

const FILES = '/cdn/';
const SHOTS = ['a', 'b', 'c', 'd', 'e'];

const session = useAgentSession();

const rows = (name: string, shots: readonly string[]) =>
	items(name, ...shots.map((shot) => ({ shot: `shot ${shot}` })));
const create = (parameters: object = {}) =>
	node('Create', 'n8n-nodes-agent-video.createVideo', 1, {
		parameters: { prompt: '={{ $json.shot }}', ...parameters },
		credential: 'Emulator',
	});
const wait = node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1, { credential: 'Emulator' });
const other = set('Other', '{}');
const loop = node('Loop', base('splitInBatches'), 3, { parameters: { batchSize: 2 } });
const merge = (parameters: object) => node('Merge', base('merge'), 3.2, { parameters });

/** The file of the second video is gone, once. */
const FILE_GONE: Fault = { kind: 'status', status: 410, path: FILES, skip: 1 };
const noCredit = (shot: string): Fault => {
	return { kind: 'status', status: 406, path: CREATIONS, contains: `shot ${shot}` };
};
/** The shots that were sent to the service, in alphabetical order. */
const sent = () =>
	session.emulator.journal
		.of(CREATIONS)
		.map(({ body }) => (body as { prompt: string }).prompt.replace('shot ', ''))
		.sort();

/** What a node has output, in alphabetical order: the shots of its videos. */
function shotsOf(execution: Execution, name: string): string[] {
	const byTask = new Map(
		session.emulator.tasks.all.map(({ id, video }): [unknown, string] => [id, video.prompt]),
	);
	const prompts = outputItems(execution, name).map(({ json }) => byTask.get(json['task_id']));
	return prompts.map((prompt = '-') => prompt.replace('shot ', '')).sort();
}

async function post(ref: WorkflowRef, { parameters }: INode): Promise<Execution> {
	await session.client.activate(ref);
	await postWebhook(`${session.n8n.url}/webhook/${String(parameters['path'])}`, {});
	return await session.client.lastExecution(ref);
}

const retry = async ({ id }: Execution) =>
	await session.client.waitForExecution(await session.client.retry(id));

/** A workflow of which something fails once, and what its nodes have output after a Retry. */
interface Row {
	/** The nodes behind Start and Rows. */
	readonly nodes: readonly INode[];
	/** The connections, see readWays. */
	readonly ways: string;
	/** The shots of Rows; default: all. */
	readonly shots?: readonly string[];
	readonly faults: readonly Fault[];
	/** What the failed execution says; its nodes have output this. */
	readonly failure: RegExp;
	readonly first: Readonly<Record<string, readonly string[]>>;
	readonly after: Readonly<Record<string, readonly string[]>>;
	/** The shots that were sent in all. Default: each once. */
	readonly sent?: readonly string[];
}

const ROWS: readonly (readonly [string, Row])[] = [
	[
		'Loop Over Items behind Wait for Video',
		{
			nodes: [create(), wait, loop, noOp('Body'), noOp('Done')],
			ways: 'Start > Rows > Create > Wait > Loop > Done; Loop:1 > Body > Loop',
			faults: [FILE_GONE],
			failure: /^Wait: 1 of 5 videos failed: .*None has gone on.*Retry .*free of charge/,
			first: { Body: [] },
			after: { Body: SHOTS, Done: SHOTS },
		},
	],
	// Of the second one n8n says that it needs both inputs.
	...[{ mode: 'combine', combineBy: 'combineByPosition' }, { mode: 'chooseBranch' }].map(
		(parameters): readonly [string, Row] => [
			`Merge behind Wait for Video: ${parameters.mode}`,
			{
				nodes: [create(), wait, merge(parameters), noOp('Next')],
				ways: 'Start > Rows > Create > Wait, Merge#1; Wait > Merge > Next',
				faults: [FILE_GONE],
				failure: /^Wait: 1 of 5 videos failed/,
				first: { Next: [] },
				after: { Next: SHOTS },
			},
		],
	),
	...["$('Rows').item.json.shot", "$('Rows').all()[$itemIndex].json.shot"].map(
		(read): readonly [string, Row] => [
			`a prompt that reads ${read}`,
			{
				nodes: [other, create({ prompt: `={{ ${read} }}` }), noOp('Next')],
				ways: 'Start > Rows > Other > Create > Next',
				faults: [noCredit('d')],
				failure: /^Create: .*Insufficient credit/,
				first: {},
				after: { Next: SHOTS },
				sent: [...SHOTS, 'd'].sort(),
			},
		],
	),
	[
		'a task ID that is read by its index',
		{
			nodes: [
				...[create(), other],
				{ ...wait, parameters: { taskId: '={{ $node["Create"].json.task_id }}' } },
				noOp('Next'),
			],
			ways: 'Start > Rows > Create > Other > Wait > Next',
			faults: [FILE_GONE],
			failure: /^Wait: 1 of 5 videos failed/,
			first: {},
			after: { Next: SHOTS },
		},
	],
	[
		'two wires into Create Video, and one is rejected in each run',
		{
			nodes: [rows('More', ['d', 'e']), create(), noOp('Next')],
			ways: 'Start > Rows, More; Rows > Create; More > Create > Next',
			shots: ['a', 'b', 'c'],
			faults: [noCredit('c'), noCredit('e')],
			failure: /^Create: .*Insufficient credit/,
			first: { Next: ['3'] },
			after: { Next: SHOTS },
			sent: [...SHOTS, 'c', 'e'].sort(),
		},
	],
];

/** Drawings that n8n runs as it does another one here: weekly and before a release. */
const ALIKE = /^Loop Over Items behind|: chooseBranch$|\.all\(\)/;

it.each(ROWS.filter(([name]) => thorough(!ALIKE.test(name), true)))(
	'a Retry goes on with what is left: %s',
	async (name, { failure, first, after, sent: expected = SHOTS, ...row }) => {
		session.emulator.faults.add(...row.faults);
		const nodes = [start, rows('Rows', row.shots ?? SHOTS), ...row.nodes];
		const failed = await session.execute(drawn(name, nodes, readWays(row.ways)));
		expect(failureOf(failed)).toMatch(failure);
		for (const [behind, [count = '0']] of Object.entries(first))
			expect(outputItems(failed, behind)).toHaveLength(Number(count));

		const retried = await retry(failed);
		expect(failureOf(retried)).toBe('');
		const output = Object.keys(after).map((behind) => [behind, shotsOf(retried, behind)]);
		expect(Object.fromEntries(output)).toStrictEqual(after);
		expect(sent()).toStrictEqual(expected);
	},
	RUN_LIMIT_MS,
);

it.each<[string, INode, readonly Fault[], RegExp, readonly string[]]>([
	['started by a webhook', webhook('by-webhook'), [FILE_GONE], /1 of 5 videos failed/, SHOTS],
	[
		'started by hand, and one is rejected',
		start,
		[noCredit('d')],
		/Insufficient credit/,
		[...SHOTS, 'd'].sort(),
	],
])(
	'the caller of a sub-workflow gets each video once, and so does what the sub-workflow does with it: %s',
	async (name, first, faults, failure, expected) => {
		const { client } = session;
		const called = await session.publish(
			workflow(`Called: ${name}`, [calledTrigger(), create(), wait, noOp('Deliver')]),
		);
		const ref = await client.importWorkflow(
			workflow(`Calls: ${name}`, [first, rows('Rows', SHOTS), calls(called), noOp('Next')]),
		);
		session.emulator.faults.add(...faults);
		const failed = first === start ? await session.execute(ref) : await post(ref, first);
		expect(failureOf(failed)).toMatch(failure);
		const retried = await retry(failed);
		expect(failureOf(retried)).toBe('');
		expect(shotsOf(retried, 'Next')).toStrictEqual(SHOTS);
		const subs = await Promise.all(
			(await client.executions(called)).map(async ({ id }) => await client.readExecution(id)),
		);
		const delivered = subs.flatMap((execution) => shotsOf(execution, 'Deliver')).sort();
		expect(delivered).toStrictEqual(SHOTS);
		expect(sent()).toStrictEqual(expected);
	},
	RUN_LIMIT_MS,
);

it(
	'a moderated video: with Failed connected, a Retry of the saved workflow hands it on, free of charge',
	async () => {
		const { client } = session;
		const shots = ['a', 'b', 'moderated-task'];
		const nodes = [start, rows('Rows', shots), create(), wait, noOp('Next'), noOp('Lost')];
		const ref = await client.importWorkflow(
			drawn('Moderated', nodes, readWays('Start > Rows > Create > Wait > Next')),
		);
		const failed = await session.execute(ref);
		expect(failureOf(failed)).toMatch(
			/Retry does not change what failed at the service, and costs nothing – To go on without them, connect the output Failed/,
		);
		expect(failureOf(await retry(failed))).toMatch(/^Wait: The video failed: /);

		const path = `/workflows/${ref.id}`;
		const { data: saved } = (await client.answer('GET', path)).data as { data: object };
		const wires = readWays('Start > Rows > Create > Wait > Next; Wait:1 > Lost');
		const { connections } = drawn('', nodes, wires);
		await client.answer('PATCH', path, { ...saved, connections });
		const answer = await client.answer('POST', `/executions/${failed.id}/retry`, {
			loadWorkflow: true,
		});
		const { id } = (answer.data as { data: { id: string } }).data;
		const retried = await client.waitForExecution(id);
		expect(failureOf(retried)).toBe('');
		expect(shotsOf(retried, 'Next')).toStrictEqual(['a', 'b']);
		expect(shotsOf(retried, 'Lost')).toStrictEqual(['moderated-task']);
		expect(sent()).toStrictEqual(shots);
	},
	RUN_LIMIT_MS,
);

it(
	'a Retry sends the open calls of an agent out again, and asks the model for nothing twice',
	async () => {
		const { model } = session;
		const rome = call('c1', 'weather', { city: 'Rome' });
		model.replyWith((messages) => {
			if (messages[0]!.content === 'Hello') return 'Hello.';
			return results(messages).length === 0 ? [rome] : 'Done.';
		});
		// A run without an item, as of a service that is down.
		const weather = code(
			'weather',
			'return $runIndex === 0 ? [] : [{ json: { degrees: 4 } }];',
		);
		const failed = await session.execute(
			draw('Open call', {
				tools: ['weather'],
				questions: ['Rome', 'Hello'],
				nodes: [weather],
				wires: { weather: [['Agent']] },
			}),
		);
		expect(failureOf(failed)).toMatch(
			/^Agent: Tool weather returned no item for 1 call\. Retry sends these calls out again/,
		);
		expect(answersOf(failed)).toStrictEqual([]);
		expect(model.requests).toHaveLength(2);

		const retried = await retry(failed);
		expect(failureOf(retried)).toBe('');
		expect(answersOf(retried)).toStrictEqual(['Done.', 'Hello.']);
		expect(model.requests).toHaveLength(3);
	},
	RUN_LIMIT_MS,
);
