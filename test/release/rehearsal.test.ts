// @seconds 120
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import type { INode } from 'n8n-workflow';

import type { ExportedWorkflow } from '../../lab/n8n/workflow';
import { ROOT } from '../../lab/paths';
import { rehearse, type Rehearsal } from '../../lab/rehearsal/rehearse';
import { startFencedN8n, type FencedN8n } from '../../lab/rehearsal/startFencedN8n';
import { Running } from '../../lab/services/Running';
import { drawn, node, workflow } from '../e2e/support/buildWorkflow';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from '../e2e/support/session';
import { readWays } from '../support/readWays';

/** Those in which the workflows below differ; the normal night is always run. */
const ONLY = ['expired-url', 'kill-creation', 'kill-wait', 'twice'];
const EXAMPLES = ['nightly-video-batch', 'nightly-table-batch', 'image-to-video'];
const BAD = ['failed-leads-nowhere', 'webhook-without-key', 'no-ledger'];

const running = new Running();
let rehearsals: readonly Rehearsal[];
let told: readonly Rehearsal[];
let refused: readonly Rehearsal[];
let early: readonly Rehearsal[];
let hostile: readonly Rehearsal[];
/** What the hostile ones tried to reach. */
let tried: readonly string[];

/** A server of somebody else on this machine, with the paths that it was asked for. */
const asked: string[] = [];
const other = createServer(({ url }, answer) => {
	asked.push(url!);
	answer.end('{}');
});
let otherUrl: string;

const base = (name: string, type: string, version: number, parameters: object = {}) =>
	node(name, `n8n-nodes-base.${type}`, version, { parameters });
const HAS_NO_REASON = {
	conditions: {
		conditions: [
			{
				leftValue: '={{ $json.reason }}',
				rightValue: '',
				operator: { type: 'string', operation: 'notExists', singleValue: true },
			},
		],
		combinator: 'and',
		options: { version: 2, typeValidation: 'loose' },
	},
};
const EDIT = base('Edit', 'set', 3.4, { includeOtherFields: true, options: {} });
const DISABLED = { ...base('Off', 'slack', 2.3), disabled: true };

/** Nodes behind the output Failed, their connections, see readWays, and who hears of a failed video. */
interface Behind {
	readonly nodes: readonly INode[];
	readonly ways: string;
	readonly told?: readonly string[];
}
const BEHIND: Readonly<Record<string, Behind>> = {
	'a No Operation': { nodes: [base('Nothing', 'noOp', 1)], ways: 'Failed > Nothing' },
	'a Filter that drops it': {
		nodes: [base('Filter', 'filter', 2.2, HAS_NO_REASON)],
		ways: 'Failed > Filter > Post Videos',
	},
	'an IF that sends it to an output without connection': {
		nodes: [base('If', 'if', 2.2, HAS_NO_REASON)],
		ways: 'Failed > If > Post Videos',
	},
	'nodes that only work on items': {
		nodes: [
			EDIT,
			base('Limit', 'limit', 1),
			base('Sort', 'sort', 1, { type: 'random' }),
			base('Aggregate', 'aggregate', 1, { aggregate: 'aggregateAllItemData' }),
			base('Code', 'code', 2, { jsCode: 'return $input.all();' }),
		],
		ways: 'Failed > Edit > Limit > Sort > Aggregate > Code',
	},
	'a disabled node': { nodes: [DISABLED], ways: 'Failed > Off' },
	'a node before a disabled one': { nodes: [EDIT, DISABLED], ways: 'Failed > Edit > Off' },
	'a data table that is read': {
		nodes: [
			base('Table', 'dataTable', 1, {
				operation: 'get',
				dataTableId: { __rl: true, mode: 'name', value: 'agent_video_tasks' },
			}),
		],
		ways: 'Failed > Table',
	},
	'a disabled node before one that sends': {
		nodes: [DISABLED],
		ways: 'Failed > Off > Post Videos',
		told: ['Off'],
	},
	'a Merge with what has completed': {
		nodes: [base('Merge', 'merge', 3.2)],
		ways: 'Completed > Merge > Post Videos; Failed > Merge#1',
		told: ['Merge'],
	},
	'a loop before a node that sends': {
		nodes: [base('Loop', 'splitInBatches', 3), EDIT],
		ways: 'Failed > Loop > Post Videos; Loop:1 > Edit > Loop',
		told: ['Loop'],
	},
};

/** The workflow with these nodes and connections; Completed and Failed are the outputs of Wait for Video. */
function withNodes(workflow: ExportedWorkflow, name: string, { nodes, ways }: Behind) {
	const { Completed = [['Post Videos']], Failed = [], ...others } = readWays(ways);
	return drawn(`${workflow.name}: ${name}`, [...workflow.nodes, ...nodes], {
		...readWays('Every Night at 2 > Topics > Create Video > Wait for Video'),
		'Wait for Video': [...Completed, ...Failed],
		...others,
	});
}

/** The workflow with an output for errors that leads to a node which only works on items. */
function withErrorOutput(workflow: ExportedWorkflow): ExportedWorkflow {
	const changed = withNodes(workflow, 'error output', {
		nodes: [EDIT],
		ways: 'Create Video > Wait for Video; Create Video:1 > Edit',
	});
	const nodes = changed.nodes.map((each) => ({
		...each,
		...(each.name === 'Create Video' && { onError: 'continueErrorOutput' as const }),
	}));
	return { ...changed, nodes };
}

/** The workflow started by a caller who gets what its last node returns. */
function withCaller(workflow: ExportedWorkflow): ExportedWorkflow {
	const changed = withNodes(workflow, 'caller', { nodes: [EDIT], ways: 'Failed > Edit' });
	const parameters = { path: 'videos', responseMode: 'lastNode', responseData: 'allEntries' };
	const caller = base('Every Night at 2', 'webhook', 2.1, parameters);
	const nodes = [{ ...caller, webhookId: 'videos' }, ...changed.nodes.slice(1)];
	return { ...changed, nodes };
}

/** A workflow that makes a video after a node. */
const withVideo = (name: string, first: INode | undefined, references = {}) =>
	workflow(`Hostile: ${name}`, [
		base('Go', 'scheduleTrigger', 1.2),
		...(first ? [first] : []),
		node('Kite', 'n8n-nodes-agent-video.createVideo', 1, {
			parameters: { prompt: 'A kite', references },
		}),
		node('Wait', 'n8n-nodes-agent-video.waitForVideo', 1),
	]);

/** Workflows that try to reach a server which is not the emulator. */
function hostileWorkflows(url: string): readonly ExportedWorkflow[] {
	const called = base('In', 'executeWorkflowTrigger', 1.1, { inputSource: 'passthrough' });
	const call = (path: string) => base('It', 'httpRequest', 4.2, { url: `${url}/${path}` });
	const inline = JSON.stringify(workflow('Inside', [called, call('inline')]));
	const code = (tries: string) =>
		base('It', 'code', 2, {
			jsCode: `try { ${tries} } catch {} return [{ json: { prompt: 'A kite' } }];`,
		});
	const execute = (parameters: object) =>
		base('It', 'executeWorkflow', 1.2, {
			...{ workflowId: '={{ $workflow.id }}', options: {} },
			...parameters,
		});
	const expression = `={{ (() => { try { return [].constructor.constructor("return process")().mainModule.require('http').get('${url}/expression') } catch { return 'no' } })() }}`;
	const nodes: Readonly<Record<string, INode>> = {
		'a spelled name': code(`await this.helpers['http' + 'Request']({ url: '${url}/code' });`),
		'a look-up': code(
			`for (const key of Object.keys(this.helpers)) if (key.startsWith('http') || key.startsWith('req')) await this.helpers[key]({ url: '${url}/look-up', uri: '${url}/look-up' });`,
		),
		fetch: code(`await globalThis['fet' + 'ch']('${url}/fetch');`),
		'a constructor': code(
			`const F = (async () => {}).constructor; await F("u", "return (await import('node:http')).get(u)")('${url}/import');`,
		),
		'binary helpers': code(
			`const data = await this.helpers.prepareBinaryData(Buffer.from('x'), '${url}/file'); await this.helpers.getBinaryStream?.('${url}/stream'); await this.helpers.createReadStream?.('${url}/read');`,
		),
		'an old function': base('It', 'function', 1, {
			functionCode: `try { await this.helpers['http' + 'Request']({ url: '${url}/function' }); } catch {} return items;`,
		}),
		'a workflow in a node': execute({ source: 'parameter', workflowJson: `${inline} ` }),
		'a workflow from a URL': execute({ source: 'url', workflowUrl: `${url}/workflow` }),
		'an expression': base('It', 'set', 3.4, {
			assignments: {
				assignments: [{ id: '1', name: 'x', value: expression, type: 'string' }],
			},
		}),
		'HTML with a picture': base('It', 'html', 1, {
			operation: 'generateHtmlTemplate',
			html: `<img src="${url}/img">`,
		}),
		'a request': call('request'),
	};
	const file = [{ kind: 'image', source: 'url', url: `${url}/ours` }];
	return [
		...Object.entries(nodes).map(([name, it]) => withVideo(name, it)),
		withVideo('a picture of ours', undefined, { file }),
	];
}

let n8n: FencedN8n;
let workflows: readonly ExportedWorkflow[];

beforeAll(async () => {
	const files = [
		...EXAMPLES.map((name) => join('examples', `${name}.json`)),
		...BAD.map((name) => join('test', 'fixtures', 'rehearsal', `${name}.json`)),
	];
	workflows = await Promise.all(
		files.map(async (file) => {
			const read = await readFile(join(ROOT, file), 'utf8');
			const workflow = JSON.parse(read) as ExportedWorkflow;
			// What a click starts would have a rehearsal of its own.
			return { ...workflow, nodes: workflow.nodes.filter(({ name }) => name !== 'Run Now') };
		}),
	);
	n8n = running.keep(await startFencedN8n());
	rehearsals = await rehearse(workflows, { n8n, only: ONLY });
}, SET_UP_LIMIT_MS);

beforeAll(async () => {
	const [badOne] = workflows.slice(EXAMPLES.length);
	const behind = Object.entries(BEHIND).map(([name, each]) => withNodes(badOne!, name, each));
	told = await rehearse([...behind, withCaller(badOne!)], { n8n, only: ['expired-url'] });
	refused = await rehearse([withErrorOutput(badOne!)], { n8n, only: ['refused-prompt'] });
	// As after a kill when n8n had logged the start of an execution, and none of its nodes yet.
	const kill = async () => {
		await n8n.kill();
		await n8n.editEventLog((lines) => lines.filter((line) => !line.includes('n8n.node.')));
	};
	early = await rehearse(workflows.slice(-1), { n8n: { ...n8n, kill }, only: ['kill-wait'] });
}, SET_UP_LIMIT_MS);

beforeAll(async () => {
	other.listen(0, '127.0.0.1');
	await once(other, 'listening');
	otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
	hostile = await rehearse(hostileWorkflows(otherUrl), { n8n, only: [] });
	tried = await n8n.refused();
}, SET_UP_LIMIT_MS);

afterAll(async () => {
	other.close();
	await running.stop();
}, RUN_LIMIT_MS);

/** The lines of a workflow: created, paid, delivered, open, lost, paid twice; then the problems. */
function linesOf(
	name: string,
	{ results } = rehearsals[[...EXAMPLES, ...BAD].indexOf(name)]!,
): Readonly<Record<string, readonly (number | string)[] | 'idle'>> {
	return Object.fromEntries(
		results.map((each) => {
			const { created, paid, delivered, open, lost, paidTwice, error, problems } = each;
			const figures = [created, paid, delivered, open, lost, paidTwice];
			const color = each.isGreen ? 'green' : `red: ${error}`;
			return [each.scenario, each.applies ? [...figures, color, ...problems] : 'idle'];
		}),
	);
}

it('the nightly batch loses nothing and pays for nothing twice', () => {
	expect(linesOf('nightly-video-batch')).toStrictEqual({
		normal: [3, 3, 3, 0, 0, 0, 'green'],
		'expired-url': [3, 3, 2, 1, 0, 0, expect.stringMatching(/^red: Failed Videos: .*403/)],
		'kill-creation': [3, 3, 0, 3, 0, 0, expect.stringMatching(/^red: .*may exist/)],
		'kill-wait': [3, 3, 3, 0, 0, 0, 'green'],
		twice: [3, 3, 3, 0, 0, 0, 'green'],
	});
	const { results, replaced } = rehearsals[0]!;
	expect(replaced.map(({ node }) => node)).toStrictEqual(['Every Night at 2']);
	// What may exist is told, and not sent again.
	expect(results.find(({ scenario }) => scenario === 'kill-creation')!.verdict).toContain(
		'may exist',
	);
	expect(results.find(({ scenario }) => scenario === 'expired-url')!.told).toStrictEqual([
		'Failed Videos',
		"n8n's list of executions",
	]);
});

it('the batch from a table goes on with the orders that a killed execution has begun', () => {
	expect(linesOf('nightly-table-batch')).toStrictEqual({
		normal: [1, 1, 1, 0, 0, 0, 'green'],
		'expired-url': 'idle',
		'kill-creation': [1, 1, 0, 1, 0, 0, 'green'],
		'kill-wait': [1, 1, 1, 0, 0, 0, 'green'],
		twice: [1, 1, 1, 0, 0, 0, 'green'],
	});
});

it('a person who sends a form twice gets two videos', () => {
	expect(linesOf('image-to-video')).toStrictEqual({
		normal: [1, 1, 1, 0, 0, 0, 'green'],
		'expired-url': [1, 1, 0, 1, 0, 0, 'green'],
		'kill-creation': [1, 1, 0, 1, 0, 0, 'green'],
		'kill-wait': [1, 1, 1, 0, 0, 0, 'green'],
		twice: [2, 2, 2, 0, 0, 0, 'green'],
	});
});

it('an output Failed that leads nowhere loses a paid video', () => {
	expect(linesOf('failed-leads-nowhere')).toMatchObject({
		normal: [2, 2, 2, 0, 0, 0, 'green'],
		'expired-url': [
			...[2, 2, 1, 0, 1, 0, 'green'],
			'Failed of Wait for Video is not connected: 1 paid video was lost under green. Connect it to a node that tells somebody.',
		],
		twice: [2, 2, 2, 0, 0, 0, 'green'],
	});
	const [stubbed] = rehearsals[EXAMPLES.length]!.replaced.filter(({ type }) =>
		type.includes('slack'),
	);
	expect(stubbed).toStrictEqual({
		node: 'Post Videos',
		type: 'n8n-nodes-base.slack',
		by: 'a stub that returns {}',
	});
});

it.each(Object.keys(BEHIND))('who is told of a failed video behind which is %s', (name) => {
	const names = Object.keys(BEHIND);
	const [normal, expired] = told[names.indexOf(name)]!.results;
	const hearers = BEHIND[name]!.told ?? [];
	expect(normal).toMatchObject({ delivered: 2, isGreen: true, problems: [] });
	expect(expired).toMatchObject({ created: 2, delivered: 1, isGreen: true, told: hearers });
	expect(expired!.lost).toBe(hearers.length > 0 ? 0 : 1);
	const problem = hearers.length > 0 ? '' : '1 paid video was lost under green.';
	expect(expired!.problems.join()).toContain(problem);
	expect(expired!.problems).toHaveLength(hearers.length > 0 ? 0 : 1);
});

it('a caller who gets what the last node returns is told', () => {
	const [, expired] = told.at(-1)!.results;
	expect(expired).toMatchObject({ lost: 0, isGreen: true, told: ['Edit'], problems: [] });
});

it('nobody is told of a rejected prompt by an error output that leads to Edit Fields', () => {
	expect(refused[0]!.results[1]!.problems).toStrictEqual([
		'Error of Create Video leads to nobody: something failed, and nobody was told. Connect it to a node that tells somebody.',
	]);
});

it('a webhook without an Idempotency Key pays twice for a request that arrives twice', () => {
	expect(linesOf('webhook-without-key')).toMatchObject({
		'kill-wait': [1, 1, 1, 0, 0, 0, 'green'],
		twice: [
			...[2, 2, 2, 0, 0, 1, 'green'],
			'1 paid video was paid a second time. Set an Idempotency Key in Create Video.',
		],
	});
	// The prompt is the pinned one.
	expect(rehearsals[EXAMPLES.length + 1]!.results[0]!.isGreen).toBe(true);
});

it('a retry without the task ledger pays twice, and loses what the killed execution has created', () => {
	const killed = [
		...[4, 4, 2, 0, 2, 2, 'green'],
		'2 paid videos were paid a second time. Switch on Task Ledger in Create Video: a retry finds in it what was created.',
	];
	const normal = [2, 2, 2, 0, 0, 0, 'green'];
	expect(linesOf('no-ledger')).toMatchObject({ normal, 'kill-wait': killed });
	expect(linesOf('no-ledger', early[0])).toStrictEqual({ normal, 'kill-wait': killed });
});

it('a workflow of a stranger reaches nothing but the emulator, and what it tried is listed', () => {
	expect(asked).toStrictEqual([]);
	expect(tried).toStrictEqual([`a connection to ${new URL(otherUrl).host}`]);
	// What it tried was not the end of it.
	const stopped = hostile.filter(({ results: [first] }) => first!.delivered !== 1);
	expect(stopped.map(({ workflow }) => workflow)).toStrictEqual(['Hostile: an expression']);
});
