/** Which call an item that has reached Agent with Tools belongs to, with n8n's own item linking. */
import {
	createRunExecutionData,
	Workflow,
	WorkflowDataProxy,
	type INodeExecutionData,
	type INodeTypes,
	type IPairedItemData,
	type IRunData,
	type ISourceData,
} from 'n8n-workflow';

import type { Arrival } from '../../nodes/FunctionCallingAgent/arrival';
import { matchItems } from '../../nodes/FunctionCallingAgent/matching';
import type { Call } from '../../nodes/FunctionCallingAgent/state';

const AGENT = 'Agent';
const TYPES: Readonly<Record<string, string>> = {
	Agent: 'n8n-nodes-agent-video.functionCallingAgent',
	Loop: 'n8n-nodes-base.splitInBatches',
	Code: 'n8n-nodes-base.code',
	Start: 'n8n-nodes-base.manualTrigger',
};
const nodes = ['Start', 'Questions', AGENT, 'Loop', 'Code', 'Set', 'Both'].map((name) => ({
	...{ id: name, name, type: TYPES[name] ?? 'n8n-nodes-base.set', typeVersion: 1 },
	...{ position: [0, 0] as [number, number], parameters: {} },
}));
const type = { description: { group: [], properties: [] } };
const nodeTypes = { getByNameAndVersion: () => type } as unknown as INodeTypes;

const envelope = (id: string) => ({ id, tool: 'weather', round: 1, conversation: 0 });
type Link = INodeExecutionData['pairedItem'];
/** An item that still has the `tool_call` of a call. */
const carries = (id: string, link?: Link): INodeExecutionData => ({
	json: { tool_call: envelope(id) },
	...(link === undefined ? {} : { pairedItem: link }),
});
/** An item without it. */
const item = (link?: Link): INodeExecutionData =>
	link === undefined ? { json: { degrees: 4 } } : { json: { degrees: 4 }, pairedItem: link };
const TO_QUESTION: IPairedItemData = { item: 0, sourceOverwrite: { previousNode: 'Questions' } };

/** The output of a run, as `node run/output`. */
function from(text: string): ISourceData {
	const [, previousNode = '', run, output] = /^(\w+) (\d+)\/(\d+)$/.exec(text)!;
	return { previousNode, previousNodeRun: Number(run), previousNodeOutput: Number(output) };
}

/** A run of a node: what it got, and the items of each output. */
type Run = readonly [node: string, sources: readonly string[], outputs: INodeExecutionData[][]];

const ASKED: readonly Run[] = [
	['Start', [], [[item()]]],
	['Questions', ['Start 0/0'], [[item(0)]]],
];
/** A run of the agent that sends calls to the first of two tools, or to each its own. */
const sends = (ids: string, source = 'Questions 0/0'): Run => [
	AGENT,
	[source],
	[[], [], ...ids.split(' / ').map((each) => each.split(' ').map((id) => carries(id, 0)))],
];
const answers: Run = [AGENT, ['Set 0/0'], [[item(TO_QUESTION)]]];

/** What the items of the last run are for the agent, of whose calls those with these IDs are open. */
function matched(runs: readonly Run[], open: string) {
	const runData: IRunData = {};
	for (const [node, sources, main] of runs)
		(runData[node] ??= []).push({
			...{ startTime: 0, executionTime: 0, executionIndex: 0, source: sources.map(from) },
			data: { main },
		});
	const last = runs.at(-1)![0];
	const source = from(`${last} ${runData[last]!.length - 1}/0`);
	const workflow = new Workflow({ id: 't', nodes, connections: {}, active: false, nodeTypes });
	const execution = createRunExecutionData({ resultData: { runData } });
	const proxy = new WorkflowDataProxy(workflow, execution, 0, 0, AGENT, [], {}, 'manual', {});
	const places = (runData[AGENT] ?? []).flatMap(({ data }, run) =>
		(data?.['main'] ?? []).flatMap((items, output) =>
			(items ?? []).map(({ json }, index) => ({
				place: `${run}/${output}/${index}`,
				id: (json['tool_call'] as { id?: string } | undefined)?.id,
			})),
		),
	);
	const arrival: Arrival = {
		...{ runs: runData, source, name: AGENT, nodes: workflow.nodes },
		isOwn: (output) => output >= 2,
		items: runData[last]!.at(-1)!.data!['main']![source.previousNodeOutput!]!,
		linkedItem: (node, index) => {
			try {
				const { $getPairedItem } = proxy.getDataProxy();
				return $getPairedItem(node, source, { item: index }) ?? undefined;
			} catch {
				return undefined;
			}
		},
	};
	const calls = open.split(' ').flatMap((id) => {
		const place = places.findLast((each) => each.id === id)?.place;
		return place === undefined ? [] : ({ record: { id, place } } as Call);
	});
	return matchItems(arrival, calls).map(({ kind, calls: meant }) =>
		[kind, ...meant.map(({ record }) => record.id)].join(' '),
	);
}

const ran = (node: string, source: string, ...items: INodeExecutionData[]): Run => [
	node,
	[source],
	[items],
];
const branch = (...items: INodeExecutionData[]) => ran('Set', 'Agent 0/2', ...items);
const code = (...items: INodeExecutionData[]) => ran('Code', 'Agent 0/2', ...items);
const MERGED: IPairedItemData[] = [{ item: 0 }, { item: 1 }];
/** Loop Over Items has had a call, which was answered. */
const LOOPED = [sends('a'), ran('Loop', 'Agent 0/2', item(0)), answers];
const again = item({ item: 0, sourceOverwrite: from('Loop 0/0') });
const asksAgain = (...items: INodeExecutionData[]) => ran('Loop', 'Questions 0/0', ...items);

test.each<[name: string, runs: readonly Run[], open: string, expected: string[]]>([
	['an item of a trigger is a question', [], '', ['question']],
	[
		'the one call: whatever comes back is its result',
		[sends('a'), branch(item(), item(7), item(TO_QUESTION), carries('x'))],
		'a',
		['result a', 'result a', 'result a', 'result a'],
	],
	['its result is there: late', [sends('a'), branch(item(0))], '', ['late']],
	['by item linking', [sends('a b'), branch(item(1), item(0))], 'a b', ['result b', 'result a']],
	[
		'by both, of which one may be missing',
		[sends('a b'), branch(carries('b', 1), item(0))],
		'a b',
		['result b', 'result a'],
	],
	['they differ: lost', [sends('a b'), branch(carries('b', 0))], 'a b', ['lost b a']],
	['neither: lost', [sends('a b'), branch(item())], 'a b', ['lost a b']],
	[
		'linked to both, as Aggregate does: lost, but with tool_call',
		[sends('a b'), branch(item(MERGED), carries('b', MERGED))],
		'a b',
		['lost a b', 'result b'],
	],
	[
		'without a link where one of the calls of the run has its result: lost',
		[sends('a b'), branch(item())],
		'b',
		['lost b'],
	],
	[
		'without a link, of a run that has sent the other call to another tool',
		[sends('a / b'), branch(item())],
		'a b',
		['result a'],
	],
	[
		'a link past the agent counts as none',
		[sends('a b'), branch(item(TO_QUESTION))],
		'a b',
		['lost a b'],
	],
	[
		'tool_call of a call that is not on the ways counts as none',
		[
			...[sends('a'), branch(item(0)), sends('b', 'Set 0/0')],
			ran('Both', 'Agent 1/2', carries('a', 0)),
		],
		'b',
		['result b'],
	],
	[
		'behind a Code node that got several items links count as none',
		[sends('a b'), code(item(0), item(1), carries('b', 0))],
		'a b',
		['lost a b', 'lost a b', 'result b'],
	],
	[
		'behind one that got one item they count',
		[
			...[sends('a / b'), code(item(0)), ran('Set', 'Agent 0/3', item(0))],
			['Both', ['Code 0/0', 'Set 0/0'], [[item({ item: 0 }), item({ item: 0, input: 1 })]]],
		],
		'a b',
		['result a', 'result b'],
	],
	[
		'rows from outside that a Merge has put beside a result are no question',
		[
			...[sends('a'), branch(item(0))],
			['Both', ['Set 0/0', 'Questions 0/0'], [[item(0), item({ item: 0, input: 1 })]]],
		],
		'a',
		['lost a', 'lost a'],
	],
	[
		'a result that Loop Over Items hands out again is late, and a question behind it is one',
		[...LOOPED, asksAgain(again, item(0))],
		'',
		['late', 'question'],
	],
	[
		'there more questions than have come in are lost: links written by hand lead past the agent',
		[...LOOPED, asksAgain(item(TO_QUESTION), item(0))],
		'',
		['lost', 'lost'],
	],
	[
		'there an item without a link is lost: it may be either',
		[...LOOPED, asksAgain(item())],
		'',
		['lost'],
	],
	[
		'an earlier call of Loop Over Items in a branch is late',
		[
			...[...LOOPED.slice(0, 2), sends('b', 'Loop 0/0')],
			ran('Loop', 'Agent 1/2', again, item(0), item()),
		],
		'b',
		['late', 'result b', 'result b'],
	],
])('%s', (_name, runs, open, expected) => {
	expect(matched([...ASKED, ...runs], open)).toStrictEqual(expected);
});
