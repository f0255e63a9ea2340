import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';

import type { IDataObject, INode } from 'n8n-workflow';

import { readWorkflows, type ExportedWorkflow } from '../../lab/n8n/workflow';
import { copyWorkflow, triggersOf, type Copy } from '../../lab/rehearsal/copyWorkflow';
import { judge, type Outcome, type Traces } from '../../lab/rehearsal/judge';
import { isGood, toExitCode, toJson, toPage, toTable } from '../../lab/rehearsal/report';
import { SCENARIOS } from '../../lab/rehearsal/tables';
import { toResult, withoutFigures, withoutRun } from '../../lab/rehearsal/verdict';
import { whyNotJudged } from '../../lab/rehearsal/whyNotJudged';

const OWN = 'n8n-nodes-agent-video.';
const STUB = 'a stub that returns {}';

const node = (name: string, type: string, more: Partial<INode> = {}): INode => ({
	...{ id: name, name, type, typeVersion: 1, position: [0, 0], parameters: {} },
	...more,
});

const SCHEDULE = node('Schedule', 'n8n-nodes-base.scheduleTrigger');
const CREATE = node('Create Video', `${OWN}createVideo`, { parameters: { model: 'their-model' } });
const WAIT = node('Wait for Video', `${OWN}waitForVideo`);

const workflowOf = (nodes: readonly INode[], more: Partial<ExportedWorkflow> = {}) => ({
	...{ name: 'Mine', nodes, connections: {} },
	...more,
});

/** A workflow of chains of nodes. */
function linked(...chains: readonly (readonly INode[])[]): ExportedWorkflow {
	const connections: Record<string, { main: [{ node: string }[]] }> = {};
	for (const chain of chains)
		for (const [index, { name }] of chain.slice(1).entries())
			(connections[chain[index]!.name] ??= { main: [[]] }).main[0].push({ node: name });
	const nodes = [...new Map(chains.flat().map((each) => [each.name, each])).values()];
	return workflowOf(nodes, { connections });
}

/** The node that is in the place of another one in the copy, and how the report names it. */
function replacementOf(other: INode, more: Partial<ExportedWorkflow> = {}) {
	const { workflow, replaced } = copyWorkflow(workflowOf([SCHEDULE, other], more), 'normal_0');
	return {
		copy: workflow.nodes.find(({ name }) => name === other.name)!,
		by: replaced.find((each) => each.node === other.name)?.by,
	};
}

/** Runs the code of a stub on some items. */
function run({ parameters }: INode, items: readonly object[]): unknown {
	const code = `(() => { ${String(parameters['jsCode'])} })()`;
	return runInNewContext(code, { $input: { all: () => items } });
}

describe('the copy', () => {
	const slack = node('Post', 'n8n-nodes-base.slack', {
		credentials: { slackApi: { id: '1', name: 'Ours' } },
	});

	it('has a stub without a credential for a node of another service', () => {
		const { copy, by } = replacementOf(slack);
		expect(by).toBe(STUB);
		expect(copy).toMatchObject({ name: 'Post', type: 'n8n-nodes-base.code' });
		expect(copy.credentials).toBeUndefined();
		expect(run(copy, [{}, {}])).toEqual([
			{ json: {}, pairedItem: { item: 0 } },
			{ json: {}, pairedItem: { item: 1 } },
		]);
	});

	it.each([
		['orders', 'orders_normal_0'],
		['agent_video_tasks', 'agent_video_tasks'],
	])('reads from the table %s what it has written: %s', (value, own) => {
		const table = { __rl: true, mode: 'name', value };
		const { copy } = replacementOf(
			node('Rows', 'n8n-nodes-base.dataTable', { parameters: { dataTableId: table } }),
		);
		expect(copy.parameters['dataTableId']).toStrictEqual({ ...table, value: own });
	});

	it('has a stub that returns what is pinned to the node, paired with what comes in', () => {
		const pinData = { Post: [{ json: { ok: true } }, { json: { ok: false } }] };
		const { copy, by } = replacementOf(slack, { pinData });
		expect(by).toBe('a stub that returns its pinned data');
		expect(run(copy, [{}])).toEqual([
			{ json: { ok: true }, pairedItem: { item: 0 } },
			{ json: { ok: false }, pairedItem: { item: 0 } },
		]);
	});

	it('has a person who approves', () => {
		const asks = node('Ask', 'n8n-nodes-base.slack', {
			parameters: { operation: 'sendAndWait' },
		});
		expect(run(replacementOf(asks).copy, [{}])).toMatchObject([
			{ json: { data: { approved: true } } },
		]);
	});

	it.each([
		['set', {}, undefined],
		['code', { jsCode: 'return $input.all();' }, undefined],
		['code', { jsCode: 'await fetch(url)' }, undefined],
		['code', { language: 'pythonNative' }, STUB],
		['functionItem', {}, undefined],
		['editImage', {}, 'a step that leaves images as they are'],
		['executeWorkflow', { workflowId: '={{ $workflow.id }}' }, undefined],
		['executeWorkflow', { source: 'parameter', workflowId: '={{ $workflow.id }}' }, STUB],
		['@n8n/n8n-nodes-langchain.toolWorkflow', { source: 'url' }, STUB],
		['httpRequest', {}, STUB],
		['wait', {}, 'a step without a wait'],
		['dataTable', { dataTableId: { mode: 'name', value: 'orders' } }, undefined],
		['dataTable', { dataTableId: { mode: 'id', value: '7' } }, STUB],
	])('replaces %s %j by: %s', (name, parameters, by) => {
		const type = name.startsWith('@') ? name : `n8n-nodes-base.${name}`;
		expect(replacementOf(node('Other', type, { parameters })).by).toBe(by);
	});

	it.each([
		['ai_languageModel', '@n8n/n8n-nodes-langchain.lmChatOpenAi', 'a model of the emulator'],
		['ai_memory', '@n8n/n8n-nodes-langchain.memoryRedisChat', 'a memory in n8n'],
		['ai_tool', '@n8n/n8n-nodes-langchain.toolWikipedia', STUB],
	])('replaces a sub-node of type %s', (connection, type, by) => {
		const connections = { Other: { [connection]: [[{ node: 'Agent' }]] } };
		expect(replacementOf(node('Other', type), { connections }).by).toBe(by);
	});

	it('gives our nodes the credential of the emulator and a model that it knows', () => {
		const mine = { ...CREATE, credentials: { agentVideoApi: { id: '9', name: 'Real' } } };
		const { copy, by } = replacementOf(mine);
		expect(by).toBe('other codes: their-model → video-m1');
		expect(copy.parameters['model']).toMatchObject({ value: 'video-m1' });
		expect(copy.credentials).toEqual({ agentVideoApi: { id: '', name: 'normal_0' } });
	});

	it('starts an error workflow with an error such as n8n gives it', () => {
		const trigger = node('On Error', 'n8n-nodes-base.errorTrigger');
		const { workflow } = copyWorkflow(linked([trigger, CREATE]), 'normal_0');
		const copy = workflow.nodes.find(({ name }) => name === 'On Error')!;
		const [started] = run(copy, [{}]) as [{ json: object }];
		expect(started.json).toMatchObject({
			workflow: { id: '1' },
			execution: { error: { message: 'It has failed.' } },
		});
	});
	it('keeps the settings that decide how executions go, and a name that n8n takes', () => {
		const kept = { executionOrder: 'v0', timezone: 'Asia/Tokyo', executionTimeout: 9 };
		const settings = { ...kept, saveDataSuccessExecution: 'none' };
		const copyOf = (more: Partial<ExportedWorkflow>) =>
			copyWorkflow({ ...linked([SCHEDULE, CREATE]), ...more }, 'normal_0').workflow;
		expect(copyOf({ settings }).settings).toStrictEqual(kept);
		expect(copyOf({}).settings).toStrictEqual({});
		expect(copyOf({ name: 'x'.repeat(128) }).name).toHaveLength(128);
		const [a, b] = copyOf({}).nodes.map(({ id }) => id);
		expect(a).not.toBe(b);
	});
	it('starts a webhook of several methods with the one that it has', () => {
		const parameters = { multipleMethods: true, httpMethod: ['GET', 'POST'] };
		const hook = node('Hook', 'n8n-nodes-base.webhook', { parameters });
		const { starts } = copyWorkflow(linked([hook, CREATE]), 'normal_0');
		expect(starts[0]!.node.parameters['httpMethod']).toEqual(['GET', 'POST']);
	});
});

const trigger = (name: string, type: string, more: Partial<INode> = {}) =>
	node(name, `n8n-nodes-base.${type}`, more);
it.each<[string, INode[][], string[]]>([
	['none', [[CREATE]], []],
	['one that leads nowhere', [[SCHEDULE], [CREATE]], []],
	[
		'two',
		[
			[SCHEDULE, CREATE],
			[trigger('Hook', 'webhook'), CREATE],
		],
		['Schedule', 'Hook'],
	],
	['a disabled one', [[trigger('Hook', 'webhook', { disabled: true }), CREATE]], []],
	['one to a disabled node', [[SCHEDULE, { ...CREATE, disabled: true }]], []],
	['an old one', [[trigger('Old', 'cron'), CREATE]], ['Old']],
	['one of mails', [[trigger('Mail', 'emailReadImap'), CREATE]], ['Mail']],
])('the triggers that start ours: %s', (_case, chains, names) => {
	expect(triggersOf(linked(...chains))).toEqual(names);
});

/** What the nodes have put out in an execution of a copy, judged. */
function judged(copy: Copy, runData: object, tasks: readonly object[] = []) {
	const emulator = { tasks: { all: tasks }, journal: { entries: [] }, clock: { now: () => 1e6 } };
	const execution = { id: '1', status: 'success', data: { resultData: { runData } } };
	return judge({ copy, executions: [execution], ledger: [], emulator } as unknown as Traces);
}

/** What our node that creates has put out. */
const creates = (json: IDataObject) => ({
	'Create Video': [{ data: { main: [[{ json }]] }, source: [] }],
});

describe('what a run has left behind', () => {
	const chat = node('Chat', '@n8n/n8n-nodes-langchain.chatTrigger');

	it('is told to a visitor by the last node of a chat, which answers by default', () => {
		const create = { ...CREATE, onError: 'continueRegularOutput' as const };
		const copy = copyWorkflow(linked([chat, create]), 'normal_0');
		const { told, unheard } = judged(copy, creates({ error: 'Rejected' }));
		expect([told, unheard]).toEqual([['the person who has asked'], []]);
	});

	it('is told by Wait for Video, which sends what was not created through Failed', () => {
		const create = { ...CREATE, onError: 'continueRegularOutput' as const };
		const post = node('Post', 'n8n-nodes-base.slack');
		const drawn = linked([SCHEDULE, create, WAIT]);
		const connections = {
			...drawn.connections,
			[WAIT.name]: { main: [[], [{ node: 'Post', type: 'main', index: 0 }]] },
		};
		const copy = copyWorkflow({ ...drawn, nodes: [...drawn.nodes, post], connections }, 'x_0');
		const item = { json: { error: 'Rejected' }, pairedItem: { item: 0 } };
		const from = (previousNode: string, previousNodeOutput = 0) => [
			{ previousNode, previousNodeOutput },
		];
		const runData = {
			'Create Video': [{ data: { main: [[item]] }, source: [] }],
			'Wait for Video': [{ data: { main: [[], [item]] }, source: from('Create Video') }],
			Post: [{ data: { main: [[item]] }, source: from('Wait for Video', 1) }],
		};
		const { told, unheard } = judged(copy, runData);
		expect([told, unheard]).toEqual([['Wait for Video', 'Post'], []]);
	});

	it('are the requests that were paid for: a failed video may be created again', () => {
		const video = (prompt: string) => ({ model: 'video-m1', prompt });
		const tasks = ['fail-task', 'A kite'].map((prompt, index) => ({
			...{ id: `task-${index}`, video: video(prompt), createdMs: 0, totalMs: 1 },
		}));
		const copy = copyWorkflow(linked([SCHEDULE, CREATE]), 'normal_0');
		const { created, requests } = judged(copy, creates({}), tasks);
		expect([created, requests]).toEqual([2, [JSON.stringify(video('A kite'))]]);
	});
});

const NORMAL: Outcome = {
	...{ created: 2, paid: 2, delivered: 2, open: 0, lost: 0, isGreen: true, wasFaulty: true },
	...{ told: [], unheard: [], error: '', requests: ['a', 'b'] },
	...{ ran: ['Schedule', 'Create Video', 'Wait for Video'], failedAt: '', endless: '' },
};

/** The line of the report for a scenario. */
function resultOf(scenario: string, outcome: Partial<Outcome>, nodes = [SCHEDULE, CREATE, WAIT]) {
	const found = SCENARIOS.find(({ name }) => name === scenario)!;
	const copy = copyWorkflow(linked(nodes), 'x_0');
	const all = { ...NORMAL, ...outcome };
	return toResult('Mine', found, copy, [all, scenario === 'normal' ? all : NORMAL]);
}

describe('the verdict', () => {
	const LOST = { delivered: 1, lost: 1 };
	const TWICE = { requests: ['a', 'b', 'a', 'b'] };
	const KEYED = { ...CREATE, parameters: { options: { idempotencyKey: '={{ $now }}' } } };

	it.each<[string, string, Partial<Outcome>, string, INode[]?]>([
		[
			'an output that leads nowhere',
			'failed-video',
			{ ...LOST, unheard: [['Wait for Video', 'Failed', 'is not connected']] },
			'Failed of Wait for Video is not connected: 1 paid video was lost under green. Connect it to a node that tells somebody.',
		],
		[
			'failed items among the good ones',
			'refused-prompt',
			{ delivered: 1, unheard: [['Create Video', 'mixed', 'leads to nobody']] },
			'Create Video has what failed among the good items: something failed, and nobody was told. Set its On Error to "Continue (using error output)", and connect that.',
		],
		[
			'a second start',
			'twice',
			{ ...TWICE, isGreen: false },
			'2 paid videos were paid a second time. Set an Idempotency Key in Create Video.',
		],
		[
			'the node whose key is another one at each start',
			'twice',
			TWICE,
			'2 paid videos were paid a second time. Each start has another key: make it of what is asked for, in Create Video.',
			[SCHEDULE, KEYED],
		],
		[
			'a video that nobody knows of',
			'kill-wait',
			{ ...LOST, isGreen: false },
			'1 paid video was lost under red. Pass the task_id on, or switch on Task Ledger.',
		],
		[
			'a run that tells nobody',
			'busy',
			{ delivered: 1 },
			'1 paid video was not delivered under green, and nobody was told. Let a start pick up what an earlier one has begun.',
		],
		[
			'a failure without a reason',
			'normal',
			{ isGreen: false, error: 'Set: broken' },
			'Nothing goes wrong, and the workflow fails: Set: broken',
		],
	])('names %s', (...[, scenario, outcome, problem, nodes]) => {
		const result = resultOf(scenario, outcome, nodes);
		expect(result.problems).toEqual([problem]);
		expect(isGood(result)).toBe(false);
	});

	it('lets a person pay for a second video', () => {
		const form = node('Form', 'n8n-nodes-base.formTrigger');
		expect(resultOf('twice', TWICE, [form, CREATE]).problems).toEqual([]);
		expect(resultOf('kill-wait', TWICE, [form, CREATE]).paidTwice).toBe(2);
	});

	it.each([
		[
			'settings that n8n rejects',
			'status 400: Cannot publish workflow: 1 node have configuration issues:\n\nNode "Kite":\n  - Missing or invalid required parameters: prompt',
			'Nothing goes wrong, and the workflow fails: Node "Kite": Missing or invalid required parameters: prompt',
			true,
		],
		[
			'a node that its n8n does not know',
			'Cannot publish workflow: 1 node have configuration issues:\n\nNode "Kite":\n  - Node type not found',
			'The rehearsal of this failed: ',
			false,
		],
		['any other reason', 'x', 'The rehearsal of this failed: x', false],
	])('of a run that did not start for %s', (_case, why, verdict, isWrong) => {
		const result = withoutRun('Mine', SCENARIOS[0]!, why);
		expect(result.verdict.startsWith(verdict)).toBe(true);
		expect([result.isJudged, isGood(result)]).toEqual([isWrong, !isWrong]);
	});

	it('is good when the execution is rightly red, or somebody was told', () => {
		const red = resultOf('kill-creation', { isGreen: false, error: 'may exist', open: 2 });
		expect([isGood(red), red.verdict]).toEqual([true, 'Rightly red: may exist']);
		const told = resultOf('failed-video', { delivered: 1, open: 1, told: ['Mail'] });
		expect([isGood(told), told.verdict]).toEqual([
			true,
			'Nothing is lost: 1 can be collected. Told: Mail.',
		]);
	});
});

describe('a normal night that shows nothing', () => {
	const get = node('Get', 'n8n-nodes-base.httpRequest');
	const edit = node('Edit', 'n8n-nodes-base.set');
	const iff = node('If', 'n8n-nodes-base.if');
	const code = node('Code', 'n8n-nodes-base.code');
	const empty = {
		isGreen: false,
		error: 'Create Video: Prompt is empty',
		failedAt: 'Create Video',
	};

	it.each<[string, INode[], Partial<Outcome>, string | undefined]>([
		[
			'ends before our nodes',
			[SCHEDULE, get, edit, iff, CREATE],
			{ ran: ['Schedule', 'Get', 'Edit', 'If'] },
			'No node of this package ran: the way ends at "If". It got {} from "Get": pin data to it.',
		],
		[
			'ends before our nodes with data of its own',
			[SCHEDULE, iff, CREATE],
			{ ran: ['Schedule', 'If'] },
			'No node of this package ran: the way ends at "If".',
		],
		[
			'fails with what a stub gave',
			[SCHEDULE, get, edit, CREATE],
			empty,
			'Create Video: Prompt is empty. It got {} from "Get": pin data to it.',
		],
		[
			'fails in code that asks another service',
			[SCHEDULE, code, CREATE],
			{
				isGreen: false,
				error: 'Code: The rehearsal rejects a connection to a:1',
				failedAt: 'Code',
			},
			'Code: The rehearsal rejects a connection to a:1. Pin data to "Code".',
		],
		[
			'runs in a loop around a stub',
			[SCHEDULE, iff, get, iff, CREATE],
			{ isGreen: false, endless: 'If' },
			'"If" runs again and again. "Get" gives {}: pin data to it.',
		],
		['fails by itself', [SCHEDULE, edit, CREATE], empty, undefined],
		['went well', [SCHEDULE, get, CREATE], {}, undefined],
	])('%s', (_case, nodes, outcome, why) => {
		const copy = copyWorkflow(linked(nodes), 'normal_0');
		expect(whyNotJudged(copy, { ...NORMAL, ...outcome })).toBe(why);
	});

	it.each<[type: string, model: string, error: string, code: string | undefined]>([
		['createVideo', '={{ $json.m }}', 'No video model x', 'it knows, such as video-m1'],
		['createVideo', '={{ $json.m }}', 'Model is empty', undefined],
		['createVideo', 'mine', 'video-m1 takes 5', 'takes these values, other than video-m1'],
		['createVideo', 'video-m2', 'Duration is 12. video-m2 supports Duration 5', undefined],
		['superAssistant', '', 'App Code is empty', 'it knows, such as demo-assistant'],
		['agentVideoChatModel', '=x', 'model: unknown chat model x', 'it knows, such as chat-m2'],
	])('fails at %s with the model "%s": %s', (type, model, error, code) => {
		const own = node('Ask', OWN + type, { parameters: { model } });
		const copy = copyWorkflow(linked([SCHEDULE, own, edit]), 'normal_0');
		// The error of a chat model is one of its agent.
		const failedAt = type.endsWith('ChatModel') ? 'Edit' : 'Ask';
		const why = whyNotJudged(copy, { ...NORMAL, isGreen: false, error, failedAt });
		const enter = `enter one that ${code}.`;
		expect(why).toBe(code && `${error}. The emulator has other codes: in "Ask" ${enter}`);
	});
});

it.each(['', 'null', '5', '{}', '[{}]', '[null]', '{"nodes":{}}'])(
	'a file that is %j is no workflow',
	async (text) => {
		const folder = mkdtempSync(join(tmpdir(), 'rehearsal-'));
		const path = join(folder, 'file.json');
		writeFileSync(path, text);
		const reading = readWorkflows(path).finally(() => {
			rmSync(folder, { recursive: true });
		});
		await expect(reading).rejects.toThrow('is no workflow: export it in n8n');
	},
);

describe('the report', () => {
	it('obeys no control characters', () => {
		const results = [resultOf('normal', { isGreen: false, error: '\u001b[2J\u202eSet' })];
		const replaced = [{ node: '\u001b]0;x\u0007Post', type: 'slack', by: 'a stub' }];
		const table = toTable([{ workflow: 'Mi\u009bne', replaced, results }], []);
		expect(table).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
		expect(table).toContain('Post');
		const json = toJson([{ workflow: 'Mi\u009bne', replaced, results }], []);
		expect(json).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
		expect(JSON.parse(json)).toMatchObject({
			rehearsals: [{ workflow: 'Mi\u009bne', replaced }],
		});
	});

	const [normal] = SCENARIOS;
	it.each([
		[0, 'good', [resultOf('normal', {})]],
		[1, 'bad', [resultOf('normal', {}), resultOf('twice', { requests: ['a', 'b', 'a', 'b'] })]],
		[2, 'not judged', [resultOf('normal', {}), withoutFigures('Mine', normal!, 'Not judged.')]],
		[2, 'without anything to judge', [withoutFigures('Mine', normal!, 'Nothing', true)]],
	])('ends with %s if the results are %s', (code, _case, lines) => {
		expect(toExitCode([{ workflow: 'Mine', replaced: [], results: lines }])).toBe(code);
	});

	it('lets no text of a workflow end the script of the page', () => {
		const page = toPage([{ workflow: '</script><b>$&', replaced: [], results: [] }], []);
		expect(page.match(/<\/script>/g)).toHaveLength(1);
		const [, data] = /= (\{"rehearsals":.+\});\n/.exec(page)!;
		expect(JSON.parse(data!)).toMatchObject({ rehearsals: [{ workflow: '</script><b>$&' }] });
	});
});
