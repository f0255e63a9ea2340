import type {
	EngineRequest,
	IDataObject,
	IExecuteData,
	INodeExecutionData,
	ITaskMetadata,
} from 'n8n-workflow';

import type { Context, InstalledN8n, Work } from '../installedN8n';
import { inNode, type Point } from '../point';

const item = (json: INodeExecutionData['json'] = {}): INodeExecutionData => ({
	json,
	pairedItem: { item: 0 },
});

const pass: Work = (context) => [context.getInputData()];

const stackOf = ({ runExecutionData }: Context): IExecuteData[] =>
	runExecutionData.executionData!.nodeExecutionStack;

/** A key of metadata that n8n does not know. */
const MARK = 'agent_video_mark';

/** Puts another run of the node at the end of what is due. */
function pushRun(context: Context, json: INodeExecutionData['json'] = {}): void {
	const { node, source } = context.getExecuteData();
	const metadata = { [MARK]: 'left' } as ITaskMetadata;
	stackOf(context).push({ node, source, metadata, data: { main: [[item(json)]] } });
}

const markOf = (context: Context) =>
	(context.getExecuteData().metadata as Partial<Record<string, string>> | undefined)?.[MARK];

/** Video and Start lead to a node of two inputs. */
const JOINED = {
	nodes: { Join: pass },
	wires: { Start: [['Video', 'Join#1']], Video: [['Join']] },
};

/** A copy, as an engine has that keeps its own elsewhere. */
const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const copied = {
	context: ({ runExecutionData }: Context) => ({ runExecutionData: copy(runExecutionData) }),
};

/** Suspends the execution for an hour. */
async function suspend(context: Context): Promise<void> {
	await context.putExecutionToWait(new Date(Date.now() + 3_600_000));
}

/** Runs of a node that pushes another one in its first run; the node behind it passes its items on. */
async function runTwice(n8n: InstalledN8n) {
	let runs = 0;
	return await n8n.run({
		nodes: {
			Video: (context) => {
				runs += 1;
				if (runs === 1) pushRun(context);
				return [[item({ run: runs })]];
			},
			Next: pass,
		},
	});
}

/** A node that throws although it is to continue on errors. */
async function stop(n8n: InstalledN8n) {
	const { status, error } = await n8n.run({
		nodes: {
			Agent: {
				onError: 'continueRegularOutput',
				work: (context) => {
					const data = context.getExecuteData();
					data.node = { ...data.node, onError: 'stopWorkflow' };
					context.continueOnFail = () => false;
					throw new Error('stop');
				},
			},
			Next: pass,
		},
	});
	return error ?? status;
}

/** The items of a node without any that has Always Output Data. */
async function outputNothing(n8n: InstalledN8n) {
	const ran = await n8n.run({
		nodes: {
			Agent: {
				alwaysOutputData: true,
				work: (context) => {
					const data = context.getExecuteData();
					data.node = { ...data.node, alwaysOutputData: false };
					return [[]];
				},
			},
		},
	});
	return ran.output('Agent')[0]?.length ?? 0;
}

/** A failure as the nodes output it. */
const THIRD = { error: 'third', message: 'why', details: {} };

/** The request to n8n to run the tool. */
function askTool(input: IDataObject): EngineRequest {
	const action = {
		actionType: 'ExecutionNodeAction',
		nodeName: 'Tool',
		type: 'ai_tool',
	} as const;
	return {
		actions: [{ ...action, id: 'call-1', input, metadata: { itemIndex: 0 } }],
		metadata: {},
	};
}

/** What a tool gives back: the fields of the item and those that it was given. */
const RESULT = ['call-1', { got: { city: 'Rome', day: 2, toolCallId: 'call-1' } }];

/** Output and run of the source of each run of a node, and whether it was resumed. */
const SOURCES = [
	[1, 0, false],
	[0, 0, true],
	[0, 0, false],
	[0, 1, true],
];

/** The points of n8n's engine, asserted by tiny workflows. */
export const ENGINE_POINTS: readonly Point[] = [
	{
		n: 1,
		name: 'a run that a node puts at the end of executionData.nodeExecutionStack runs last',
		usedBy: ['stackOf', 'canPlanRuns', 'leave'],
		observe: async (n8n) => (await runTwice(n8n)).order,
		expected: ['Video', 'Next', 'Video', 'Next'],
		without: copied,
		lost: ['Video', 'Next'],
		engine2: { instead: ['Video', 'Next'] },
	},
	{
		n: 2,
		name: 'workflow.connectionsByDestinationNode has the inputs of a node that something leads to',
		usedBy: ['canLeave'],
		observe: async (n8n) =>
			await inNode(
				n8n,
				({ workflow: { connectionsByDestinationNode: into } }) =>
					into['Join']?.['main']?.filter((each) => each?.length).length,
				JOINED,
			),
		expected: 2,
		without: { context: () => ({ workflow: { connectionsByDestinationNode: {} } }) },
		lost: undefined,
		engine2: 'same',
	},
	{
		n: 3,
		name: 'an own key in IExecuteData.metadata reaches its run, also from saved data',
		usedBy: ['leave', 'restOf', 'isRest', 'hasRestsAhead'],
		observe: async (n8n) => {
			const marks: unknown[] = [];
			const ran = await n8n.run({
				nodes: {
					Video: async (context) => {
						marks.push(markOf(context));
						if (marks.length > 1) return [[]];
						pushRun(context);
						await suspend(context);
						return [[item()]];
					},
					Next: pass,
				},
			});
			if (ran.status === 'waiting') await ran.resume();
			return marks;
		},
		expected: [undefined, 'left'],
		without: {
			saved: (data) => {
				for (const entry of data.executionData!.nodeExecutionStack) delete entry.metadata;
				return data;
			},
		},
		lost: [undefined, undefined],
		engine2: { instead: [undefined] },
	},
	{
		n: 4,
		name: 'executeData.node and context.continueOnFail decide what becomes of an error and of no items',
		usedBy: ['ignoreAlwaysOutputData', 'stopOnError'],
		observe: async (n8n) => [await stop(n8n), await outputNothing(n8n)],
		expected: ['stop', 0],
		without: {
			context: (context) => ({
				getExecuteData: () => copy(context.getExecuteData()),
			}),
		},
		lost: ['success', 1],
		engine2: 'same',
	},
	{
		n: 5,
		name: 'resultData.runData has the runs of other nodes, with source and pairedItem',
		usedBy: [
			...['runDataOf', 'runsOf', 'sourceOf', 'runIndexOf'],
			...['itemsAt', 'isPassedOn', 'sourcesOf', 'toRefs', 'ranBehind'],
		],
		observe: async (n8n) => {
			let seen: unknown;
			await n8n.run({
				nodes: {
					Shots: () => [[item({ n: 1 }), { json: { n: 2 }, pairedItem: { item: 0 } }]],
					Video: (context) => {
						const [run] = context.runExecutionData.resultData.runData['Shots'] ?? [];
						const [from] = run?.source ?? [];
						const items = run?.data?.['main']?.[0] ?? [];
						seen = [
							from?.previousNode,
							items.map(({ json, pairedItem }) => [json['n'], pairedItem]),
							context.getExecuteData().source?.['main']?.[0]?.previousNode,
						];
						return [[]];
					},
				},
			});
			return seen;
		},
		expected: [
			'Start',
			[
				[1, { item: 0 }],
				[2, { item: 0 }],
			],
			'Shots',
		],
		without: {
			context: ({ runExecutionData }) => ({
				runExecutionData: { ...runExecutionData, resultData: { runData: {} } },
			}),
		},
		lost: [undefined, [], 'Shots'],
		engine2: 'same',
	},
	{
		n: 9,
		name: "getContext('node') survives Retry On Fail and an execution that is suspended",
		usedBy: ['nodeValues'],
		observe: async (n8n) => {
			const seen: unknown[] = [];
			const ran = await n8n.run({
				nodes: {
					Video: {
						retryOnFail: true,
						waitBetweenTries: 1,
						work: async (context) => {
							const kept = context.getContext('node');
							seen.push(kept['tries'] ?? 0);
							kept['tries'] = seen.length;
							if (seen.length === 1) throw new Error('again');
							if (seen.length > 2) return [[]];
							pushRun(context);
							await suspend(context);
							return [[item()]];
						},
					},
				},
			});
			if (ran.status === 'waiting') await ran.resume();
			return seen;
		},
		expected: [0, 1, 2],
		without: { context: () => ({ getContext: () => ({}) }) },
		lost: [0, 0, 0],
		engine2: { instead: [0] },
	},
	{
		n: 10,
		name: 'an EngineRequest runs a tool node, then the node again with nodeWasResumed and the results',
		usedBy: ['wasResumed'],
		observe: async (n8n) => {
			const seen: unknown[] = [];
			const ran = await n8n.run({
				items: [{ city: 'Rome' }],
				nodes: {
					Agent: (context, response) => {
						const { metadata } = context.getExecuteData();
						seen.push([
							metadata?.nodeWasResumed === true,
							response?.actionResponses.map(({ action, data }) => [
								action.id,
								data.data?.['ai_tool']?.[0]?.[0]?.json,
							]),
						]);
						if (seen.length > 1) return [[]];
						return askTool({ day: 2 });
					},
					Tool: (context) => [[item({ got: context.getInputData()[0]!.json })]],
				},
				hasTool: true,
			});
			return [ran.error ?? ran.status, ...seen];
		},
		expected: ['success', [false, []], [true, [RESULT]]],
		without: {
			context: (context) => ({
				getExecuteData: () => ({ ...context.getExecuteData(), metadata: {} }),
			}),
		},
		lost: ['success', [false, []], [false, [RESULT]]],
		engine2: {
			instead: [
				'Node type "test.stub" returned an engine request, but sub-node execution is not supported',
				[false, undefined],
			],
		},
	},
	{
		n: 29,
		name: 'while a tool runs, the stack has what the model gave it, without the fields of the item; the source of the run is the node that has asked for it',
		usedBy: ['undeclaredArguments'],
		observe: async (n8n) => {
			let seen: unknown;
			let isResumed = false;
			await n8n.run({
				items: [{ city: 'Rome' }],
				nodes: {
					Agent: () => {
						if (isResumed) return [[]];
						isResumed = true;
						return askTool({ day: 2 });
					},
					Tool: (context) => {
						const { nodeExecutionStack } = context.runExecutionData.executionData!;
						const asked = nodeExecutionStack.flatMap(
							({ metadata }) => metadata?.subNodeExecutionData?.actions ?? [],
						);
						seen = [
							asked.map(({ nodeName, runIndex, action }) =>
								nodeName === 'Tool' && runIndex === context.runIndex
									? action.input
									: '',
							),
							context.getInputSourceData().previousNode,
						];
						return [[]];
					},
				},
				hasTool: true,
			});
			return seen;
		},
		expected: [[{ day: 2 }], 'Agent'],
		without: {
			context: () => ({ runExecutionData: { executionData: { nodeExecutionStack: [] } } }),
		},
		lost: [[], 'Agent'],
		engine2: { instead: undefined },
	},
	{
		n: 11,
		name: 'an error of error, message and details leaves through the error output, with the item that it is linked to, unless the link is a number',
		usedBy: [],
		observe: async (n8n) => {
			const ran = await n8n.run({
				items: [{ prompt: 'a boat' }],
				nodes: {
					Video: {
						onError: 'continueErrorOutput',
						work: () => [
							[
								item({ error: 'first' }),
								{ json: { error: 'second' }, pairedItem: 0 },
								item(THIRD),
								item({ task_id: 't1' }),
							],
							[],
						],
					},
				},
			});
			return ran.error ?? [ran.output('Video')[0], ran.output('Video')[2]];
		},
		expected: [
			[{ task_id: 't1' }],
			[
				{ prompt: 'a boat', error: 'first' },
				{ error: 'second' },
				{ prompt: 'a boat', ...THIRD },
			],
		],
		without: { items: (each) => ({ ...each, pairedItem: 0 }) },
		lost: [[{ task_id: 't1' }], [{ error: 'first' }, { error: 'second' }, THIRD]],
		engine2: {
			instead: 'Node "Video" uses onError=continueErrorOutput, which is not supported yet.',
		},
		before: {
			version: '2.35.4',
			expected: [
				[THIRD, { task_id: 't1' }],
				[{ prompt: 'a boat', error: 'first' }, { error: 'second' }],
			],
			lost: [
				[THIRD, { task_id: 't1' }],
				[{ error: 'first' }, { error: 'second' }],
			],
		},
	},
	{
		n: 12,
		name: 'with Retry On Fail a run is repeated whose first item has `error`',
		usedBy: ['isFirstTry', 'isTriedAgain'],
		observe: async (n8n) => {
			const retried = { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 };
			const outputs = [[item({ error: 'x' })], [item({ error_message: 'x' })]];
			const tries = outputs.map(async (items) => {
				const nodes = { Agent: { ...retried, work: () => [items] } };
				return (await n8n.run({ nodes })).order.length;
			});
			return await Promise.all(tries);
		},
		expected: [2, 1],
		without: { items: ({ json: { error, ...json }, ...each }) => ({ ...each, json }) },
		lost: [1, 1],
		engine2: { instead: [1, 1] },
	},
	{
		n: 14,
		name: 'static data is that of the workflow, and n8n sees that it has changed',
		usedBy: [],
		observe: async (n8n) => {
			const { staticData } = await n8n.run({
				nodes: {
					Video: (context) => {
						context.getWorkflowStaticData('global')['table'] = 'T1';
						return [[]];
					},
				},
			});
			return [staticData?.['global'], staticData?.['__dataChanged']];
		},
		expected: [{ table: 'T1' }, true],
		without: { context: () => ({ getWorkflowStaticData: () => ({}) }) },
		lost: [undefined, false],
		engine2: { instead: [undefined, undefined] },
	},
	{
		n: 15,
		name: 'additionalData.executionTimeoutTimestamp says when the time limit of the execution is over',
		usedBy: ['isPastTimeLimit'],
		observe: async (n8n) => {
			const at = Date.now() + 3_600_000;
			const seen = await inNode(
				n8n,
				({ additionalData }) => additionalData.executionTimeoutTimestamp,
				{ additional: { executionTimeoutTimestamp: at } },
			);
			const over = { additional: { executionTimeoutTimestamp: Date.now() - 1 } };
			const { status, order } = await n8n.run({ ...over, nodes: { Video: pass } });
			return [seen === at, status, order];
		},
		expected: [true, 'canceled', []],
		without: { additional: { executionTimeoutTimestamp: undefined } },
		lost: [false, 'success', ['Video']],
		engine2: { instead: [false, 'success', ['Video']] },
	},
	{
		n: 25,
		name: 'an execution that waited disables the node of its first run, which is saved as its toJSON says, and goes on with the next one',
		usedBy: ['suspendUntil', 'canPlanRuns'],
		observe: async (n8n) => {
			let saved: object | undefined;
			const ran = await n8n.run({
				items: [{ task_id: 't1' }],
				nodes: {
					Video: async (context) => {
						if (saved) return pass(context);
						const entry = context.getExecuteData();
						stackOf(context).unshift({ ...entry, node: context.getNode() });
						saved = { node: context.workflow.nodes['Start'], data: { main: [] } };
						Object.assign(entry, { toJSON: () => saved });
						await suspend(context);
						return [[item()]];
					},
					Next: pass,
				},
			});
			if (ran.status !== 'waiting') return [ran.status, ran.order, ran.error];
			const resumed = await ran.resume();
			const runs = resumed.data.resultData.runData['Video'];
			return [resumed.status, resumed.order, resumed.output('Next')[0], runs?.length];
		},
		expected: ['success', ['Video', 'Video', 'Next'], [{ task_id: 't1' }], 1],
		without: {
			// Without the time until which it waits, no run would be removed.
			saved: (data) => ({ ...data, waitTill: undefined }) as never,
		},
		lost: ['success', ['Video', 'Video', 'Next'], [{ task_id: 't1' }], 2],
	},
	{
		n: 33,
		name: 'n8n links items by position where a node returns as many as it got, without links',
		usedBy: ['FOREIGN', 'restOf'],
		observe: async (n8n) => {
			const { data } = await n8n.run({
				items: [{ n: 1 }, { n: 2 }],
				nodes: { Code: () => [[{ json: { n: 2 } }, { json: { n: 1 } }]] },
			});
			const [run] = data.resultData.runData['Code'] ?? [];
			return run?.data?.['main']?.[0]?.map(({ pairedItem }) => pairedItem);
		},
		expected: [{ item: 0 }, { item: 1 }],
		without: { items: (each) => ({ ...each, pairedItem: { item: 9 } }) },
		lost: [{ item: 9 }, { item: 9 }],
		engine2: { instead: [undefined, undefined] },
	},
	{
		n: 34,
		name: 'the context has the workflow as it is drawn: nodes, connections, order and types',
		usedBy: ['workflowOf', 'isConnected'],
		observe: async (n8n) =>
			await inNode(
				n8n,
				({ workflow, runIndex }) => {
					const { nodes, connectionsBySourceNode: from, nodeTypes, settings } = workflow;
					return [
						Object.keys(nodes).sort(),
						from['Video']?.['main']?.[0]?.map(({ node }) => node),
						nodeTypes.getByNameAndVersion('test.stub', 1).description.group,
						settings.executionOrder,
						runIndex,
					];
				},
				{ nodes: { Next: pass } },
			),
		expected: [['Next', 'Start', 'Video'], ['Next'], ['transform'], 'v1', 0],
		without: {
			context: ({ workflow: { nodeTypes } }) => ({
				workflow: { nodes: {}, connectionsBySourceNode: {}, settings: {}, nodeTypes },
			}),
		},
		lost: [[], undefined, ['transform'], undefined, 0],
		engine2: { instead: [['Next', 'Start', 'Video'], ['Next'], ['transform'], undefined, 0] },
	},
	{
		n: 35,
		name: 'executionData.waitingExecution has the inputs of a node that waits for another one, with their sources',
		usedBy: ['startWaitingNode'],
		observe: async (n8n) =>
			await inNode(
				n8n,
				({ runExecutionData: { executionData } }) => {
					const { waitingExecution, waitingExecutionSource } = executionData!;
					const [inputs] = Object.values(waitingExecution['Join'] ?? {});
					const [sources] = Object.values(waitingExecutionSource?.['Join'] ?? {});
					return [
						inputs?.['main']?.map((items) => items?.length ?? 0),
						sources?.['main']?.map((each) => each?.previousNode ?? null),
					];
				},
				JOINED,
			),
		expected: [
			[0, 1],
			[null, 'Start'],
		],
		without: {
			context: () => ({ runExecutionData: { executionData: { waitingExecution: {} } } }),
		},
		lost: [undefined, undefined],
		engine2: { instead: [undefined, undefined] },
	},
	{
		n: 38,
		name: 'a node runs with the last output first; the source of a run that is resumed after its tools is wrong, and what is written there is kept',
		usedBy: ['restoreSources'],
		observe: async (n8n) => {
			const seen: unknown[] = [];
			const { data } = await n8n.run({
				nodes: {
					Branches: () => [[item()], [item()]],
					Agent: (context) => {
						const { source, metadata } = context.getExecuteData();
						const from = source!['main']![0]!;
						const isResumed = metadata?.nodeWasResumed === true;
						seen.push([from.previousNodeOutput, from.previousNodeRun, isResumed]);
						if (isResumed) {
							from.previousNodeOutput = 7;
							return [[item()]];
						}
						return askTool({});
					},
					Tool: pass,
				},
				wires: { Branches: [['Agent'], ['Agent']] },
				hasTool: true,
			});
			const ran = data.resultData.runData['Agent'] ?? [];
			const kept = ran.map(({ source }) => source[0]?.previousNodeOutput);
			return [seen, kept, ran.map(({ metadata }) => metadata?.nodeWasResumed)];
		},
		expected: [SOURCES, [7, 7], [true, true]],
		without: {
			context: (context) => ({ getExecuteData: () => copy(context.getExecuteData()) }),
		},
		lost: [SOURCES, [0, 0], [true, true]],
	},
	{
		n: 39,
		name: 'a run has its hints in hints, and its tokens in its metadata; the run that goes on after its tools has neither',
		usedBy: ['notesOf', 'hintsOf'],
		observe: async (n8n) => {
			const seen: unknown[] = [];
			await n8n.run({
				nodes: {
					Agent: (context) => {
						const isFirst = seen.length === 0;
						if (isFirst) {
							context.setMetadata({
								tokenUsage: { inputTokens: 1, outputTokens: 2 },
							});
							context.addExecutionHints({ message: 'Said', location: 'outputPane' });
						}
						const { hints } = context as { readonly hints?: readonly unknown[] };
						const { metadata } = context.getExecuteData();
						seen.push([metadata?.tokenUsage?.inputTokens, hints?.length]);
						return isFirst ? askTool({}) : [[]];
					},
					Tool: pass,
				},
				hasTool: true,
			});
			return seen;
		},
		expected: [
			[1, 1],
			[undefined, 0],
		],
		without: {
			context: () => ({
				hints: undefined,
				addExecutionHints: () => undefined,
				setMetadata: () => undefined,
			}),
		},
		lost: Array.from({ length: 2 }, () => [undefined, undefined]),
	},
	{
		n: 40,
		name: 'the links of a tool begin at preservedSourceOverwrite in the metadata of the run that has asked for it, at the first item',
		usedBy: ['linkTools'],
		observe: async (n8n) => {
			const seen: unknown[] = [];
			await n8n.run({
				nodes: {
					Rows: () => [[item({ row: 1 }), item({ row: 2 })], [item({ row: 3 })]],
					Agent: (context) => {
						const data = context.getExecuteData();
						if (data.metadata?.nodeWasResumed === true) return [[]];
						const preservedSourceOverwrite = data.source!['main']![0]!;
						data.metadata = { preservedSourceOverwrite };
						return askTool({});
					},
					Tool: (context) => {
						seen.push(context.evaluateExpression("{{ $('Rows').item.json.row }}", 0));
						return [[]];
					},
				},
				wires: { Rows: [['Agent'], ['Agent']] },
				hasTool: true,
			});
			return seen;
		},
		expected: [3, 1],
		without: {
			context: (context) => ({ getExecuteData: () => copy(context.getExecuteData()) }),
		},
		lost: [3],
	},
];
