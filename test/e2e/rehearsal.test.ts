// @seconds 50
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { IConnections, INode } from 'n8n-workflow';

import { startRestartableN8n } from '../../lab/n8n/restartableN8n';
import { ROOT } from '../../lab/paths';
import type { ExportedWorkflow } from '../../lab/rehearsal/copyWorkflow';
import { rehearse, type Rehearsal } from '../../lab/rehearsal/rehearse';
import { Running } from '../../lab/services/Running';
import { RUN_LIMIT_MS, SET_UP_LIMIT_MS } from './support/session';

/** Those in which the workflows below differ; the normal night is always run. */
const ONLY = ['expired-url', 'kill-creation', 'kill-wait', 'twice'];
const EXAMPLES = ['nightly-video-batch', 'nightly-table-batch', 'image-to-video'];
const BAD = ['failed-leads-nowhere', 'webhook-without-key', 'no-ledger'];

const running = new Running();
let rehearsals: readonly Rehearsal[];
let deaf: readonly Rehearsal[];
let early: readonly Rehearsal[];

/** Nodes behind Failed that nobody hears of it from. */
const DEAF: Readonly<Record<string, Pick<INode, 'typeVersion' | 'parameters'>>> = {
	noOp: { typeVersion: 1, parameters: {} },
	filter: {
		typeVersion: 2.2,
		parameters: {
			conditions: {
				conditions: [
					{
						leftValue: '={{ $json.status }}',
						rightValue: 'completed',
						operator: { type: 'string', operation: 'equals' },
					},
					{
						leftValue: '={{ $json.reason }}',
						operator: { type: 'string', operation: 'notExists', singleValue: true },
					},
				],
				combinator: 'and',
				options: { version: 2, typeValidation: 'loose' },
			},
		},
	},
};

/** The workflow with such a node behind Failed; what it lets through goes where the completed videos go. */
function withDeafNode(workflow: ExportedWorkflow, type: string): ExportedWorkflow {
	const name = 'Behind Failed';
	const deafNode: INode = {
		...{ id: type, name, type: `n8n-nodes-base.${type}`, position: [880, 200] },
		...DEAF[type]!,
	};
	const connections = workflow.connections as IConnections;
	const completed = connections['Wait for Video']!['main']![0]!;
	const failed = [{ node: name, type: 'main', index: 0 } as const];
	return {
		...workflow,
		name: `${workflow.name} ${type}`,
		nodes: [...workflow.nodes, deafNode],
		connections: {
			...connections,
			'Wait for Video': { main: [completed, failed] },
			...(type === 'filter' && { [name]: { main: [completed] } }),
		},
	};
}

beforeAll(async () => {
	const files = [
		...EXAMPLES.map((name) => join('examples', `${name}.json`)),
		...BAD.map((name) => join('test', 'fixtures', 'rehearsal', `${name}.json`)),
	];
	const workflows = await Promise.all(
		files.map(
			async (file) =>
				JSON.parse(await readFile(join(ROOT, file), 'utf8')) as ExportedWorkflow,
		),
	);
	const n8n = running.keep(await startRestartableN8n());
	rehearsals = await rehearse(workflows, { n8n, only: ONLY });
	const [badOne] = workflows.slice(EXAMPLES.length);
	const deafOnes = Object.keys(DEAF).map((type) => withDeafNode(badOne!, type));
	deaf = await rehearse(deafOnes, { n8n, only: ['expired-url'] });
	// As after a kill when n8n had logged the start of an execution, and none of its nodes yet.
	const kill = async () => {
		await n8n.kill();
		await n8n.editEventLog((lines) => lines.filter((line) => !line.includes('n8n.node.')));
	};
	early = await rehearse(workflows.slice(-1), { n8n: { ...n8n, kill }, only: ['kill-wait'] });
}, SET_UP_LIMIT_MS);

afterAll(async () => {
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
		'expired-url': [3, 3, 2, 1, 0, 0, 'green'],
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

it.each(Object.keys(DEAF))('nobody is told of a failed video by a node of type %s', (type) => {
	const { results } = deaf[Object.keys(DEAF).indexOf(type)]!;
	const [normal, expired] = results;
	expect(normal).toMatchObject({ delivered: 2, problems: [] });
	expect(expired).toMatchObject({ created: 2, lost: 1, isGreen: true });
	expect(expired!.problems.join()).toContain('1 paid video was lost under green');
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
